import { hash } from 'node:crypto';

import { z } from 'zod';

import type { MemorySource } from '../../core/memory-source.ts';
import type { Place } from '../../core/place.ts';
import { hasSecret, secretMark } from '../../core/secrets.ts';
import { dataLine } from '../../core/section.ts';
import { assertSnowflake, compareSnowflakes } from '../../core/snowflake.ts';
import type { DocumentKind, Store } from '../../core/store.ts';
import { sameItemForm, toSingleLine } from '../../core/text.ts';
import { mayUse, pickReach, visibilitySchema, type Reach } from '../../core/visibility.ts';

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

/** Characters of an item's text at most. */
export const itemMaxChars = 500;

/** Characters of an item's question at most [D1a]. */
export const questionMaxChars = 100;

/** The time of an item that somebody wrote by hand without one. */
export const undated = new Date(0).toISOString();

const daySchema = z.string().regex(/^\d{4}-\d\d-\d\d$/u);
export const timeSchema = z.string().refine((text) => !Number.isNaN(Date.parse(text)), 'not a date');

export const sourceFields = {
  /** By the person, by a tool of the model (`discord`), by extraction (`summary`), or by another assistant [EW3]. */
  type: z.enum(['manual', 'discord', 'summary', 'elsewhere']).default('manual'),
  /** The name of that assistant's token. */
  assistant: z.string().optional(),
  channelId: z.string().default(''),
  messageId: z.string().default(''),
  /** Absent for DMs, as is `channelName`. */
  guildId: z.string().optional(),
  channelName: z.string().optional(),
  /** `Place.homeId` where it is not `channelId`: an ordinary thread's parent. */
  homeId: z.string().optional(),
  /** Said where not everybody reads along: the channel's name is for that channel and the DM only. */
  audience: z.literal('private').optional(),
  /** It was heard in a voice message [G7]. */
  heard: z.literal(true).optional(),
  /** Who could read along then; absent where not known [V2a]. */
  readers: z.array(z.string()).readonly().optional(),
};

/** Where an item comes from [D1]. */
export type ItemSource = Readonly<z.infer<z.ZodObject<typeof sourceFields>>>;

const sourceSchema: z.ZodType<ItemSource> = z.looseObject(sourceFields).prefault({});

/** What people leave out when they write an item by hand gets the careful choice: the narrowest visibility. */
export const itemFields = {
  /** Stays when the text is edited. */
  id: z.string().min(1),
  kind: z.enum(itemKinds).default('fact'),
  /** As it was written, trimmed; `itemLine` makes it one safe line. */
  text: z.string(),
  /** The bot's question that the text answers [D1a]; one line. */
  question: z.string().max(questionMaxChars).optional(),
  status: z.enum(['active', 'deprecated', 'proposed']).default('active'),
  visibility: visibilitySchema.default('dm'),
  pinned: z.boolean().default(false),
  source: sourceSchema,
  createdAt: timeSchema,
  updatedAt: timeSchema,
  /** Its owner had it forgotten: what says it is not found any more either. */
  forgotten: z.literal(true).optional(),
  /** The id of the item that corrected this one [D6]. */
  supersededBy: z.string().optional(),
  /** The one day that the text speaks of [D7], `YYYY-MM-DD`, in its owner's zone. */
  when: daySchema.optional(),
  /** That day was past when the text was said: it is never over. */
  looksBack: z.literal(true).optional(),
  /** When its owner last said that it still holds. */
  confirmedAt: timeSchema.optional(),
  /** Of a proposal [K9]: when it goes, and the id of the item that it would correct. */
  goesAt: timeSchema.optional(),
  replaces: z.string().optional(),
};

/** A change that can be undone still [K5]: what the items that it touched were. */
const itemChangeSchema = z
  .object({
    id: z.string(),
    /** What was done, as the command that does it is called. */
    what: z.string(),
    at: timeSchema,
    items: z
      .array(
        z.object({
          id: z.string(),
          /** Absent where it was not there. */
          before: z.looseObject(itemFields).readonly().optional(),
        }),
      )
      .readonly(),
  })
  .readonly();
export type ItemChange = z.infer<typeof itemChangeSchema>;

/** One durable memory of one user [D1]. Times are ISO 8601. */
export type DurableItem = Readonly<z.infer<z.ZodObject<typeof itemFields>>>;

/** `users/<userId>/durable.json`. Keys that this program does not know survive every change. */
export interface DurableDocument {
  readonly version: 1;
  /** Oldest first, as they were added. */
  readonly items: readonly DurableItem[];
  /** Nothing is extracted any more from messages up to this snowflake: their author has used `forget` since [A4]. */
  readonly forgottenUpTo?: string | undefined;
  /** Tombstones of items that were forgotten or evicted, oldest first [S7]; see `tombstoneOf`. */
  readonly gone?: readonly string[] | undefined;
  /** What can be undone, oldest first; what somebody wrote here by hand counts as nothing. */
  readonly changes?: readonly ItemChange[] | undefined;
}

/** Something that an owner says in a place. */
export interface Utterance {
  readonly text: string;
  readonly place: Place;
  /** The message or interaction that said it. */
  readonly messageId: string;
}

/** Of some snowflakes. */
export function laterSnowflake(...ids: readonly (string | undefined)[]): string | undefined {
  return ids
    .filter((id) => id !== undefined)
    .toSorted(compareSnowflakes)
    .at(-1);
}

/** What an item says, with the question that it answers [D1a]: it is shown, found and compared as one. */
export function wordingOf({ text, question }: Pick<DurableItem, 'text' | 'question'>): string {
  return question === undefined ? text : `${text} (asked: ${question})`;
}

/** Whether the day that it speaks of has passed since [D7]; `today` is a day in its owner's zone, `YYYY-MM-DD`. */
export function isOver({ when, looksBack }: Pick<DurableItem, 'when' | 'looksBack'>, today: string): boolean {
  return when !== undefined && when < today && looksBack === undefined;
}

/** Why a text, with its question if it has one, can be no item. */
export type TextProblem = 'empty' | 'too-long' | 'secret';

export function textProblem(item: Pick<DurableItem, 'text' | 'question'>): TextProblem | undefined {
  if (toSingleLine(item.text) === '') return 'empty';
  if (item.text.trim().length > itemMaxChars) return 'too-long';
  const wording = wordingOf(item);
  // What was a secret and is masked is none to remember either [K14].
  return wording.includes(secretMark) || hasSecret(wording) ? 'secret' : undefined;
}

/** A document after a change, the very same object where nothing changed, and the answer to who asked for it. */
export interface DocumentChange<T> {
  readonly document: DurableDocument;
  readonly result: T;
}

/** An item and what takes its place. */
export type Replaced = readonly [old: DurableItem, item: DurableItem];

const itemSchema = z.looseObject({
  ...itemFields,
  id: itemFields.id.optional(),
  createdAt: timeSchema.optional(),
  updatedAt: timeSchema.optional(),
});

type WrittenItem = Omit<DurableItem, 'id' | 'createdAt' | 'updatedAt'> &
  Partial<Pick<DurableItem, 'id' | 'createdAt' | 'updatedAt'>>;

const documentSchema = z
  .looseObject({
    version: z.literal(1),
    items: z.array(itemSchema),
    forgottenUpTo: z.string().optional(),
    gone: z.array(z.string()).optional(),
    changes: z.array(itemChangeSchema).readonly().optional().catch(undefined),
  })
  .transform((document) => ({ ...document, items: completed(document.items) }));

/** Whether commands can be given it, and a button can carry two of them. */
export function isPlainId(id: string): boolean {
  return /^[\w-]{1,24}$/u.test(id);
}

export const durableDocumentKind: DocumentKind<DurableDocument> = {
  version: 1,
  schema: documentSchema,
};

export const emptyDurableDocument: DurableDocument = { version: 1, items: [] };

export async function readDurable(store: Pick<Store, 'read'>, userId: string): Promise<DurableDocument> {
  return (await store.read(durableKey(userId), durableDocumentKind)) ?? emptyDurableDocument;
}

/** @throws {RangeError} when `userId` is not a Discord id [S6]. */
export function durableKey(userId: string): string {
  return `users/${assertSnowflake(userId)}/durable.json`;
}

/** Gives ids to items without a plain one, and to copies made by hand. */
export function completed(items: readonly WrittenItem[]): readonly DurableItem[] {
  const written = new Set(items.map(({ id }) => id?.toLowerCase()));
  const taken = new Set<string>();
  /** By wording, so that many copies are not looked through for each. */
  const copies = new Map<string, number>();
  return items.map((item) => {
    const { id: own } = item;
    const isKept = own !== undefined && isPlainId(own) && !taken.has(own.toLowerCase());
    const wording = wordingOf(item);
    const copy = copies.get(wording) ?? 0;
    copies.set(wording, copy + 1);
    const isTaken = (candidate: string): boolean => taken.has(candidate) || written.has(candidate);
    const id = isKept ? own : itemId(wording, isTaken, copy);
    taken.add(id.toLowerCase());
    const createdAt = item.createdAt ?? item.updatedAt ?? undated;
    return { ...item, id, createdAt, updatedAt: item.updatedAt ?? createdAt };
  });
}

/** The first 8 hex digits of a SHA-256 over the item's normalised text [D1], with a number where another has them. */
export function itemId(text: string, isTaken: (id: string) => boolean, first = 0): string {
  const normalized = sameItemForm(text);
  for (let attempt = first; ; attempt += 1) {
    const id = hexDigits(attempt === 0 ? normalized : `${normalized}\n${attempt}`, 8);
    if (!isTaken(id)) return id;
  }
}

export function freeId(text: string, items: readonly DurableItem[]): string {
  return itemId(text, (taken) => items.some(({ id }) => id === taken));
}

/** The first digits of a text's SHA-256. */
export function hexDigits(text: string, count: number): string {
  return hash('sha256', text, 'hex').slice(0, count);
}

export function sourceIn(
  place: Place,
  type: ItemSource['type'],
  messageId: string,
  heard?: true,
): ItemSource {
  const { audience, channelId, guildId, channelName, homeId, readers } = place;
  return {
    type,
    channelId,
    messageId,
    guildId,
    channelName: audience === 'dm' ? undefined : channelName,
    homeId: homeId === channelId ? undefined : homeId,
    heard,
    audience: audience === 'private' ? audience : undefined,
    readers: audience === 'private' ? readers : undefined,
  };
}

/** Where an item was said, as far as its source tells. */
export function placeOfSource({ channelId, homeId = channelId, ...source }: ItemSource): Place {
  const { audience = source.guildId === undefined ? 'dm' : 'public', guildId, channelName, readers } = source;
  return { audience, channelId, homeId, guildId, channelName, readers };
}

/** Who may see an item: as wide as its owner made it, `here` and `server` being where it comes from [V1]. */
export function reachOfItem({ visibility, source }: Pick<DurableItem, 'visibility' | 'source'>): Reach {
  const { homeId = source.channelId, guildId, readers } = source;
  return pickReach({ visibility, homeId, guildId, readers });
}

/** The rule [V2], applied to items. */
export function mayUseItem(item: DurableItem, ownerId: string, place: Place, speakerId = ownerId): boolean {
  return mayUse({ ownerId, ...reachOfItem(item) }, place, speakerId);
}

/** What waits for its owner's yes [K9], oldest first; what was not answered in time waits no more. */
export function proposedItems(items: readonly DurableItem[], now: Date): readonly DurableItem[] {
  return items.filter(
    ({ status, goesAt = '' }) => status === 'proposed' && Date.parse(goesAt) > now.getTime(),
  );
}

/** The active items, pinned first, then newest [D4]. */
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

/** The items with a wording [D2], in the order of the list. */
export function itemsWithWording(items: readonly DurableItem[], wording: string): readonly DurableItem[] {
  const form = sameItemForm(wording);
  return items.filter((item) => sameItemForm(wordingOf(item)) === form);
}

/** The very same document where nothing changes. */
export function withItems(
  document: DurableDocument,
  change: {
    readonly replaced?: readonly Replaced[];
    readonly removed?: readonly DurableItem[];
    readonly added?: readonly DurableItem[];
  },
): DurableDocument {
  const { replaced = [], removed = [], added = [] } = change;
  if (replaced.length + removed.length + added.length === 0) return document;
  const successors = new Map(replaced);
  const left = document.items.filter((item) => !removed.includes(item));
  return { ...document, items: [...left.map((item) => successors.get(item) ?? item), ...added] };
}

/** How lines tell days: moments as `dateOf` writes them, and what is over by `today`, `YYYY-MM-DD`. */
export interface LineDays {
  readonly dateOf: (date: Date) => string;
  readonly today: string;
  /** What people wrote, on one line. Default: as data [P3]. */
  readonly words?: (text: string) => string;
}

/**
 * The line of an item as the model and its owner see it [D5] [D7]. A channel is named where what was said in it may
 * be used: `- [fact] I fly on Friday (src: manual, #dev, updated 2026-01-15, on 2026-01-16)`.
 */
export function itemLine(
  item: DurableItem,
  place: Place,
  { dateOf, today, words = dataLine }: LineDays,
): string {
  const { type, heard, channelName } = item.source;
  const origin = [
    `src: ${type}`,
    ...(heard === undefined ? [] : ['heard']),
    ...(channelName === undefined || !namesChannel(item, place) ? [] : [`#${words(channelName)}`]),
    ...(Date.parse(item.updatedAt) === Date.parse(undated)
      ? []
      : [`updated ${dateOf(new Date(item.updatedAt))}`]),
    ...(item.when === undefined ? [] : [`on ${item.when}`]),
  ];
  const over = isOver(item, today) ? ' (over)' : '';
  return `- [${item.kind}] ${words(wordingOf(item))} (${origin.join(', ')})${over}`;
}

/** Whether an item's line may name its channel: only where what was said there may be used. */
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
