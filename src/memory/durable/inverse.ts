import { z } from 'zod';

import {
  hexDigits,
  writtenItemSchema,
  type DocumentChange,
  type DurableDocument,
  type DurableItem,
} from './document.ts';
import { goneOf, hashOf } from './past.ts';

const inverseSchema = z.object({
  items: z.array(
    z.object({
      id: z.string(),
      /** Where it stood, or stands. */
      index: z.number(),
      before: writtenItemSchema.exactOptional(),
      /** Of what it became; absent where it went. */
      after: z.string().exactOptional(),
    }),
  ),
  /** Hashes of texts of which nothing but these was known from then on. */
  goneAdded: z.array(z.string()),
  /** Such hashes that were let go, with where they stood. */
  goneRemoved: z.array(z.object({ index: z.number(), gone: z.string() })),
  /** `forgottenUpTo` where it changed. */
  upTo: z.object({ before: z.string().exactOptional(), after: z.string().exactOptional() }).exactOptional(),
});

/** What takes a document back to what it was before a change [K5]. */
export type Inverse = z.infer<typeof inverseSchema>;

/** What became of undoing a change. */
export interface Undoing {
  readonly what: string;
  readonly isDone: boolean;
  /** The items as they were before the change, and are again; and as it had left them. */
  readonly before: readonly DurableItem[];
  readonly after: readonly DurableItem[];
}

/** `undefined` where it is none, as after an edit by hand. */
export function readInverse(part: unknown): Inverse | undefined {
  return inverseSchema.safeParse(part).data;
}

/** `undefined` where nothing changed. */
export function inverseOf(before: DurableDocument, after: DurableDocument): Inverse | undefined {
  if (before === after) return undefined;
  const former = new Map(before.items.map((item, index) => [item.id, { item, index }]));
  const changed = after.items.flatMap((item, index) => {
    const old = former.get(item.id);
    former.delete(item.id);
    if (old?.item === item) return [];
    return [
      {
        id: item.id,
        index: old?.index ?? index,
        ...(old !== undefined && { before: old.item }),
        after: fingerprint(item),
      },
    ];
  });
  const removed = [...former].map(([id, { item, index }]) => ({ id, index, before: item }));
  const [goneBefore, goneAfter] = [new Set(before.gone), new Set(after.gone)];
  const { forgottenUpTo: from } = before;
  const { forgottenUpTo: to } = after;
  return {
    items: [...removed, ...changed].toSorted((a, b) => a.index - b.index),
    goneAdded: [...goneAfter].filter((each) => !goneBefore.has(each)).map(hashOf),
    goneRemoved: [...goneBefore].flatMap((gone, index) => (goneAfter.has(gone) ? [] : [{ index, gone }])),
    ...(from !== to && {
      upTo: { ...(from !== undefined && { before: from }), ...(to !== undefined && { after: to }) },
    }),
  };
}

/** What became of a change: it still is as it left the document, it was taken back already, or something of it was changed since. */
export function stateOf(
  { items, forgottenUpTo }: DurableDocument,
  inverse: Inverse,
): 'made' | 'reverted' | 'overtaken' {
  // Where no item was touched, as when messages were forgotten, the mark alone tells.
  if (inverse.items.length === 0)
    return inverse.upTo !== undefined && forgottenUpTo === inverse.upTo.before ? 'reverted' : 'made';
  const present = new Map(items.map((item) => [item.id, fingerprint(item)]));
  const isAs = (version: (each: Inverse['items'][number]) => string | undefined): boolean =>
    inverse.items.every((each) => present.get(each.id) === version(each));
  if (isAs(({ before }) => before && fingerprint(before))) return 'reverted';
  return isAs(({ after }) => after) ? 'made' : 'overtaken';
}

/** Whether a document is as before a change, in all that tells. */
export function isUnmade(document: DurableDocument, inverse: Inverse | undefined): boolean {
  if (inverse === undefined) return false;
  const { items, upTo } = inverse;
  if (items.length === 0 && upTo === undefined) return false;
  return (
    stateOf(document, inverse) === 'reverted' &&
    (upTo === undefined || document.forgottenUpTo === upTo.before)
  );
}

/**
 * The document as it was before a change, where that is as it was made: else it is the very same one, and `result` says whether the change was reverted
 * already.
 */
export function reverted(document: DurableDocument, inverse: Inverse): DocumentChange<boolean> {
  const state = stateOf(document, inverse);
  if (state !== 'made') return { document, result: state === 'reverted', gone: [] };

  const touched = new Set(inverse.items.map(({ id }) => id));
  const gone = document.items.filter(({ id }) => touched.has(id));
  const items = document.items.filter(({ id }) => !touched.has(id));
  for (const { before, index } of inverse.items)
    if (before !== undefined) items.splice(Math.min(index, items.length), 0, before);
  const { forgottenUpTo, ...rest } = document;
  const { upTo } = inverse;
  const before = upTo !== undefined && upTo.after === forgottenUpTo ? upTo.before : forgottenUpTo;
  const goneThen = (document.gone ?? []).filter((each) => !inverse.goneAdded.includes(hashOf(each)));
  for (const { index, gone: each } of inverse.goneRemoved)
    goneThen.splice(Math.min(index, goneThen.length), 0, each);
  // What the bot noticed by itself and its owner does not want is not noticed again; history that goes is of what comes back.
  const isNew = new Set(inverse.items.flatMap((each) => (each.before === undefined ? [each.id] : [])));
  const unwanted = gone
    .filter(({ id, source, status }) => isNew.has(id) && source.type !== 'manual' && status === 'active')
    .map(goneOf);
  const goneItems = [...goneThen, ...unwanted];
  return {
    document: {
      ...rest,
      items,
      ...(before !== undefined && { forgottenUpTo: before }),
      ...((document.gone !== undefined || goneItems.length > 0) && { gone: goneItems }),
    },
    result: true,
    gone,
  };
}

/**
 * How a later change is taken back once this one was: what this one marked is no mark to go back to any more. `undefined` where that makes no difference.
 */
export function afterUndoing({ upTo }: Inverse, later: Inverse): Inverse | undefined {
  if (upTo === undefined || later.upTo === undefined || later.upTo.before !== upTo.after) return undefined;
  const { before: _, ...rest } = later.upTo;
  return { ...later, upTo: { ...rest, ...(upTo.before !== undefined && { before: upTo.before }) } };
}

/** Tells versions of an item apart, without keeping its words; the order of its fields is none of its meaning. */
function fingerprint(item: DurableItem): string {
  const fields = Object.entries(item).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return hexDigits(JSON.stringify(fields), 16);
}
