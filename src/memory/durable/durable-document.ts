import { z } from 'zod';

import { assertSnowflake } from '../../core/snowflake.ts';
import type { DocumentKind } from '../../core/store.ts';
import type { Visibility } from '../../core/visibility.ts';
import { itemId } from './item-id.ts';

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
  /** Its message was deleted, or says it no more: it may be extracted again from another one. */
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
}

/** The time of an item that somebody wrote by hand without one. */
export const undated = new Date(0).toISOString();

const time = z.string().refine((text) => !Number.isNaN(Date.parse(text)), 'not a date');

const sourceSchema = z.looseObject({
  type: z.enum(['manual', 'discord', 'summary']).default('manual'),
  channelId: z.string().default(''),
  messageId: z.string().default(''),
  guildId: z.string().exactOptional(),
  channelName: z.string().exactOptional(),
  homeId: z.string().exactOptional(),
  audience: z.literal('private').exactOptional(),
});

/** What people may leave out when they write an item by hand gets the careful choice: an unstated visibility is the narrowest. */
const itemSchema = z.looseObject({
  id: z.string().min(1).exactOptional(),
  kind: z.enum(itemKinds).default('fact'),
  text: z.string(),
  status: z.enum(['active', 'deprecated']).default('active'),
  visibility: z.enum(['everywhere', 'here', 'dm']).default('dm'),
  pinned: z.boolean().default(false),
  source: sourceSchema.prefault({}),
  createdAt: time.exactOptional(),
  updatedAt: time.exactOptional(),
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
