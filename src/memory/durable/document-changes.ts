import { z } from 'zod';

import {
  emptyDurableDocument,
  hexDigits,
  writtenItemSchema,
  type DocumentChange,
  type DurableDocument,
  type DurableItem,
} from './document.ts';
import { hashOf, withBoundedPast, withTombstones } from './past.ts';

/** What takes a list back: each value that changed, by its key, with its index and what it was, if it was there. */
const listUndoSchema = <T extends z.ZodType>(value: T) =>
  z.array(
    z.object({
      key: z.string(),
      index: z.number(),
      before: value.optional(),
      /** A fingerprint of what it became; absent where it was removed. */
      after: z.string().optional(),
    }),
  );

const itemsUndoSchema = z.object({
  items: listUndoSchema(writtenItemSchema),
  gone: listUndoSchema(z.string()),
  /** `forgottenUpTo` where it changed. */
  upTo: z.object({ before: z.string().optional(), after: z.string().optional() }).optional(),
});

/** What takes a document back to what it was before a change [K5]. */
export type ItemsUndo = z.infer<typeof itemsUndoSchema>;

type ListUndo<T> = {
  readonly key: string;
  readonly index: number;
  readonly before?: T | undefined;
  readonly after?: string | undefined;
}[];

/** `undefined` for what undoes something else, or was edited by hand. */
export function readItemsUndo(part: unknown): ItemsUndo | undefined {
  return itemsUndoSchema.safeParse(part).data;
}

export interface ChangedDocument<T> extends DocumentChange<T> {
  /** `undefined` where nothing changed. */
  readonly undo: ItemsUndo | undefined;
  /** Whether words or readers of an item are gone: no copy on disk may keep them [S7]. */
  readonly isLosing: boolean;
}

/** Carries out a change of a document, its past bounded again [L3]. */
export function changeDocument<T>(
  before: DurableDocument = emptyDurableDocument,
  operation: (document: DurableDocument) => DocumentChange<T>,
): ChangedDocument<T> {
  const made = operation(before);
  const document = withBoundedPast(made.document);
  const kept = new Set(document.items.map(usableWords));
  return {
    document,
    result: made.result,
    undo: undoOf(before, document),
    isLosing: before.items.some((item) => !kept.has(usableWords(item))),
  };
}

function undoOf(before: DurableDocument, after: DurableDocument): ItemsUndo | undefined {
  const items = listUndo(before.items, after.items, idOf);
  const gone = listUndo(before.gone ?? [], after.gone ?? [], hashOf);
  const [from, to] = [before.forgottenUpTo, after.forgottenUpTo];
  const upTo = from === to ? undefined : { before: from, after: to };
  return items.length + gone.length === 0 && upTo === undefined ? undefined : { items, gone, upTo };
}

/** Whether a change is as it left the document, was undone already, or something of it was changed since. */
export function stateOf(
  { items, forgottenUpTo }: DurableDocument,
  { items: changed, upTo }: ItemsUndo,
): 'made' | 'reverted' | 'overtaken' {
  const isMarkBefore = upTo === undefined || forgottenUpTo === upTo.before;
  // Where only messages were forgotten, the mark alone tells.
  if (changed.length === 0) return upTo !== undefined && isMarkBefore ? 'reverted' : 'made';
  const present = new Map(items.map((item) => [item.id, fingerprint(item)]));
  const isReverted = changed.every(({ key, before }) => present.get(key) === (before && fingerprint(before)));
  if (isReverted && isMarkBefore) return 'reverted';
  return changed.every(({ key, after }) => present.get(key) === after) ? 'made' : 'overtaken';
}

/** The document as before a change; the very same one unless it is as the change left it. */
export function reverted(document: DurableDocument, undo: ItemsUndo): DurableDocument {
  if (stateOf(document, undo) !== 'made') return document;
  const { upTo } = undo;
  const isMarked = upTo !== undefined && upTo.after === document.forgottenUpTo;
  const restored = {
    ...document,
    items: revertedList(document.items, undo.items, idOf),
    gone: document.gone && revertedList(document.gone, undo.gone, hashOf),
    forgottenUpTo: isMarked ? upTo.before : document.forgottenUpTo,
  };
  // What the bot noticed by itself and its owner does not want is not noticed again.
  const added = new Set(undo.items.flatMap(({ key, before }) => (before === undefined ? [key] : [])));
  const unwanted = document.items.filter(
    ({ id, source, status }) => added.has(id) && source.type !== 'manual' && status === 'active',
  );
  return withTombstones(restored, unwanted);
}

/**
 * How a later change is undone once this one was: it cannot go back to this one's mark. `undefined` where nothing
 * differs.
 */
export function afterUndoing({ upTo }: ItemsUndo, later: ItemsUndo): ItemsUndo | undefined {
  if (upTo === undefined || later.upTo === undefined || later.upTo.before !== upTo.after) return undefined;
  return { ...later, upTo: { ...later.upTo, before: upTo.before } };
}

function listUndo<T extends {}>(
  before: readonly T[],
  after: readonly T[],
  keyOf: (value: T) => string,
): ListUndo<T> {
  const previous = new Map(before.map((value, index) => [keyOf(value), { value, index }]));
  const changed = after.flatMap((value, index) => {
    const key = keyOf(value);
    const old = previous.get(key);
    previous.delete(key);
    if (old?.value === value) return [];
    const [is, was] = [fingerprint(value), old && fingerprint(old.value)];
    return is === was ? [] : [{ key, index: old?.index ?? index, before: old?.value, after: is }];
  });
  const removed = [...previous].map(([key, { value, index }]) => ({ key, index, before: value }));
  return [...removed, ...changed].toSorted((a, b) => a.index - b.index);
}

function revertedList<T>(list: readonly T[], undo: ListUndo<T>, keyOf: (value: T) => string): readonly T[] {
  const touched = new Set(undo.map(({ key }) => key));
  const values = list.filter((value) => !touched.has(keyOf(value)));
  for (const { before, index } of undo)
    if (before !== undefined) values.splice(Math.min(index, values.length), 0, before);
  return values;
}

/** What an item says, and where it may be used. */
function usableWords({ text, question, visibility }: DurableItem): string {
  return JSON.stringify([visibility, text, question]);
}

function idOf({ id }: DurableItem): string {
  return id;
}

/** Tells versions apart without keeping their words; the order of fields does not matter. */
function fingerprint(value: {}): string {
  // What is undefined is not there on disk either.
  const present = Object.entries(value).filter(([, field]) => field !== undefined);
  const fields = present.toSorted(([a], [b]) => (a < b ? -1 : 1));
  return hexDigits(JSON.stringify(fields), 16);
}
