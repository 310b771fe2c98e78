import type {
  Choice,
  CommandContext,
  CommandReply,
  CommandRequest,
  CompletionRequest,
  MenuRequest,
} from '../core/commands.ts';
import { referenceTo, withReference } from '../core/errors.ts';
import type { Logger } from '../core/logger.ts';
import { workOf } from '../core/writes.ts';
import type { Greeting } from '../memory/settings/greeting.ts';
import type { SetAsideLines } from '../memory/settings/set-aside.ts';
import { parseCommand, type RequestHandler, type Command } from './command.ts';

/** An entry in the menu of every message. */
export interface MenuEntry extends RequestHandler<MenuRequest> {
  /** As people see it, at most 32 characters. */
  readonly name: string;
}

export type CommandSet = ReturnType<typeof createCommandSet>;

/** Discord may still show what was switched off, for a while. */
const unknown: CommandReply = { text: 'I no longer have this command.' };

/** All commands and menu entries that are on. Somebody new gets the first words too [K12]. */
export function createCommandSet(
  commands: readonly Command[],
  menuEntries: readonly MenuEntry[],
  logger: Logger,
  greeting?: Pick<Greeting, 'begin'>,
  setAside?: Pick<SetAsideLines, 'under'>,
) {
  const definitions = commands.map(({ definition }) => definition);

  function commandNamed(name: string): Command | undefined {
    return commands.find(({ definition }) => definition.name === name);
  }

  async function greeted(
    request: CommandContext,
    answer: () => Promise<CommandReply>,
  ): Promise<CommandReply> {
    const { speaker, place } = request;
    // Before anything is done, so that what it stores does not count as earlier data.
    const firstWords = await greeting?.begin({
      ...workOf(request),
      channelId: place.channelId,
      messageIds: [],
    });
    const reply = await answer();
    // By then it is known what could not be read for it.
    const lines = setAside === undefined ? firstWords : await setAside.under(speaker.id, firstWords);
    if (lines === undefined) return reply;
    return {
      ...reply,
      text: `${reply.text}\n${lines.line}`,
      async onReplied(wasSent) {
        if (wasSent) await lines.sent();
        lines.release();
      },
    };
  }

  /** An answer in any case: what fails is logged, and its reference is told. */
  async function answered<Request extends CommandContext>(
    handler: RequestHandler<Request>,
    request: Request,
    what: string,
    details: Readonly<Record<string, string>> = {},
  ): Promise<CommandReply> {
    try {
      return await handler.answer(request);
    } catch (error) {
      const reference = referenceTo(request.id);
      logger.error(`a ${what} failed`, { reference, ...details, ...idsOf(request), error });
      return { text: withReference(handler.explain(error), reference) };
    }
  }

  return {
    definitions,
    menuNames: menuEntries.map(({ name }) => name),
    /** The command that a text is; `undefined` where it is none of these [K1]. */
    parse: (text: string, botId?: string) => parseCommand(text, definitions, botId),
    async command(request: CommandRequest): Promise<CommandReply> {
      const { name, subcommand } = request.command;
      const command = commandNamed(name);
      if (command === undefined) return unknown;
      return greeted(request, () => answered(command, request, `${name} command`, { subcommand }));
    },
    async menu(request: MenuRequest): Promise<CommandReply> {
      const entry = menuEntries.find(({ name }) => name === request.name);
      if (entry === undefined) return unknown;
      return greeted(request, () => answered(entry, request, 'menu entry'));
    },
    async complete(request: CompletionRequest): Promise<readonly Choice[]> {
      try {
        return (await commandNamed(request.name)?.complete(request)) ?? [];
      } catch (error) {
        logger.warn('completing a command failed', { ...idsOf(request), error });
        return [];
      }
    },
  };
}

function idsOf({ speaker, place }: Pick<CommandContext, 'speaker' | 'place'>) {
  return { userId: speaker.id, guildId: place.guildId };
}
