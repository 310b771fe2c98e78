import type { Store } from '../../core/store.ts';
import type { UndoableChange, UndoLog } from '../undo.ts';
import {
  durableDocumentKind,
  durableKey,
  emptyDurableDocument,
  type DocumentChange,
  type DurableDocument,
  type DurableItem,
} from './document.ts';
import { inverseOf } from './inverse.ts';
import { indexOf, type ItemIndex } from './item-index.ts';
import { outgrownItems, withBoundedPast } from './past.ts';

/** What is noted of a change besides how it is undone. */
type Undoable = Omit<UndoableChange, 'id' | 'at' | 'userId' | 'part'>;

/** Changes to people's documents, and notes of how they are undone. */
export function createDocumentChanges({
  store,
  undo: undoLog,
}: {
  readonly store: Pick<Store, 'read' | 'update'>;
  readonly undo: Pick<UndoLog, 'note' | 'drop'>;
}) {
  /**
   * One serialised change, after which the past is bounded again [L3]; `operation` is pure, for the store may run it again after a conflict. What it
   * removes, narrows or pushes out is erased from the store's copies too, so that none gives it back after damage [S7]; they are looked at in any case
   * where it `erases`. Where it can be undone, how is noted before it is made; `undoId` is what it can be undone by.
   */
  async function apply<T>(
    userId: string,
    operation: (document: DurableDocument) => DocumentChange<T>,
    { erases = false, undo }: { readonly erases?: boolean; readonly undo?: Undoable } = {},
  ): Promise<{ readonly result: T; readonly undoId: string | undefined }> {
    const key = durableKey(userId);
    const change = lastOf((current: DurableDocument | undefined) => bounded(operation, current));
    const undoId = undo && (await noteUndo(userId, undo, await store.read(key, durableDocumentKind), change));
    try {
      await store.update(
        key,
        durableDocumentKind,
        (current) => {
          const { made } = change(current);
          return made === (current ?? emptyDurableDocument) ? current : made;
        },
        { erase: () => erases || change.last().isLosing },
      );
      return { result: change.last().result, undoId };
    } catch (error) {
      return giveUp(userId, undoId, error);
    }
  }

  /** Resolves with the change's id; `undefined` where there will be no change. */
  async function noteUndo(
    userId: string,
    undo: Undoable,
    current: DurableDocument | undefined,
    change: (current: DurableDocument | undefined) => { readonly made: DurableDocument },
  ): Promise<string | undefined> {
    const part = inverseOf(current ?? emptyDurableDocument, change(current).made);
    if (part === undefined && (undo.messages ?? []).length === 0) return undefined;
    return undoLog.note({ userId, part, ...undo });
  }

  /** The change was not made, and so can be undone by nothing. */
  async function giveUp(userId: string, undoId: string | undefined, error: unknown): Promise<never> {
    if (undoId !== undefined) await undoLog.drop(userId, undoId).catch(() => undefined);
    throw error;
  }

  return { apply, noteUndo, giveUp };
}

interface Bounded<T> {
  readonly made: DurableDocument;
  readonly result: T;
  /** Words or readers of an item go. */
  readonly isLosing: boolean;
}

/** What a change makes of a document, its past bounded again [L3]. */
export function bounded<T>(
  operation: (document: DurableDocument) => DocumentChange<T>,
  current: DurableDocument | undefined,
): Bounded<T> {
  const { document, result, gone } = operation(current ?? emptyDurableDocument);
  const outgrown = outgrownItems(document);
  const made = withBoundedPast(document, outgrown);
  const index = indexOf(made.items);
  return { made, result, isLosing: [...gone, ...outgrown].some((item) => !says(index, item)) };
}

/** A function that remembers its last result, and gives it again for the very same document. */
export function lastOf<T>(make: (current: DurableDocument | undefined) => T) {
  let known: { readonly current: DurableDocument | undefined; readonly made: T } | undefined;
  const find = (current: DurableDocument | undefined): T => {
    if (known === undefined || known.current !== current) known = { current, made: make(current) };
    return known.made;
  };
  return Object.assign(find, {
    last(): T {
      if (known === undefined) throw new Error('The store did not run the change');
      return known.made;
    },
  });
}

/** Whether a document says the same, to be used in the same places. */
function says(index: ItemIndex, { text, visibility }: DurableItem): boolean {
  return index.withText(text).some((item) => item.text === text && item.visibility === visibility);
}
