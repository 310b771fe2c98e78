import { z } from 'zod';

import { unconditional, type Work, type Writes } from '../../core/writes.ts';
import type { Logger } from '../../core/logger.ts';
import type { Store } from '../../core/store.ts';
import type { UndoableChange, UndoablePart, UndoLog } from '../undo.ts';
import { readWithheld, type Withheld } from '../withheld.ts';
import {
  durableDocumentKind,
  durableKey,
  emptyDurableDocument,
  hexDigits,
  readDurable,
  writtenItemSchema,
  type DocumentChange,
  type DurableDocument,
  type DurableItem,
} from './document.ts';
import { hashOf, withBoundedPast, withTombstones } from './past.ts';
import { toldDocument } from './told.ts';

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

type ListUndo<T> = z.infer<ReturnType<typeof listUndoSchema<z.ZodType<T>>>>;

/** `undefined` for what undoes something else, or was edited by hand. */
export function readItemsUndo(part: unknown): ItemsUndo | undefined {
  return itemsUndoSchema.safeParse(part).data;
}

interface ChangedDocument<T> extends DocumentChange<T> {
  /** `undefined` where nothing changed. */
  readonly undo: ItemsUndo | undefined;
  /** Whether words or readers of an item are gone: no copy on disk may keep them [S7]. */
  readonly isLosing: boolean;
}

/** What became of undoing a change. */
export interface Undoing {
  readonly what: string;
  readonly isDone: boolean;
  /** The items as they were before the change, and are again; and as it had left them. */
  readonly before: readonly DurableItem[];
  readonly after: readonly DurableItem[];
}

export interface UndoingOptions {
  readonly store: Pick<Store, 'read' | 'update'>;
  readonly writes: Pick<Writes, 'run'>;
  readonly undo: Pick<UndoLog, 'noting' | 'list' | 'find' | 'all' | 'begin' | 'replace' | 'delete'>;
  /** Changes of notes, and what was forgotten, which are undone in the same order. Default: there are none. */
  readonly parts?: readonly UndoablePart[];
  readonly logger: Logger;
}

/**
 * Changes people's items on disk, and undoes that [K5], with changes of notes in the same order. Rejects with
 * `StoreError`.
 */
export function createUndoing({ store, writes, undo, parts = [], logger }: UndoingOptions) {
  /**
   * As part of a job of the person's queue. `operation` is pure, for the store may run it again after a conflict.
   * What it removes or narrows is erased from all copies [S7]. With `isOfAll` it sees what is withheld too, and copies
   * are looked at in any case. `noted` is what is noted of a change that can be undone.
   */
  async function change<T>(
    userId: string,
    operation: (document: DurableDocument) => DocumentChange<T>,
    {
      isOfAll = false,
      noted,
    }: { readonly isOfAll?: boolean; readonly noted?: { readonly what: string } } = {},
  ): Promise<{ readonly result: T; readonly undoId?: string | undefined }> {
    const before = await readDurable(store, userId);
    const withheld = isOfAll ? undefined : await readWithheld(store, userId);
    const planned = changeDocument(before, operation, withheld);
    const write = async (): Promise<T> => {
      let made = planned;
      await store.update(
        durableKey(userId),
        durableDocumentKind,
        (current = emptyDurableDocument) => {
          if (current !== before) made = changeDocument(current, operation, withheld);
          return made.document === emptyDurableDocument ? undefined : made.document;
        },
        { erase: () => isOfAll || made.isLosing },
      );
      return made.result;
    };
    return noted === undefined
      ? { result: await write() }
      : undo.noting({ userId, part: planned.undo, ...noted }, write);
  }

  async function erase<T>(
    userId: string,
    operation: (document: DurableDocument) => DocumentChange<T>,
  ): Promise<T> {
    return (await change(userId, operation, { isOfAll: true })).result;
  }

  /** Undoes a change, as part of a job of the person's queue; safe to repeat. */
  async function revert(undone: UndoableChange): Promise<void> {
    const { id, userId, part } = undone;
    const items = readItemsUndo(part);
    await undo.begin(undone);
    const others = (await undo.list(userId)).filter((other) => other.id !== id);
    if (items !== undefined) {
      await erase(userId, (document) => ({ document: reverted(document, items), result: undefined }));
      for (const other of others) {
        const later = readItemsUndo(other.part);
        const changed = later && afterUndoing(items, later);
        if (changed !== undefined) await undo.replace({ ...other, part: changed });
      }
    }
    for (const each of parts) await each.revert(undone);
    await undo.delete(userId, (each) => each.id === id);
  }

  async function stateOfChange(noted: UndoableChange) {
    const items = readItemsUndo(noted.part);
    if (items === undefined) {
      const states = await Promise.all(parts.map((each) => each.stateOf(noted)));
      return states.find((state) => state !== undefined);
    }
    return stateOf(await readDurable(store, noted.userId), items);
  }

  /** A process may have been killed between noting a change and making it: then there is nothing to undo. */
  async function deleteUnmade(noted: UndoableChange): Promise<void> {
    if ((await stateOfChange(noted)) === 'reverted')
      await undo.delete(noted.userId, ({ id }) => id === noted.id);
  }

  return {
    change,
    erase,

    /** Changes that would bring such an item back cannot be undone any more. */
    keepFromReturning: (userId: string, isGone: (item: DurableItem) => boolean): Promise<void> =>
      undo.delete(userId, ({ part }) =>
        (readItemsUndo(part)?.items ?? []).some(({ before }) => before !== undefined && isGone(before)),
      ),

    /** After a kill: finishes undoing a change, or deletes what was noted of one that was never made [K5]. */
    resume: ({ userId, id }: UndoableChange): Promise<void> =>
      writes.run(unconditional(userId), async () => {
        const noted = (await undo.all(userId)).find((each) => each.id === id);
        // Another process may have done it.
        if (noted === undefined) return;
        await (noted.isUndoing === true ? revert(noted) : deleteUnmade(noted));
      }),

    /**
     * Undoes a person's change, by default the newest [K5], in one job of their queue: `undefined` where there is
     * none or it is final, `isDone: false` where something of it was changed since.
     */
    undo: (work: Work, id?: string) =>
      writes.run(work, async (): Promise<Undoing | undefined> => {
        const { userId } = work;
        const newest = await undo.find(userId);
        if (newest !== undefined) await deleteUnmade(newest);
        const found = await undo.find(userId, id);
        if (found === undefined) return undefined;
        const changed = readItemsUndo(found.part)?.items ?? [];
        const keys = new Set(changed.map(({ key }) => key));
        const visible = async () =>
          toldDocument(await readDurable(store, userId), await readWithheld(store, userId)).document.items;
        const shown = (await visible()).filter(({ status }) => status === 'active');
        const after = shown.filter((item) => keys.has(item.id));
        const isDone = (await stateOfChange(found)) !== 'overtaken';
        if (isDone) await revert(found);
        logger.info('a change was undone', { userId, what: found.what, isDone });
        const ids = new Set([...keys, ...shown.map(({ id: each }) => each)]);
        const back = (await visible()).filter((item) => item.status === 'active' && !ids.has(item.id));
        const before = [...changed.flatMap((each) => each.before ?? []), ...back];
        return { what: found.what, isDone, before, after };
      }),
  };
}

/** Carries out a change of a document, its past bounded again [L3]. */
export function changeDocument<T>(
  before: DurableDocument,
  operation: (document: DurableDocument) => DocumentChange<T>,
  withheld?: Withheld,
): ChangedDocument<T> {
  const visible = toldDocument(before, withheld);
  const made = operation(visible.document);
  const document = withBoundedPast(visible.stored(made.document));
  const kept = new Set(document.items);
  const replaced = before.items.filter((item) => !kept.has(item));
  return {
    document,
    result: made.result,
    undo: undoOf(before, document),
    isLosing: isLosing(replaced, document.items),
  };
}

/** Whether any of what these items said, or where they might be used, is in no item any more. */
function isLosing(replaced: readonly DurableItem[], items: readonly DurableItem[]): boolean {
  if (replaced.length === 0) return false;
  const left = new Set(items.map(usableWords));
  return replaced.some((item) => !left.has(usableWords(item)));
}

function undoOf(before: DurableDocument, after: DurableDocument): ItemsUndo | undefined {
  const items = listUndo(before.items, after.items, idOf);
  const gone = listUndo(before.gone ?? [], after.gone ?? [], hashOf);
  const [from, to] = [before.forgottenUpTo, after.forgottenUpTo];
  const upTo = from === to ? undefined : { before: from, after: to };
  return items.length + gone.length === 0 && upTo === undefined ? undefined : { items, gone, upTo };
}

function stateOf(
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
function afterUndoing({ upTo }: ItemsUndo, later: ItemsUndo): ItemsUndo | undefined {
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

const idOf = ({ id }: DurableItem): string => id;

/** Tells versions apart without keeping their words; the order of fields does not matter, nor that an item was confirmed. */
function fingerprint(value: {}): string {
  // What is undefined is not there on disk either.
  const present = Object.entries(value).filter(
    ([name, field]) => field !== undefined && name !== 'updatedAt',
  );
  const fields = present.toSorted(([a], [b]) => (a < b ? -1 : 1));
  return hexDigits(JSON.stringify(fields), 16);
}
