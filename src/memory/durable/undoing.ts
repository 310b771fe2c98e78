import type { KeyedQueue } from '../../core/keyed-queue.ts';
import type { Logger } from '../../core/logger.ts';
import type { ChangeLedger } from '../changes.ts';
import type { Cursors, UndoableChange, UndoablePart, UndoLog } from '../undo.ts';
import type { DocumentChange, DurableDocument, DurableItem } from './document.ts';
import { afterUndoing, isUnmade, readInverse, reverted, stateOf, type Undoing } from './inverse.ts';

export interface UndoingOptions {
  readonly writes: Pick<KeyedQueue, 'run' | 'begin'>;
  /** Where changes are noted that can be undone. */
  readonly undo: Pick<UndoLog, 'list' | 'find' | 'has' | 'begin' | 'replace' | 'drop' | 'erase'>;
  readonly changes: Pick<ChangeLedger, 'restore'>;
  /** Changes of notes, which are undone in the same order. Default: there are none. */
  readonly notes?: UndoablePart;
  /**
   * How far what a person said was looked at for items, by channel: while something is forgotten, nothing is noticed of what was said before, and it is looked
   * at again when that is undone. Default: nothing is noticed.
   */
  readonly noticing?: {
    readonly cursors: (userId: string) => Promise<Cursors>;
    readonly rewind: (userId: string, cursors: Cursors) => Promise<void>;
  };
  readonly logger: Logger;
}

/** How a person's items are read and changed. */
interface ItemsFile {
  readonly documentOf: (userId: string) => Promise<DurableDocument>;
  /** As part of a job of the person's queue. */
  readonly applyAndErase: <T>(
    userId: string,
    operation: (document: DurableDocument) => DocumentChange<T>,
  ) => Promise<T>;
}

/** Takes back what changes of items, and of notes in the same order, did [K5]. Rejects with `StoreError`. */
export function createUndoing(options: UndoingOptions, { documentOf, applyAndErase }: ItemsFile) {
  const { writes, logger } = options;

  /** What brings back such an item, which its owner did not store themselves, can be undone no more. */
  function keepFromReturning(userId: string, isGone: (item: DurableItem) => boolean): Promise<void> {
    return options.undo.erase(userId, ({ part }) =>
      (readInverse(part)?.items ?? []).some(
        ({ before }) => before !== undefined && before.source.type !== 'manual' && isGone(before),
      ),
    );
  }

  /** Takes back what a change did, as part of a job of the person's queue; safe to repeat. */
  async function takeBack(change: UndoableChange): Promise<void> {
    const { id, userId, part, cursors = [] } = change;
    const inverse = readInverse(part);
    await options.undo.begin(change);
    const others = (await options.undo.list(userId)).filter((other) => other.id !== id);
    await options.changes.restore(
      change,
      others,
      inverse?.items.map((item) => item.id),
    );
    if (inverse !== undefined) {
      await applyAndErase(userId, (current) => reverted(current, inverse));
      for (const other of await options.undo.list(userId)) {
        const later = readInverse(other.part);
        const changed = later && other.id !== id ? afterUndoing(inverse, later) : undefined;
        if (changed !== undefined) await options.undo.replace({ ...other, part: changed });
      }
    }
    await options.noticing?.rewind(userId, cursors);
    await options.notes?.revert(part);
    await options.undo.drop(userId, id);
  }

  /** A change that was noted and never made can be undone by nothing. */
  async function dropUnmade({ id, userId, part }: UndoableChange): Promise<void> {
    const isNever =
      isUnmade(await documentOf(userId), readInverse(part)) ||
      (await options.notes?.stateOf(part)) === 'reverted';
    if (isNever) await options.undo.drop(userId, id);
  }

  return {
    keepFromReturning,

    /** After a kill: what was begun to be undone is, and what was never made can be undone by nothing [K5]. */
    settle: (change: UndoableChange): Promise<void> =>
      writes.begin(() =>
        writes.run(change.userId, async () => {
          // Another process may have been at it.
          if (!(await options.undo.has(change.userId, change.id))) return;
          await (change.isUndoing === true ? takeBack(change) : dropUnmade(change));
        }),
      ),

    /**
     * Undoes a change [K5], or the newest one of a person, in one job of their queue: `undefined` where there is none or it is final,
     * `isDone: false` where something of it was changed since. `items` are those that it brought back, or took.
     */
    undo: (userId: string, id?: string) =>
      writes.run(userId, async (): Promise<Undoing | undefined> => {
        // A process may have been killed before it made the change.
        const newest = await options.undo.find(userId);
        if (newest !== undefined) await dropUnmade(newest);
        const change = await options.undo.find(userId, id);
        if (change === undefined) return undefined;
        const inverse = readInverse(change.part);
        const before = inverse?.items.flatMap((each) => each.before ?? []) ?? [];
        const document = await documentOf(userId);
        const state = inverse ? stateOf(document, inverse) : await options.notes?.stateOf(change.part);
        const isDone = state !== 'overtaken';
        if (isDone) await takeBack(change);
        logger.info('a change was undone', { userId, what: change.what, isDone });
        const touched = new Set(inverse?.items.map((each) => each.id));
        const after = document.items.filter((item) => touched.has(item.id));
        return { what: change.what, isDone, before, after };
      }),
  };
}
