import type {
  Choice,
  CompletionRequest,
  MenuEntry,
  MenuRequest,
  SlashCommand,
} from '../core/application-command.ts';
import type { CommandRequest, WrittenCommand } from '../core/chat.ts';
import { parseWrittenCommand } from './parse-written-command.ts';

/** One command in both its forms, `!name …` and `/name …`, with one implementation behind them. */
export interface Command {
  readonly slash: SlashCommand;
  /** Resolves with the answer, of any length, as lines. Never rejects: what fails is logged and answered in words. */
  readonly handle: (request: CommandRequest) => Promise<string>;
  /** What may be typed next, where it can be told. Never rejects. */
  readonly complete?: (request: CompletionRequest) => Promise<readonly Choice[]>;
}

/** An entry in the menu of messages; its answer is made as a command's is. */
export interface MessageMenu {
  readonly entry: MenuEntry;
  readonly handle: (request: MenuRequest) => Promise<string>;
}

/** The commands that are switched on. */
export interface CommandSet {
  readonly slashCommands: readonly SlashCommand[];
  readonly menuEntries: readonly MenuEntry[];
  /** The command that a text is; `undefined` where it is none of these. */
  readonly parse: (text: string, botId?: string) => WrittenCommand | undefined;
  readonly handle: (request: CommandRequest) => Promise<string>;
  readonly complete: (request: CompletionRequest) => Promise<readonly Choice[]>;
  readonly handleMenu: (request: MenuRequest) => Promise<string>;
}

const switchedOff = 'This command is switched off on this bot.';

export function createCommandSet(
  commands: readonly Command[],
  menus: readonly MessageMenu[] = [],
): CommandSet {
  const byName = new Map(commands.map((command) => [command.slash.name, command]));
  const names = [...byName.keys()];
  return {
    slashCommands: commands.map(({ slash }) => slash),
    menuEntries: menus.map(({ entry }) => entry),
    parse: (text, botId) => parseWrittenCommand(text, names, botId),
    handle: async (request) => byName.get(request.name)?.handle(request) ?? switchedOff,
    complete: async (request) => (await byName.get(request.name)?.complete?.(request)) ?? [],
    async handleMenu(request) {
      const menu = menus.find(({ entry }) => entry.name === request.name);
      return menu?.handle(request) ?? switchedOff;
    },
  };
}
