import { hash } from 'node:crypto';

import { z } from 'zod';

import { memoizeByObject } from '../../core/limits.ts';
import type { MemorySource } from '../../core/memory-source.ts';
import type { Place } from '../../core/place.ts';
import { dataLine } from '../../core/section.ts';
import { assertSnowflake } from '../../core/snowflake.ts';
import type { DocumentKind } from '../../core/store.ts';
import { sameItemForm } from '../../core/text.ts';
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
  /** The bot's question that the text answers [D1a]; one line of at most {@link questionMaxChars} characters. */
  readonly question?: string | undefined;
  readonly status: 'active' | 'deprecated';
  readonly visibility: Visibility;
  readonly pinned: boolean;
  readonly source: ItemSource;
  readonly createdAt: string;
  readonly updatedAt: string;
  /** Its owner had it forgotten: what says it is not found any more either. */
  readonly forgotten?: true;
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

/** Characters of an item's question at most [D1a]. */
export const questionMaxChars = 100;

/** What an item says, with the question that it answers [D1a]: it is shown, found and compared as one. */
export function wordingOf({ text, question }: Pick<DurableItem, 'text' | 'question'>): string {
  return question === undefined ? text : `${text} (asked: ${question})`;
}

/** A document after a change, the very same object where nothing changed, and the answer to who asked for it. */
export interface DocumentChange<T> {
  readonly document: DurableDocument;
  readonly result: T;
}

/** An item and what takes its place. */
export type Replaced = readonly [old: DurableItem, item: DurableItem];

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
  question: z.string().max(questionMaxChars).exactOptional(),
  status: z.enum(['active', 'deprecated']).default('active'),
  visibility: visibilitySchema.default('dm'),
  pinned: z.boolean().default(false),
  source: sourceSchema.prefault({}),
  createdAt: timeSchema.exactOptional(),
  updatedAt: timeSchema.exactOptional(),
  forgotten: z.literal(true).exactOptional(),
  supersededBy: z.string().exactOptional(),
});

type WrittenItem = z.infer<typeof itemSchema>;

/** An item as this program writes it. */
export const writtenItemSchema: z.ZodType<DurableItem> = z.looseObject({
  ...itemSchema.shape,
  id: z.string().min(1),
  createdAt: timeSchema,
  updatedAt: timeSchema,
});

const documentSchema = z
  .looseObject({
    version: z.literal(1),
    items: z.array(itemSchema),
    forgottenUpTo: z.string().exactOptional(),
    gone: z.array(z.string()).exactOptional(),
  })
  .transform((document) => ({ ...document, items: completed(document.items) }));

const brought = z.string().max(200);

/** An item out of a file that somebody hands in: what this program does not know is left out, and nothing is longer than it would make it. */
const broughtSchema = z.object({
  ...itemSchema.shape,
  id: z.string().exactOptional(),
  source: z
    .object({
      ...sourceSchema.shape,
      channelId: brought.default(''),
      messageId: brought.default(''),
      guildId: brought.exactOptional(),
      channelName: brought.exactOptional(),
      homeId: brought.exactOptional(),
      readers: z.array(brought).max(50).readonly().exactOptional(),
    })
    .prefault({}),
  supersededBy: brought.exactOptional(),
});

/** Whether an id is one that commands can be given and two of which a button can carry: what people write by hand may be anything. */
function isPlainId(id: string): boolean {
  return /^[\w-]{1,24}$/u.test(id);
}

/** The items of an export [K10], as far as they are items; `damaged` is how many are not. No time is later than `now`. */
export function readExportedItems(
  list: readonly unknown[],
  now: Date,
): { readonly items: readonly DurableItem[]; readonly damaged: number } {
  const read = list.map((each) => broughtSchema.safeParse(each));
  const written = read.flatMap(({ data }) => {
    if (data === undefined) return [];
    const { id = '', ...rest } = data;
    return [isPlainId(id) ? data : rest];
  });
  const upToNow = (time: string): string =>
    Date.parse(time) > now.getTime() ? now.toISOString() : new Date(time).toISOString();
  const items = completed(written).map((item) => ({
    ...item,
    createdAt: upToNow(item.createdAt),
    updatedAt: upToNow(item.updatedAt),
  }));
  return { items, damaged: list.length - written.length };
}

/** An item that its owner writes down in a list, for the DM until they share it [V1]. */
export function listedAs(
  text: string,
  kind: ItemKind,
  { place, messageId, now }: { readonly place: Place; readonly messageId: string; readonly now: Date },
): DurableItem {
  const at = now.toISOString();
  return {
    id: itemId(text, () => false),
    kind,
    text,
    status: 'active',
    visibility: 'dm',
    pinned: false,
    source: sourceIn(place, 'manual', messageId),
    createdAt: at,
    updatedAt: at,
  };
}

export const durableDocumentKind: DocumentKind<DurableDocument> = {
  version: 1,
  schema: documentSchema,
};

export const emptyDurableDocument: DurableDocument = { version: 1, items: [] };

/** @throws {RangeError} when `userId` is not a Discord id [S6]. */
export function durableKey(userId: string): string {
  return `users/${assertSnowflake(userId)}/durable.json`;
}

/** Gives ids to items without one, or with one that no command could be given, and to copies made by hand that kept the id of their original. */
function completed(items: readonly WrittenItem[]): readonly DurableItem[] {
  const written = new Set(items.map(({ id }) => id?.toLowerCase()));
  const taken = new Set<string>();
  const renamed = new Map<string, string>();
  const named = items.map((item) => {
    const { id: own } = item;
    const isKept = own !== undefined && isPlainId(own) && !taken.has(own.toLowerCase());
    const id = isKept
      ? own
      : itemId(wordingOf(item), (candidate) => taken.has(candidate) || written.has(candidate));
    if (own !== undefined && !isPlainId(own) && !renamed.has(own)) renamed.set(own, id);
    taken.add(id.toLowerCase());
    const createdAt = item.createdAt ?? item.updatedAt ?? undated;
    return { ...item, id, createdAt, updatedAt: item.updatedAt ?? createdAt };
  });
  return named.map((item) => {
    const supersededBy = renamed.get(item.supersededBy ?? '');
    return supersededBy === undefined ? item : { ...item, supersededBy };
  });
}

/**
 * The id of a new item: the first 8 hex digits of a SHA-256 over its normalised text [D1]. Where another item has it already,
 * a number is hashed with the text, so that the same items in the same order always get the same ids.
 */
export function itemId(text: string, isTaken: (id: string) => boolean): string {
  const normalized = sameItemForm(text);
  for (let attempt = 0; ; attempt += 1) {
    const id = hexDigits(attempt === 0 ? normalized : `${normalized}\n${attempt}`, 8);
    if (!isTaken(id)) return id;
  }
}

/** The first digits of a text's SHA-256. */
export function hexDigits(text: string, count: number): string {
  return hash('sha256', text, 'hex').slice(0, count);
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

/** Who may see an item: as wide as its owner made it, `here` and `server` being where it comes from [V1]. */
export function reachOfItem({ visibility, source }: Pick<DurableItem, 'visibility' | 'source'>): Reach {
  const { homeId = source.channelId, guildId, readers } = source;
  return pickReach({
    visibility,
    homeId,
    ...(guildId === undefined ? {} : { guildId }),
    ...(readers === undefined ? {} : { readers }),
  });
}

/** Whether one of `ownerId`'s items may be used in a reply to `speakerId` in `place`: the rule [V2], applied to items. */
export function mayUseItem(item: DurableItem, ownerId: string, place: Place, speakerId = ownerId): boolean {
  return mayUse({ ownerId, ...reachOfItem(item) }, place, speakerId);
}

/** The active items in the order of injection: pinned first, then the newest; of the same moment the one added last [D4]. */
export const activeInOrder = memoizeByObject((items: readonly DurableItem[]): readonly DurableItem[] =>
  items
    .filter((item) => item.status === 'active')
    .toReversed()
    .toSorted((a, b) => Number(b.pinned) - Number(a.pinned) || byAge(b, a)),
);

/** Orders by last update, older first. */
export function byAge(a: DurableItem, b: DurableItem): number {
  return Date.parse(a.updatedAt) - Date.parse(b.updatedAt);
}

/** The items with a wording [D2], in the order of the list. */
export function itemsWithWording(items: readonly DurableItem[], wording: string): readonly DurableItem[] {
  const form = sameItemForm(wording);
  return items.filter((item) => sameItemForm(wordingOf(item)) === form);
}

/** The list of items after a change; the very same list where nothing changes. `added` come last. */
export function changedItems(
  items: readonly DurableItem[],
  change: {
    readonly replaced?: readonly Replaced[];
    readonly removed?: readonly DurableItem[];
    readonly added?: readonly DurableItem[];
  },
): readonly DurableItem[] {
  const { replaced = [], removed = [], added = [] } = change;
  if (replaced.length + removed.length + added.length === 0) return items;
  const successors = new Map(replaced);
  const left = items.filter((item) => !removed.includes(item));
  return [...left.map((item) => successors.get(item) ?? item), ...added];
}

/**
 * The line of an item as the model and its owner see it [D5]: `- [preference] Prefers Rust (src: manual, #dev, updated 2026-01-15)`.
 * The name of a channel is left out where what was said in that channel could not be used: elsewhere, if it is private, and in other servers.
 */
export function itemLine(item: DurableItem, place: Place, dateOf: DateOf): string {
  const { type, channelName } = item.source;
  const origin = [
    `src: ${type}`,
    ...(channelName === undefined || !namesChannel(item, place) ? [] : [`#${dataLine(channelName)}`]),
    ...(Date.parse(item.updatedAt) === Date.parse(undated)
      ? []
      : [`updated ${dateOf(new Date(item.updatedAt))}`]),
  ];
  return `- [${item.kind}] ${dataLine(wordingOf(item))} (${origin.join(', ')})`;
}

/** Whether the line of an item may tell in a place which channel it is from: where what was said there may be used, wherever the item itself may be. */
export function namesChannel(item: DurableItem, place: Place): boolean {
  const visibility = item.source.audience === 'private' ? 'here' : 'server';
  return mayUseItem({ ...item, visibility }, '', place);
}

/** An item as records refer to it that are to hold none of its words [K7]. */
export function sourceOfItem({
  id,
  text,
}: Pick<DurableItem, 'id' | 'text'>): Extract<MemorySource, { readonly kind: 'item' }> {
  return { kind: 'item', id, hash: hexDigits(text, 4) };
}

/** A moment as a day: the local one, `YYYY-MM-DD` [N5], or Discord's form of it. */
export type DateOf = (date: Date) => string;
