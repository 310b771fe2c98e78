import { z } from 'zod';

import { assertSnowflake } from '../../core/snowflake.ts';
import type { DocumentKind } from '../../core/store.ts';

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
});

const documentSchema = z.object({ version: z.literal(1), entries: z.array(entrySchema) });

/** One exchange in a public channel [T1]. */
export type ShortTermEntry = z.infer<typeof entrySchema>;
/** A user's recent exchanges in the public channels of one guild, oldest first. */
export type ShortTermDocument = z.infer<typeof documentSchema>;

export const shortTermKind: DocumentKind<ShortTermDocument> = { version: 1, schema: documentSchema };

/** The folder of a user's documents, one a guild. @throws {RangeError} when the id is no Discord id [S6]. */
export function shortTermFolder(userId: string): string {
  return `users/${assertSnowflake(userId)}/short-term`;
}

/** @throws {RangeError} when an id is no Discord id [S6]. */
export function shortTermKey(userId: string, guildId: string): string {
  return `${shortTermFolder(userId)}/${assertSnowflake(guildId)}.json`;
}

/** What bounds a document [T1]. */
export interface ShortTermLimits {
  readonly maxEntries: number;
  readonly maxAgeHours: number;
}

/** Whether an entry is young enough to be used. */
export function isFresh({ at }: Pick<ShortTermEntry, 'at'>, maxAgeHours: number, now: Date): boolean {
  return now.getTime() - Date.parse(at) <= maxAgeHours * 3_600_000;
}

/** The document with exchanges added, each once, bounded by number and age; what goes is the oldest. */
export function withEntries(
  document: ShortTermDocument | undefined,
  added: readonly ShortTermEntry[],
  { maxEntries, maxAgeHours }: ShortTermLimits,
  now: Date,
): ShortTermDocument {
  const known = new Set(document?.entries.flatMap(({ messageIds }) => messageIds));
  const fresh = [
    ...(document?.entries ?? []),
    ...added.filter(({ messageIds }) => !messageIds.some((id) => known.has(id))),
  ].filter((entry) => isFresh(entry, maxAgeHours, now));
  const entries = fresh.toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at)).slice(-maxEntries);
  return { version: 1, entries };
}

/** The document without the entries that `isWithdrawn` picks; the very same when it picks none. */
export function withoutEntries(
  document: ShortTermDocument,
  isWithdrawn: (entry: ShortTermEntry) => boolean,
): ShortTermDocument {
  const entries = document.entries.filter((entry) => !isWithdrawn(entry));
  return entries.length === document.entries.length ? document : { ...document, entries };
}
