import type { SlashCommand } from '../core/application-command.ts';
import type { CommandRequest, WrittenCommand } from '../core/chat.ts';
import { parseWrittenCommand } from './parse-written-command.ts';

/** One command in both its forms, `!name …` and `/name …`, with one implementation behind them. */
export interface Command {
  readonly slash: SlashCommand;
  /** Resolves with the answer, of any length, as lines. Never rejects: what fails is logged and answered in words. */
  readonly handle: (request: CommandRequest) => Promise<string>;
}

/** The commands that are switched on. */
export interface CommandSet {
  readonly slashCommands: readonly SlashCommand[];
  /** The command that a text is; `undefined` where it is none of these. */
  readonly parse: (text: string, botId?: string) => WrittenCommand | undefined;
  readonly handle: (request: CommandRequest) => Promise<string>;
}

export function createCommandSet(commands: readonly Command[]): CommandSet {
  const byName = new Map(commands.map((command) => [command.slash.name, command]));
  const names = [...byName.keys()];
  return {
    slashCommands: commands.map(({ slash }) => slash),
    parse: (text, botId) => parseWrittenCommand(text, names, botId),
    async handle(request) {
      const command = byName.get(request.name);
      return command === undefined ? 'This command is switched off on this bot.' : command.handle(request);
    },
  };
}
