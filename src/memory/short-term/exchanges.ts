import { z } from 'zod';

import { withoutMarkedNames } from '../../core/own-words.ts';
import { maskSecrets } from '../../core/secrets.ts';
import { assertSnowflake } from '../../core/snowflake.ts';
import type { DocumentKind } from '../../core/store.ts';
import { clipAtWord, toSingleLine } from '../../core/text.ts';
import {
  othersWordsAt,
  type LoggedMessage,
  type SequencedMessage,
  type UserMessage,
  unaskedMessages,
} from '../log/records.ts';

const entrySchema = z.object({
  channelId: z.string(),
  /** The channel's or thread's own name, as it was. */
  channelName: z.string(),
  /** When it was answered; ISO 8601, UTC. */
  at: z.string(),
  /** What was asked and what was answered, on one line. */
  text: z.string(),
  /** The messages of the exchange: the question's and the answer's. */
  messageIds: z.array(z.string()),
  /** When others' words or a file that it may repeat were last in view [M5a]; ISO 8601, UTC. */
  thirdPartyTextAt: z.string().optional(),
});

const documentSchema = z.object({ version: z.literal(1), entries: z.array(entrySchema) });

/** One exchange in a public channel [T1]. */
export type ShortTermEntry = z.infer<typeof entrySchema>;
/** A user's recent exchanges in the public channels of one guild, oldest first. */
export type ShortTermDocument = z.infer<typeof documentSchema>;

export const shortTermKind: DocumentKind<ShortTermDocument> = { version: 1, schema: documentSchema };

/** One document a guild. @throws {RangeError} when the id is not a Discord id [S6]. */
export function shortTermFolder(userId: string): string {
  return `users/${assertSnowflake(userId)}/short-term`;
}

/** @throws {RangeError} when an id is not a Discord id [S6]. */
export function shortTermKey(userId: string, guildId: string): string {
  return `${shortTermFolder(userId)}/${assertSnowflake(guildId)}.json`;
}

type GuildExchange = { readonly guildId: string; readonly entry: ShortTermEntry };

export function isFresh({ at }: Pick<ShortTermEntry, 'at'>, maxAgeHours: number, now: Date): boolean {
  return now.getTime() - Date.parse(at) <= maxAgeHours * 3_600_000;
}

/** Unless it is known; bounded by number and age, the oldest go. */
export function withEntry(
  document: ShortTermDocument | undefined,
  added: ShortTermEntry,
  { maxEntries, maxAgeHours }: { readonly maxEntries: number; readonly maxAgeHours: number },
  now: Date,
): ShortTermDocument {
  const known = document?.entries ?? [];
  const isKnown = known.some(({ messageIds }) => messageIds.some((id) => added.messageIds.includes(id)));
  const entries = (isKnown ? known : [...known, added])
    .filter((entry) => isFresh(entry, maxAgeHours, now))
    .toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at))
    .slice(-maxEntries);
  return { version: 1, entries };
}

/** The same document when `isGone` picks none. */
export function withoutEntries(
  document: ShortTermDocument,
  isGone: (entry: ShortTermEntry) => boolean,
): ShortTermDocument {
  const entries = document.entries.filter((entry) => !isGone(entry));
  return entries.length === document.entries.length ? document : { ...document, entries };
}

/** One line for each reply with what it answers, if all was public [T1]; nothing for mode `ask` [K9]. */
export function exchangesOf(
  channelId: string,
  messages: readonly SequencedMessage[],
): readonly GuildExchange[] {
  const asked = new Map<string, UserMessage>();
  const exchanges: GuildExchange[] = [];
  for (const { message } of unaskedMessages(messages)) {
    if (message.role === 'user') {
      asked.set(message.id, message);
      continue;
    }
    const questions = message.replyTo.flatMap((id) => asked.get(id) ?? []);
    const { guildId, channelName = 'channel', at, ids, replyTo } = message;
    const isWhole = questions.length > 0 && questions.length === replyTo.length;
    if (!isWhole || guildId === undefined || ![...questions, message].every(isPublic)) continue;
    const text = `${quoted(questions)}${arrow}${quoted([message])}`;
    exchanges.push({
      guildId,
      entry: {
        channelId,
        channelName,
        at,
        text,
        messageIds: [...replyTo, ...ids],
        thirdPartyTextAt: othersWordsAt(message),
      },
    });
  }
  return exchanges;
}

const arrow = ' → ';

/** At least the beginning, since a question may hold the same signs. */
export function questionOf({ text }: Pick<ShortTermEntry, 'text'>): string {
  return text.slice(0, text.indexOf(`"${arrow}"`) + 1);
}

function isPublic(message: LoggedMessage): boolean {
  return message.visibility === 'server' && message.guildId !== undefined;
}

const quoteMaxChars = 140;

/** Without secrets [K14], in quotes on one line; a message without words stands by the names of its files. */
function quoted(messages: readonly LoggedMessage[]): string {
  const words = messages.map(
    ({ text, attachments }) => maskSecrets(withoutMarkedNames(text)).trim() || attachments.join(', '),
  );
  return `"${clipAtWord(toSingleLine(words.join(' ')), quoteMaxChars)}"`;
}
