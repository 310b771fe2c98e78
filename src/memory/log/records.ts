import { z } from 'zod';

import { namesPeople, withoutMarkedNames } from '../../core/own-words.ts';
import type { LogEntry } from '../../core/store.ts';
import { reachFields } from '../../core/visibility.ts';
import { maskSecrets } from '../../core/secrets.ts';
import { dataLine } from '../../core/section.ts';
import { chunk, clip, isBlank, toSingleLine } from '../../core/text.ts';
import { localMoment, withMomentsTold } from '../../core/time.ts';
import { ownMark } from '../../core/turn-context.ts';

const common = {
  type: z.literal('message'),
  id: z.string(),
  /** ISO 8601, UTC. */
  at: z.string(),
  /** The author's name as it was. */
  author: z.string(),
  text: z.string(),
  /** File names only. */
  attachments: z.array(z.string()),
  ...reachFields,
  channelName: z.string().optional(),
  /** By `/ask`, or an answer to that: it stands in no channel [EW2]. */
  isAsked: z.literal(true).optional(),
  /** Said, or an answer to what was said, in mode `ask` [K9]. */
  mode: z.literal('ask').optional(),
};

const userMessageSchema = z.object({
  ...common,
  role: z.literal('user'),
  authorId: z.string(),
  /** The text was heard in a voice message [G7]. */
  heard: z.literal(true).optional(),
});

const assistantMessageSchema = z.object({
  ...common,
  role: z.literal('assistant'),
  /** All messages of the reply; `id` is the first. */
  ids: z.array(z.string()).min(1),
  /** The user's messages that it answers: one turn. */
  replyTo: z.array(z.string()),
  /**
   * It was made with others' words or a file in view, which it may repeat [M5a]: its own id, or, where only an earlier answer
   * with a mark was in view, that one's mark.
   */
  thirdPartyMark: z.string().optional(),
});

/** One line of `messages.jsonl` [W3]; `of` is the sequence number of the edited or deleted message [G5]. */
export const logRecordSchema = z.discriminatedUnion('type', [
  z.discriminatedUnion('role', [userMessageSchema, assistantMessageSchema]),
  z.object({ type: z.literal('edit'), id: z.string(), of: z.number(), at: z.string(), text: z.string() }),
  z.object({ type: z.literal('delete'), id: z.string(), of: z.number(), at: z.string() }),
]);

export type LogRecord = z.infer<typeof logRecordSchema>;
export type UserMessage = z.infer<typeof userMessageSchema>;
export type AssistantMessage = z.infer<typeof assistantMessageSchema>;
export type LoggedMessage = UserMessage | AssistantMessage;

/** A long reply has several. */
export function idsOf(message: LoggedMessage): readonly string[] {
  return message.role === 'assistant' ? message.ids : [message.id];
}

/**
 * The mark of a message that may hold others' words or a file's [M5a]: an answer made with these in view; `own` of a person's
 * own that was heard, or with a mention whose name can say anything.
 */
export function markOf(message: LoggedMessage): string | undefined {
  if (message.role === 'assistant') return message.thirdPartyMark;
  return isHeard(message) || namesPeople(message.text) ? ownMark : undefined;
}

/** Whether it was heard in a voice message, which may play somebody else [G7]. */
export function isHeard(message: LoggedMessage): boolean {
  return message.role === 'user' && message.heard === true;
}

/** Messages of which something may be made unasked [K9]. */
export function unaskedMessages(messages: readonly SequencedMessage[]): readonly SequencedMessage[] {
  return messages.filter(({ message }) => message.mode === undefined);
}

/** Cursors count by `sequence`. */
export interface SequencedMessage {
  readonly sequence: number;
  readonly message: LoggedMessage;
}

/** A log line about an edit or deletion: what was made from the message is no longer supported. */
export interface Withdrawal {
  /** The line's own place in the log. */
  readonly sequence: number;
  /** The place of the message it is about. */
  readonly of: number;
  readonly id: string;
}

/** A stretch of the log as it reads now. */
export interface LogFold {
  /** In order, with present texts, without deleted ones. */
  readonly messages: readonly SequencedMessage[];
  readonly withdrawals: readonly Withdrawal[];
  /** The newest sequence number that was looked at. */
  readonly last: number;
}

/** Applies edits and deletions to the messages before them [W3]. `after` is where the stretch begins. */
export function foldLog(entries: readonly LogEntry<LogRecord>[], after = 0): LogFold {
  const messages = new Map<number, LoggedMessage>();
  const withdrawals: Withdrawal[] = [];
  for (const { sequence, record } of entries) {
    if (record.type === 'message') {
      messages.set(sequence, record);
      continue;
    }
    withdrawals.push({ sequence, of: record.of, id: record.id });
    const message = messages.get(record.of);
    if (message === undefined) continue;
    if (record.type === 'delete') messages.delete(record.of);
    else messages.set(record.of, { ...message, text: record.text });
  }
  return {
    messages: [...messages].map(([sequence, message]) => ({ sequence, message })),
    withdrawals,
    last: entries.at(-1)?.sequence ?? after,
  };
}

/** The messages up to the newest reply. A turn is a reply with what it answers. */
export function wholeTurns(messages: readonly SequencedMessage[]): {
  readonly messages: readonly SequencedMessage[];
  readonly turns: number;
} {
  const lastReply = messages.findLastIndex(({ message }) => message.role === 'assistant');
  const whole = messages.slice(0, lastReply + 1);
  return { messages: whole, turns: whole.filter(({ message }) => message.role === 'assistant').length };
}

const nameMaxChars = 80;

/**
 * A message as one line, which forges neither a tag nor a speaker [P3], for what writes summaries and notes: of what may hold
 * others' words or a file's it tells only that it was there [M5a].
 */
export function turnLine(message: LoggedMessage, timeZone: string): string {
  const isLeftOut = message.role === 'assistant' ? message.thirdPartyMark !== undefined : isHeard(message);
  const { text, attachments } = message;
  const files = attachments.length === 0 ? '' : ` [attached: ${attachments.join(', ')}]`;
  const words = isLeftOut
    ? leftOut[message.role]
    : dataLine(maskSecrets(withMomentsTold(withoutMarkedNames(text, '@someone'), timeZone)) + files);
  return lineBegin(message, timeZone) + words;
}

const leftOut = {
  assistant: "(an answer that is left out here, since it may repeat other people's words or a file)",
  user: '(a voice message that is left out here, since it may play other people)',
} as const;

/** Only the bot has brackets behind its name, so nobody speaks as the bot. */
function lineBegin({ id, at, author, role }: LoggedMessage, timeZone: string): string {
  const plain = clip(toSingleLine(author.normalize('NFKC').replace(/[:[\]<>()]/gu, ' ')), nameMaxChars);
  const name = isBlank(plain) ? 'someone' : plain;
  return `- ${localMoment(new Date(at), timeZone)} [${id}] ${role === 'assistant' ? `${name} (bot)` : name}: `;
}

/** Parts for one model call each, in order; an overlong message is one by itself. */
export function inBatches(
  messages: readonly SequencedMessage[],
  timeZone: string,
  maxChars: number,
): readonly (readonly SequencedMessage[])[] {
  return chunk(messages, ({ message }) => turnLine(message, timeZone).length + 1, maxChars);
}
