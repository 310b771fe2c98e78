import type { KeyedQueue } from '../../core/keyed-queue.ts';
import type { Logger } from '../../core/logger.ts';
import type { Store } from '../../core/store.ts';
import type { ChangeLedger } from '../changes.ts';
import type { Cursors, UndoableChange, UndoablePart, UndoLog } from '../undo.ts';
import { afterUndoing, changeDocument, readItemsUndo, reverted, stateOf } from './document-changes.ts';
import {
  durableDocumentKind,
  durableKey,
  emptyDurableDocument,
  type DocumentChange,
  type DurableDocument,
  type DurableItem,
} from './document.ts';

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
  readonly writes: Pick<KeyedQueue, 'run' | 'begin'>;
  readonly undo: Pick<UndoLog, 'noting' | 'list' | 'find' | 'has' | 'begin' | 'replace' | 'delete'>;
  readonly changes: Pick<ChangeLedger, 'restore'>;
  /** Changes of notes, which are undone in the same order. Default: there are none. */
  readonly notes?: UndoablePart;
  /**
   * How far conversations were searched for items: nothing said before a forgetting is noticed, until that is undone.
   * Default: nothing is noticed.
   */
  readonly noticing?: {
    readonly cursors: (userId: string) => Promise<Cursors>;
    readonly rewind: (userId: string, cursors: Cursors) => Promise<void>;
  };
  readonly logger: Logger;
}

/**
 * Changes people's items on disk, and undoes that [K5], with changes of notes in the same order. Rejects with
 * `StoreError`.
 */
export function createUndoing({ store, writes, undo, changes, notes, noticing, logger }: UndoingOptions) {
  const read = (userId: string) => store.read(durableKey(userId), durableDocumentKind);

  /**
   * As part of a job of the person's queue. `operation` is pure, for the store may run it again after a conflict.
   * What it removes or narrows is erased from all copies [S7]; with `erases` they are looked at in any case. `noted`
   * is what is noted of a change that can be undone.
   */
  async function change<T>(
    userId: string,
    operation: (document: DurableDocument) => DocumentChange<T>,
    { erases = false, noted }: { readonly erases?: boolean; readonly noted?: { readonly what: string } } = {},
  ): Promise<{ readonly result: T; readonly undoId?: string | undefined }> {
    const before = await read(userId);
    const planned = changeDocument(before, operation);
    const write = async (): Promise<T> => {
      let made = planned;
      await store.update(
        durableKey(userId),
        durableDocumentKind,
        (current) => {
          made = current === before ? planned : changeDocument(current, operation);
          return made.document === emptyDurableDocument ? current : made.document;
        },
        { erase: () => erases || made.isLosing },
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
    return (await change(userId, operation, { erases: true })).result;
  }

  /** Undoes a change, as part of a job of the person's queue; safe to repeat. */
  async function revert(undone: UndoableChange): Promise<void> {
    const { id, userId, part, cursors = [] } = undone;
    const items = readItemsUndo(part);
    await undo.begin(undone);
    const others = (await undo.list(userId)).filter((other) => other.id !== id);
    const itemIds = items?.items.map(({ key }) => key);
    await changes.restore(undone, others, itemIds);
    if (items !== undefined) {
      await erase(userId, (document) => ({ document: reverted(document, items), result: undefined }));
      for (const other of others) {
        const later = readItemsUndo(other.part);
        const changed = later && afterUndoing(items, later);
        if (changed !== undefined) await undo.replace({ ...other, part: changed });
      }
    }
    await noticing?.rewind(userId, cursors);
    await notes?.revert(part);
    await undo.delete(userId, (each) => each.id === id);
  }

  async function stateOfChange({ userId, part }: UndoableChange) {
    const items = readItemsUndo(part);
    if (items === undefined) return notes?.stateOf(part);
    return stateOf((await read(userId)) ?? emptyDurableDocument, items);
  }

  /** A process may have been killed between noting a change and making it: then there is nothing to undo. */
  async function deleteUnmade(noted: UndoableChange): Promise<void> {
    if ((await stateOfChange(noted)) === 'reverted')
      await undo.delete(noted.userId, ({ id }) => id === noted.id);
  }

  return {
    change,
    erase,

    /**
     * Of items that their owner did not store themselves: changes that would bring such a one back cannot be undone
     * any more.
     */
    keepFromReturning: (userId: string, isGone: (item: DurableItem) => boolean): Promise<void> =>
      undo.delete(userId, ({ part }) =>
        (readItemsUndo(part)?.items ?? []).some(
          ({ before }) => before !== undefined && before.source.type !== 'manual' && isGone(before),
        ),
      ),

    /** After a kill: finishes undoing a change, or deletes what was noted of one that was never made [K5]. */
    resume: (noted: UndoableChange): Promise<void> =>
      writes.begin(() =>
        writes.run(noted.userId, async () => {
          // Another process may have done it.
          if (!(await undo.has(noted.userId, noted.id))) return;
          await (noted.isUndoing === true ? revert(noted) : deleteUnmade(noted));
        }),
      ),

    /**
     * Undoes a person's change, by default the newest [K5], in one job of their queue: `undefined` where there is
     * none or it is final, `isDone: false` where something of it was changed since.
     */
    undo: (userId: string, id?: string) =>
      writes.run(userId, async (): Promise<Undoing | undefined> => {
        const newest = await undo.find(userId);
        if (newest !== undefined) await deleteUnmade(newest);
        const found = await undo.find(userId, id);
        if (found === undefined) return undefined;
        const changed = readItemsUndo(found.part)?.items ?? [];
        const keys = new Set(changed.map(({ key }) => key));
        const after = ((await read(userId))?.items ?? []).filter((item) => keys.has(item.id));
        const isDone = (await stateOfChange(found)) !== 'overtaken';
        if (isDone) await revert(found);
        logger.info('a change was undone', { userId, what: found.what, isDone });
        return { what: found.what, isDone, before: changed.flatMap(({ before }) => before ?? []), after };
      }),
  };
}
