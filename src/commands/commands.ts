import type { CommandCall } from '../core/message.ts';
import {
  buttonLineMaxChars,
  type Choice,
  type CommandContext,
  type CommandReply,
  type CommandRequest,
  type MenuForms,
  type CompletionRequest,
  type MenuRequest,
} from '../core/commands.ts';
import { referenceTo, withReference } from '../core/errors.ts';
import type { Logger } from '../core/logger.ts';
import type { OneTimeNotices } from '../memory/settings/one-time-notices.ts';
import { type Command, parseCommand } from './command.ts';
import { withoutMentionMarks } from '../core/own-words.ts';
import { brieflyQuoted, failureText } from './answer-lines.ts';
import { rememberMessage } from './memory-items.ts';
import { type MemoryCall, type MemoryCommandPorts, memoryCall } from './memory-ports.ts';
import { searchMemory } from './memory-show.ts';
import { whyMessage } from './memory-why.ts';

/** Answers of the entries in the menu of every message, by their names as people see them, at most 32 characters. */
export type MenuEntries = Readonly<Record<string, (request: MenuRequest) => Promise<CommandReply>>>;

export type CommandSet = ReturnType<typeof createCommandSet>;

/** What shows, adds, or asks by itself; all else may change or remove something for good [G2a]. */
const atOnce: ReadonlySet<string> = new Set(
  'panel show search remember why history conversations notebook proposals privacy pin import export erase purge'.split(
    ' ',
  ),
);

/** Discord may still show what was switched off, for a while. */
const unknown: CommandReply = { text: 'I no longer have this command.' };

/** All commands and menu entries that are on. Somebody new gets the first words too [K12]. */
export function createCommandSet(
  commands: readonly Command[],
  menuEntries: MenuEntries,
  logger: Logger,
  oneTimeNotices?: Pick<OneTimeNotices, 'begin'>,
  menuForms: MenuForms = {},
) {
  const definitions = commands.map(({ definition }) => definition);

  function commandNamed(name: string): Command | undefined {
    return commands.find(({ definition }) => definition.name === name);
  }

  async function greeted(
    request: CommandContext,
    answer: () => Promise<CommandReply>,
  ): Promise<CommandReply> {
    const reply = await answer();
    if (reply.isFarewell === true) return reply;
    // By then it is known what could not be read for it.
    const notice = await oneTimeNotices?.begin(request.work);
    if (notice === undefined) return reply;
    return {
      ...reply,
      text: [reply.text, ...notice.lines.map((line) => `-# ${line}`)].join('\n'),
      async onReplied(wasSent) {
        if (wasSent) await notice.sent();
        notice.release();
      },
    };
  }

  /** An answer in any case: what fails is logged, and its reference is told. */
  async function answered(
    answer: () => Promise<CommandReply>,
    request: CommandContext,
    what: string,
    details: Readonly<Record<string, string>> = {},
  ): Promise<CommandReply> {
    try {
      return await answer();
    } catch (error) {
      const reference = referenceTo(request.id);
      logger.error(`a ${what} failed`, { reference, ...details, ...idsOf(request), error });
      return { text: withReference(failureText(error), reference) };
    }
  }

  return {
    definitions,
    menuForms,
    menuNames: [...Object.keys(menuEntries), ...Object.keys(menuForms)],
    /** The command that a text is; `undefined` where it is none of these [K1]. */
    parse: (text: string, botId?: string) => parseCommand(text, definitions, botId),
    async command(request: CommandRequest): Promise<CommandReply> {
      const { name, subcommand } = request.command;
      const command = commandNamed(name);
      if (command === undefined) return unknown;
      const isAsked =
        !atOnce.has(subcommand) && Object.hasOwn(command.definition.subcommands ?? {}, subcommand);
      return greeted(request, async () =>
        request.isProxied === true && isAsked
          ? askFirst(request.command)
          : answered(() => command.answer(request), request, `${name} command`, { subcommand }),
      );
    },
    async menu(request: MenuRequest): Promise<CommandReply> {
      const entry = menuEntries[request.name];
      if (entry === undefined) return unknown;
      return greeted(request, () => answered(() => entry(request), request, 'menu entry'));
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

/** Through a copy nothing is changed or removed without a button, which only the account can press [G2a]. */
function askFirst({ name, subcommand, options, extra }: CommandCall): CommandReply {
  const line = [name, subcommand, ...Object.values(options), extra].join(' ').trim();
  if (line.length > buttonLineMaxChars)
    return {
      text: `That is too long for a button, and a proxy posted it. Please use \`/${name} ${subcommand}\`.`,
    };
  return {
    text: `Did you ask for this? ${brieflyQuoted(`!${line}`)}`,
    buttons: [{ label: 'Yes, do it', line }],
  };
}

function idsOf({ speaker, place }: Pick<CommandContext, 'speaker' | 'place'>) {
  return { userId: speaker.id, guildId: place.guildId };
}

/** The entries in the menu of every message, as Discord is to know them. */
export const menuNames = ['Remember this', 'What do you know about this?', 'Why this answer?'] as const;

/** What the menu of every message offers. */
export function createMenuEntries(ports: MemoryCommandPorts): MenuEntries {
  const entry = (answer: (call: MenuRequest & MemoryCall) => Promise<CommandReply>) => {
    return async (request: MenuRequest) => answer(await memoryCall(request, ports));
  };
  const [remember, know, why] = menuNames;
  return {
    [remember]: entry(rememberMessage),
    [know]: entry(searchMessage),
    [why]: entry(whyMessage),
  };
}

/** What the asker's own memory has on the words of anybody's message, without the message itself. */
async function searchMessage(call: MenuRequest & MemoryCall): Promise<CommandReply> {
  const query = withoutMentionMarks(call.message.text).trim();
  if (query === '') return { text: 'There is no text in this message that I could search for.' };
  return searchMemory(call, query, [call.message.id]);
}
