import type { AttachmentPort, OpenedFile, ReadReplied, RepliedMessage } from '../core/chat.ts';
import type { Section } from '../core/section.ts';
import type { TurnContext } from '../core/turn-context.ts';
import { forwardedSection, repliedSection } from '../prompt/quoted-messages.ts';

/** Replies of one turn whose messages are quoted; it has more only where somebody wrote on while a turn ran. */
const maxQuotes = 3;

/** What the messages of a turn bring along, read for this turn only. */
export interface Enclosures {
  /** Quoted messages, for the turn's last message. */
  readonly sections: readonly Section[];
  readonly files: readonly OpenedFile[];
  /** Whether there is anything in it that the speaker did not write in this turn [M5a]. */
  readonly hasThirdPartyText: boolean;
}

export type ReadEnclosures = (context: TurnContext, signal: AbortSignal) => Promise<Enclosures>;

export const noEnclosures: Enclosures = { sections: [], files: [], hasThirdPartyText: false };

export interface EnclosurePorts {
  readonly attachments: AttachmentPort;
  readonly readReplied: ReadReplied;
}

/** Reads what a turn brings along. The message's own files come first, so that they are opened where not all can be. */
export function createReadEnclosures({ attachments, readReplied }: EnclosurePorts): ReadEnclosures {
  return async (context, signal) => {
    const replied = await readQuoted(context, readReplied);
    const messages = replied.filter((each) => each !== 'gone');
    const forwards = [...context.messages, ...messages].flatMap((message) => message.forwards ?? []);
    const files = await attachments.open(
      [...context.messages, ...forwards, ...messages].flatMap((each) => each.files ?? []),
      signal,
    );
    return {
      sections: [...replied.map(repliedSection), ...forwards.map(forwardedSection)],
      files,
      hasThirdPartyText:
        forwards.length > 0 ||
        files.some(({ kind }) => kind !== 'unopened') ||
        (await Promise.all(messages.map((each) => isOfOthers(each, context, readReplied)))).includes(true),
    };
  };
}

/** The messages replied to, each once, without those of the turn itself and what no model hears of. */
async function readQuoted(
  { messages }: TurnContext,
  readReplied: ReadReplied,
): Promise<readonly (RepliedMessage | 'gone')[]> {
  const own = new Set(messages.map(({ id }) => id));
  const references = new Map(
    messages.flatMap(({ repliesTo }) =>
      repliesTo === undefined || own.has(repliesTo.id) ? [] : [[repliesTo.id, repliesTo]],
    ),
  );
  const found = await Promise.all([...references.values()].slice(-maxQuotes).map(readReplied));
  return found.filter((each) => each !== 'hidden');
}

/** Whether a quoted message holds others' words; an answer of the bot's may repeat what it answers [M5a]. */
async function isOfOthers(
  { author, hasThirdPartyText, answers, channelId }: RepliedMessage,
  { speaker, place }: TurnContext,
  readReplied: ReadReplied,
): Promise<boolean> {
  if (author.kind !== 'self') return author.id !== speaker.id;
  if (hasThirdPartyText === true || answers === undefined || place.audience === 'dm')
    return hasThirdPartyText === true;
  const question = await readReplied({ channelId, id: answers });
  if (question === 'gone' || question === 'hidden') return true;
  return question.author.id !== speaker.id || question.hasThirdPartyText === true;
}
