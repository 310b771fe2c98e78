import { createHash } from 'node:crypto';

import { z } from 'zod';

import { growingCache } from '../../core/limits.ts';
import type { Place } from '../../core/place.ts';
import { dataLine } from '../../core/section.ts';
import { assertSnowflake } from '../../core/snowflake.ts';
import type { DocumentKind } from '../../core/store.ts';
import { normalizeText } from '../../core/text.ts';
import { localDate } from '../../core/time.ts';
import { mayUse, pickReach, visibilitySchema, type Reach, type Visibility } from '../../core/visibility.ts';

export const itemKinds = [
  'fact',
  'preference',
  'project',
  'constraint',
  'person',
  'tool',
  'workflow',
] as const;

export type ItemKind = (typeof itemKinds)[number];

/** Who made an item: the person by command, the model by a tool (`discord`), or extraction (`summary`). The last two are *extracted*. */
export type ItemSourceType = 'manual' | 'discord' | 'summary';

/** Where an item comes from [D1]. */
export interface ItemSource {
  readonly type: ItemSourceType;
  readonly channelId: string;
  readonly messageId: string;
  /** Absent for DMs, as is `channelName`. */
  readonly guildId?: string;
  readonly channelName?: string;
  /** `Place.homeId` where it is not `channelId`: an ordinary thread's parent. */
  readonly homeId?: string;
  /** Said where not everybody reads along: the channel's name is for that channel and the DM only. */
  readonly audience?: 'private';
  /** Who could read along then; absent where not known [V2a]. */
  readonly readers?: readonly string[];
}

/** One durable memory of one user [D1]. Times are ISO 8601. */
export interface DurableItem {
  /** Stays when the text is edited. */
  readonly id: string;
  readonly kind: ItemKind;
  /** As it was written, trimmed; `itemLine` makes it one safe line. */
  readonly text: string;
  readonly status: 'active' | 'deprecated';
  readonly visibility: Visibility;
  readonly pinned: boolean;
  readonly source: ItemSource;
  readonly createdAt: string;
  readonly updatedAt: string;
  /** Its owner had it forgotten: what says it is not found any more either. */
  readonly forgotten?: true;
  /** Written by earlier versions: its message was deleted, or says it no more, so it may be extracted again from another one. */
  readonly retracted?: true;
  /** The id of the item that corrected this one [D6]. */
  readonly supersededBy?: string;
}

/** `users/<userId>/durable.json`. Keys that this program does not know survive every change. */
export interface DurableDocument {
  readonly version: 1;
  /** Oldest first, as they were added. */
  readonly items: readonly DurableItem[];
  /** Nothing is extracted any more from messages up to this snowflake: their author has used `forget` since [A4]. */
  readonly forgottenUpTo?: string;
  /** What is left of items that were forgotten or made way for others, oldest first: hashes [S7]; `past.ts` writes and reads them. */
  readonly gone?: readonly string[];
}

/** A document after a change, the very same object where nothing changed, and what is told of the change. */
export interface DocumentChange<T> {
  readonly document: DurableDocument;
  readonly result: T;
}

/** The time of an item that somebody wrote by hand without one. */
export const undated = new Date(0).toISOString();

const timeSchema = z.string().refine((text) => !Number.isNaN(Date.parse(text)), 'not a date');

const sourceSchema = z.looseObject({
  type: z.enum(['manual', 'discord', 'summary']).default('manual'),
  channelId: z.string().default(''),
  messageId: z.string().default(''),
  guildId: z.string().exactOptional(),
  channelName: z.string().exactOptional(),
  homeId: z.string().exactOptional(),
  audience: z.literal('private').exactOptional(),
  readers: z.array(z.string()).readonly().exactOptional(),
});

/** What people may leave out when they write an item by hand gets the careful choice: an unstated visibility is the narrowest. */
const itemSchema = z.looseObject({
  id: z.string().min(1).exactOptional(),
  kind: z.enum(itemKinds).default('fact'),
  text: z.string(),
  status: z.enum(['active', 'deprecated']).default('active'),
  visibility: visibilitySchema.default('dm'),
  pinned: z.boolean().default(false),
  source: sourceSchema.prefault({}),
  createdAt: timeSchema.exactOptional(),
  updatedAt: timeSchema.exactOptional(),
  forgotten: z.literal(true).exactOptional(),
  retracted: z.literal(true).exactOptional(),
  supersededBy: z.string().exactOptional(),
});

type WrittenItem = z.infer<typeof itemSchema>;

const documentSchema = z
  .looseObject({
    version: z.literal(1),
    items: z.array(itemSchema),
    forgottenUpTo: z.string().exactOptional(),
    gone: z.array(z.string()).exactOptional(),
  })
  .transform((document) => ({ ...document, items: completed(document.items) }));

export const durableDocumentKind: DocumentKind<DurableDocument> = { version: 1, schema: documentSchema };

export const emptyDurableDocument: DurableDocument = { version: 1, items: [] };

/** @throws {RangeError} when `userId` is not a Discord id [S6]. */
export function durableKey(userId: string): string {
  return `users/${assertSnowflake(userId)}/durable.json`;
}

/** Gives ids to items without one, and to copies made by hand that kept the id of their original. */
function completed(items: readonly WrittenItem[]): readonly DurableItem[] {
  const taken = new Set<string>();
  return items.map((item) => {
    const id =
      item.id === undefined || taken.has(item.id)
        ? itemId(item.text, (candidate) => taken.has(candidate) || isWritten(items, candidate))
        : item.id;
    taken.add(id);
    const createdAt = item.createdAt ?? item.updatedAt ?? undated;
    return { ...item, id, createdAt, updatedAt: item.updatedAt ?? createdAt };
  });
}

function isWritten(items: readonly WrittenItem[], id: string): boolean {
  return items.some((item) => item.id === id);
}

/**
 * The id of a new item: the first 8 hex digits of a SHA-256 over its normalised text [D1]. Where another item has it already,
 * a number is hashed with the text, so that the same items in the same order always get the same ids.
 */
export function itemId(text: string, isTaken: (id: string) => boolean): string {
  const normalized = normalizeText(text);
  for (let attempt = 0; ; attempt += 1) {
    const id = firstDigits(attempt === 0 ? normalized : `${normalized}\n${attempt}`);
    if (!isTaken(id)) return id;
  }
}

function firstDigits(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex').slice(0, 8);
}

/** What is kept of the place that an item comes from: a DM has no guild and no name, a thread its own name [D1]. */
export function sourceIn(place: Place, type: ItemSourceType, messageId: string): ItemSource {
  return {
    type,
    channelId: place.channelId,
    messageId,
    ...(place.guildId === undefined ? {} : { guildId: place.guildId }),
    ...(place.channelName === undefined || place.audience === 'dm' ? {} : { channelName: place.channelName }),
    ...(place.homeId === place.channelId ? {} : { homeId: place.homeId }),
    ...(place.audience === 'private' ? { audience: 'private' } : {}),
    ...(place.audience === 'private' && place.readers !== undefined ? { readers: place.readers } : {}),
  };
}

/** Who may see an item: as wide as its owner made it, `here` being where it comes from [V1]. */
export function reachOfItem({ visibility, source }: Pick<DurableItem, 'visibility' | 'source'>): Reach {
  const { homeId = source.channelId, readers } = source;
  return pickReach({ visibility, homeId, ...(readers === undefined ? {} : { readers }) });
}

/** Whether one of `ownerId`'s items may be used in a reply to `speakerId` in `place`: the rule [V2], applied to items. */
export function mayUseItem(item: DurableItem, ownerId: string, place: Place, speakerId = ownerId): boolean {
  return mayUse({ ownerId, ...reachOfItem(item) }, place, speakerId);
}

/** The active items in the order of injection: pinned first, then the newest; of the same moment the one added last [D4]. */
export function activeInOrder(items: readonly DurableItem[]): readonly DurableItem[] {
  return items
    .filter((item) => item.status === 'active')
    .toReversed()
    .toSorted((a, b) => Number(b.pinned) - Number(a.pinned) || byAge(b, a));
}

/** Orders by last update, older first. */
export function byAge(a: DurableItem, b: DurableItem): number {
  return Date.parse(a.updatedAt) - Date.parse(b.updatedAt);
}

/**
 * The line of an item as the model and its owner see it [D5]: `- [preference] Prefers Rust (src: manual, #dev, updated 2026-01-15)`.
 * The name of a private channel is left out where an item of that channel could not be used by itself.
 */
export function itemLine(item: DurableItem, place: Place, dateOf: DateOf): string {
  const origin = [
    `src: ${item.source.type}`,
    ...channelIn(item, place),
    ...(Date.parse(item.updatedAt) === Date.parse(undated)
      ? []
      : [`updated ${dateOf(new Date(item.updatedAt))}`]),
  ];
  return `- [${item.kind}] ${dataLine(item.text)} (${origin.join(', ')})`;
}

function channelIn(item: DurableItem, place: Place): readonly string[] {
  const { channelName, audience } = item.source;
  if (channelName === undefined) return [];
  const isSecret = audience === 'private' && !mayUseItem({ ...item, visibility: 'here' }, '', place);
  return isSecret ? [] : [`#${dataLine(channelName)}`];
}

/** A moment as a day: the local one, `YYYY-MM-DD` [N5], or Discord's form of it. */
export type DateOf = (date: Date) => string;

/** Local days in one time zone that are worked out once: a prompt asks for the same two hundred at every turn. */
export function createLocalDates(timeZone: string, max = 10_000): DateOf {
  const known = growingCache<number, string>(max);
  return (date) => {
    const time = date.getTime();
    const found = known.get(time);
    if (found !== undefined) return found;
    const day = localDate(date, timeZone);
    known.set(time, day);
    return day;
  };
}
