import { z } from 'zod';

import { namesPeople } from '../../core/own-words.ts';
import type { LogEntry } from '../../core/store.ts';
import { reachFields } from '../../core/visibility.ts';

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
  channelName: z.string().exactOptional(),
  /** Said, or an answer to what was said, in mode `ask` [K9]. */
  mode: z.literal('ask').exactOptional(),
};

const userMessageSchema = z.object({ ...common, role: z.literal('user'), authorId: z.string() });

const assistantMessageSchema = z.object({
  ...common,
  role: z.literal('assistant'),
  /** All messages that the reply was sent as; `id` is the first. */
  ids: z.array(z.string()).min(1),
  /** The user's messages that it answers: together they are one turn. */
  replyTo: z.array(z.string()),
  /** Whether it was made with other people's words or a file in view, which it may repeat [M5a]; records of earlier versions do not say. */
  hasThirdPartyText: z.boolean().exactOptional(),
  /** ISO 8601, UTC: when these words were last in view themselves, where only an earlier answer that may repeat them was; absent otherwise. */
  thirdPartyTextAt: z.string().exactOptional(),
  /** It retells what was read in a channel [B4]: it is kept as it is, and nothing is made of it. */
  retells: z.literal(true).exactOptional(),
});

/**
 * One line of `messages.jsonl` [W3]. `of` is the sequence number of the message that an edit or deletion is about; its text
 * was replaced or removed in its own line too, so a deleted text is nowhere on disk [G5].
 */
export const logRecordSchema = z.discriminatedUnion('type', [
  z.discriminatedUnion('role', [userMessageSchema, assistantMessageSchema]),
  z.object({ type: z.literal('edit'), id: z.string(), of: z.number(), at: z.string(), text: z.string() }),
  z.object({ type: z.literal('delete'), id: z.string(), of: z.number(), at: z.string() }),
]);

export type LogRecord = z.infer<typeof logRecordSchema>;
export type UserMessage = z.infer<typeof userMessageSchema>;
export type AssistantMessage = z.infer<typeof assistantMessageSchema>;
export type LoggedMessage = UserMessage | AssistantMessage;

/** Every Discord id that a message has: a long reply was sent as several. */
export function idsOf(message: LoggedMessage): readonly string[] {
  return message.role === 'assistant' ? message.ids : [message.id];
}

/**
 * Whether what a message says may be other people's words or a file's [M5a]: an answer that was made with these in view, or of which nobody knows,
 * outside of DMs; a person's own where it mentions somebody by a name that can say anything.
 */
export function mayHoldOthersWords(message: LoggedMessage): boolean {
  return message.role === 'user'
    ? namesPeople(message.text)
    : (message.hasThirdPartyText ?? message.visibility !== 'dm');
}

/** Those of which something may be made that nobody is asked about [K9]: summaries, notes, recent exchanges. Of what others said in a channel nothing may [B4]. */
export function unaskedMessages(messages: readonly SequencedMessage[]): readonly SequencedMessage[] {
  return messages.filter(
    ({ message }) =>
      message.mode === undefined && !(message.role === 'assistant' && message.retells === true),
  );
}

/** A message and its place in the log, which cursors count by. */
export interface SequencedMessage {
  readonly sequence: number;
  readonly message: LoggedMessage;
}

/** A log line saying that an earlier message was edited or deleted. What was made from that message is no longer supported. */
export interface Withdrawal {
  /** The line's own place in the log. */
  readonly sequence: number;
  /** The place of the message it is about. */
  readonly of: number;
  readonly id: string;
}

/** A stretch of the log as it reads now. */
export interface LogFold {
  /** In order; edited ones with their present text, deleted ones left out. */
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

/** Whether a message stands there, and no reply to it. */
export function isUnanswered({ messages }: LogFold, id: string): boolean {
  return (
    messages.some(({ message }) => message.role === 'user' && message.id === id) &&
    !messages.some(({ message }) => message.role === 'assistant' && message.replyTo.includes(id))
  );
}

/**
 * The messages up to the newest reply: whole turns only, since a message that still waits for its answer belongs to the next fold.
 * A turn is a reply together with what it answers.
 */
export function wholeTurns(messages: readonly SequencedMessage[]): {
  readonly messages: readonly SequencedMessage[];
  readonly turns: number;
} {
  const lastReply = messages.findLastIndex(({ message }) => message.role === 'assistant');
  const whole = messages.slice(0, lastReply + 1);
  return { messages: whole, turns: whole.filter(({ message }) => message.role === 'assistant').length };
}
