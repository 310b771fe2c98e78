import { z } from 'zod';

import type { Visibility } from '../../core/visibility.ts';

export const visibilitySchema: z.ZodType<Visibility> = z.enum(['everywhere', 'here', 'dm']);

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
  visibility: visibilitySchema,
  homeId: z.string(),
  guildId: z.string().exactOptional(),
  channelName: z.string().exactOptional(),
};

const userMessageSchema = z.object({ ...common, role: z.literal('user'), authorId: z.string() });

const assistantMessageSchema = z.object({
  ...common,
  role: z.literal('assistant'),
  /** All messages that the reply was sent as; `id` is the first. */
  ids: z.array(z.string()).min(1),
  /** The user's messages that it answers: together they are one turn. */
  replyTo: z.array(z.string()),
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
