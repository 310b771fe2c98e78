import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';

import { limits } from '../../core/limits.ts';
import type { Logger } from '../../core/logger.ts';
import type { Store } from '../../core/store.ts';
import type { Clock } from '../../core/time.ts';
import { unconditional, type Work, type Writes } from '../../core/writes.ts';
import { undoForMs, type UndoableChange, type UndoablePart } from '../undo.ts';
import { markOf, readWithheld, withheld as withheldBy, type Withheld } from '../withheld.ts';
import {
  durableDocumentKind,
  durableKey,
  emptyDurableDocument,
  presentItem,
  proposedItems,
  readDurable,
  withItems,
  type DocumentChange,
  type DurableDocument,
  type DurableItem,
} from './document.ts';
import { withoutProposals } from './items.ts';
import { withBoundedPast, withoutOutgrown, withTombstones } from './past.ts';
import { toldDocument } from './told.ts';

/** What became of undoing a change. */
export interface Undoing {
  readonly what: string;
  readonly isDone: boolean;
  /** The items as they were before the change, and are again. */
  readonly before: readonly DurableItem[];
}

export interface UndoingOptions {
  readonly store: Pick<Store, 'read' | 'update'>;
  readonly writes: Pick<Writes, 'run'>;
  /** Changes of notes, and what was forgotten, which are undone in the same order. Default: there are none. */
  readonly parts?: readonly UndoablePart[];
  /** Has `expireItems` called for a person from a time on; rejects with `StoreError`. Default: somebody calls it anyway. */
  readonly expireAt?: (userId: string, time: Date) => Promise<void>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Changes people's items on disk, and undoes that [K5], with changes of other parts in the same order. An item that a
 * change touched keeps what it was for ten minutes, so nothing else has to know. Rejects with `StoreError`.
 */
export function createUndoing(options: UndoingOptions) {
  const { store, writes, parts = [], expireAt, clock, logger } = options;

  /**
   * As part of a job of the person's queue. `operation` is pure, for the store may run it again after a conflict. A
   * change with a name can be undone. What no version of an item says any more is erased from all copies [S7]; with
   * `isOfAll` it sees what is withheld too, and with `erases` copies are looked at in any case.
   */
  async function change<T>(
    userId: string,
    operation: (document: DurableDocument) => DocumentChange<T>,
    {
      isOfAll = false,
      erases = false,
      what,
    }: { readonly isOfAll?: boolean; readonly erases?: boolean; readonly what?: string } = {},
  ): Promise<{ readonly result: T; readonly undoId?: string | undefined }> {
    const now = clock();
    const id = randomUUID().slice(0, 8);
    const named = what === undefined ? undefined : { id, what, now };
    // First, so that a kill leaves nothing that never becomes final.
    if (named !== undefined) await expireAt?.(userId, new Date(now.getTime() + undoForMs));
    const withheld = isOfAll ? withheldBy([]) : await readWithheld(store, userId);
    let before = await readDurable(store, userId);
    let made = changeDocument(before, operation, { named, withheld });
    await store.update(
      durableKey(userId),
      durableDocumentKind,
      (current = emptyDurableDocument) => {
        if (current !== before) made = changeDocument(current, operation, { named, withheld });
        before = current;
        return made.document === emptyDurableDocument ? undefined : made.document;
      },
      { erase: () => erases || isLosing(before, made.document) },
    );
    return { result: made.result, undoId: made.isUndoable ? id : undefined };
  }

  const edit = (userId: string, make: (document: DurableDocument) => DurableDocument) =>
    change(userId, (document) => ({ document: make(document), result: undefined }), { isOfAll: true });

  async function erase<T>(
    userId: string,
    operation: (document: DurableDocument) => DocumentChange<T>,
  ): Promise<T> {
    return (await change(userId, operation, { isOfAll: true, erases: true })).result;
  }

  /** The active items as their owner may see them [F5]. */
  async function visibleOf(userId: string): Promise<readonly DurableItem[]> {
    const [document, withheld] = await Promise.all([readDurable(store, userId), readWithheld(store, userId)]);
    return toldDocument(document, withheld).document.items.filter(({ status }) => status === 'active');
  }

  const ofItems: UndoablePart = {
    list: async (userId) => changesIn(await readDurable(store, userId), clock()),
    /** Not where an item of it is withheld now, either. */
    async undo(userId, id) {
      const { hasItem } = await readWithheld(store, userId);
      const { items } = await readDurable(store, userId);
      const touched = items.filter((item) => changeOf(item, id) !== undefined);
      const isNewest = touched.every((item) => item.changes?.at(-1)?.id === id && !hasItem(markOf(item)));
      if (isNewest) await edit(userId, (document) => undone(document, id));
      return isNewest;
    },
  };

  /** All that can be undone, with what undoes it. */
  async function changesOf(userId: string) {
    const all = [ofItems, ...parts].map(async (part) =>
      (await part.list(userId)).map((found) => ({ ...found, part })),
    );
    return (await Promise.all(all)).flat();
  }

  return {
    change,
    erase,
    changesOf,

    /**
     * Deletes what can be undone no more, and proposals that nobody answered in time [K9] [S7]; safe to repeat, and to
     * call too early. Where it rejects it is to be called again.
     */
    async expireItems(this: void, userId: string): Promise<void> {
      await writes.run(unconditional(userId), async () => {
        const now = clock();
        await edit(userId, (document) => expired(document, now));
        const next = nextExpiry(await readDurable(store, userId), now);
        if (next !== undefined) await expireAt?.(userId, next);
      });
    },

    /**
     * Undoes a person's change, by default the newest [K5], in one job of their queue: `undefined` where there is
     * none or it is final, `isDone: false` where something of it was changed since.
     */
    undo: (work: Work, id?: string) =>
      writes.run(work, async (): Promise<Undoing | undefined> => {
        const { userId } = work;
        const all = await changesOf(userId);
        const found = id === undefined ? newestOf(all) : all.find((each) => each.id === id);
        if (found === undefined) return undefined;
        const shown = new Set((await visibleOf(userId)).map((item) => item.id));
        const touched = (await readDurable(store, userId)).items;
        const { what, part } = found;
        const isDone = await part.undo(userId, found.id);
        logger.info('a change was undone', { userId, what, isDone });
        const back = (await visibleOf(userId)).filter((item) => !shown.has(item.id));
        const earlier = touched.flatMap((item) => changeOf(item, found.id)?.before ?? []);
        return { what, isDone, before: part === ofItems ? earlier : back };
      }),
  };
}

/** The newest, the person's own first. */
function newestOf<Change extends UndoableChange>(all: readonly Change[]): Change | undefined {
  const byTime = all.toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at));
  return byTime.findLast(({ isBackground }) => isBackground !== true) ?? byTime.at(-1);
}

/**
 * Carries out a change of a document, its past bounded again [L3]; with a name, it can be undone. What is withheld it
 * does not see, and that stays.
 */
export function changeDocument<T>(
  before: DurableDocument,
  operation: (document: DurableDocument) => DocumentChange<T>,
  {
    named,
    withheld,
  }: {
    readonly named?: { readonly id: string; readonly what: string; readonly now: Date } | undefined;
    readonly withheld?: Withheld;
  } = {},
) {
  const visible = toldDocument(before, withheld);
  const { document, result } = operation(visible.document);
  const made = visible.stored(document);
  if (named === undefined) return { document: withBoundedPast(made), result, isUndoable: false };
  const after = withoutOutgrown(made);
  const { id, what, now } = named;
  const kept = withFormer(before, after, { id, what, at: now.toISOString() });
  return { document: kept, result, isUndoable: kept !== after };
}

/** Each item that a change touched keeps what it was; one that is gone is kept, unseen, until that is final. */
function withFormer(
  before: DurableDocument,
  after: DurableDocument,
  change: UndoableChange,
): DurableDocument {
  const left = new Map(after.items.map((item) => [item.id, item]));
  const known = new Set(before.items.map(({ id }) => id));
  const added = after.items.filter(({ id }) => !known.has(id));
  // What is only said again, and nothing else, cannot be undone.
  if (added.length === 0 && before.items.every((old) => isSame(old, left.get(old.id)))) return after;
  const keeping = (item: DurableItem, old?: DurableItem): DurableItem => {
    const entry = { ...change, before: old && presentItem(old) };
    return { ...item, changes: [...(old?.changes ?? []), entry] };
  };
  const kept = before.items.map((old) => {
    const item = left.get(old.id) ?? { ...old, status: 'deprecated', supersededBy: undefined };
    return item === old ? old : keeping(item, old);
  });
  return withBoundedChanges({ ...after, items: [...kept, ...added.map((item) => keeping(item))] });
}

/** Whether they say the same of the same, whenever that was confirmed. */
function isSame(one: DurableItem, other: DurableItem | undefined): boolean {
  return one === other || (other !== undefined && isDeepStrictEqual(comparable(one), comparable(other)));
}

/** What is undefined is not there on disk either. */
function comparable(item: DurableItem): unknown {
  return JSON.parse(JSON.stringify({ ...item, updatedAt: undefined, changes: undefined }));
}

function changeOf({ changes }: DurableItem, id: string) {
  return changes?.find((each) => each.id === id);
}

/** The items as before a change which is the newest of each that it touched. */
export function undone(document: DurableDocument, id: string): DurableDocument {
  const unwanted: DurableItem[] = [];
  const items = document.items.flatMap((item) => {
    const { changes = [], source, status } = item;
    const last = changes.at(-1);
    if (last?.id !== id) return [item];
    if (last.before !== undefined) return [{ ...last.before, changes: someOf(changes.slice(0, -1)) }];
    // What the bot noticed by itself and its owner does not want is not noticed again.
    if (source.type !== 'manual' && status === 'active') unwanted.push(item);
    return [];
  });
  return withTombstones({ ...document, items }, unwanted);
}

function someOf<T>(list: readonly T[]): readonly T[] | undefined {
  return list.length === 0 ? undefined : list;
}

/** The changes of a person's items that can be undone, oldest first. */
export function changesIn({ items }: DurableDocument, now: Date): readonly UndoableChange[] {
  const all = items.flatMap(({ changes = [] }) => changes.map(({ id, what, at }) => ({ id, what, at })));
  return [...new Map(all.map((each) => [each.id, each])).values()]
    .filter((each) => !isOver(each, now))
    .toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at));
}

function isOver({ at }: Pick<UndoableChange, 'at'>, now: Date): boolean {
  return Date.parse(at) + undoForMs <= now.getTime();
}

/** Only the newest changes of a person can be undone [L3]. */
function withBoundedChanges(document: DurableDocument): DurableDocument {
  const old = new Set(
    changesIn(document, new Date(0))
      .slice(0, -limits.undoableChanges)
      .map(({ id }) => id),
  );
  return old.size === 0 ? document : withFinal(document, ({ id }) => old.has(id));
}

/** The changes that are picked cannot be undone any more, nor those before them of the same items. */
export function withFinal(
  document: DurableDocument,
  isFinal: (change: Pick<UndoableChange, 'id' | 'at'>) => boolean,
): DurableDocument {
  const replaced = document.items.flatMap((item) => {
    const { changes = [] } = item;
    const last = changes.findLastIndex(isFinal);
    return last === -1 ? [] : [[item, { ...item, changes: someOf(changes.slice(last + 1)) }] as const];
  });
  return withItems(document, { replaced });
}

/** Changes that would bring back an item which is gone are final, on all that they touched. */
export function withoutReturning(
  document: DurableDocument,
  isGone: (item: DurableItem) => boolean,
): DurableDocument {
  const all = document.items.flatMap(({ changes = [] }) => changes);
  const ids = new Set(all.flatMap(({ id, before }) => (before !== undefined && isGone(before) ? [id] : [])));
  return withFinal(document, ({ id }) => ids.has(id));
}

/** Without what can be undone no more, and proposals whose time has passed. */
function expired(document: DurableDocument, now: Date): DurableDocument {
  const left = withFinal(document, (each) => isOver(each, now));
  return withoutProposals(left, ({ goesAt = '' }) => !(Date.parse(goesAt) > now.getTime()));
}

/** When something of a person's becomes final next. */
function nextExpiry(document: DurableDocument, now: Date): Date | undefined {
  const times = [
    ...document.items.flatMap(({ changes = [] }) => changes).map(({ at }) => Date.parse(at) + undoForMs),
    ...proposedItems(document.items, now).map(({ goesAt = '' }) => Date.parse(goesAt)),
  ].filter((time) => time > now.getTime());
  return times.length === 0 ? undefined : new Date(Math.min(...times));
}

/** Whether what an item said, or where it might be used, is in the document no more: then no copy may keep it either [S7]. */
function isLosing(before: DurableDocument, after: DurableDocument): boolean {
  const kept = new Set(versionsIn(after));
  return versionsIn(before).some((version) => !kept.has(version));
}

function versionsIn({ items }: DurableDocument): readonly string[] {
  return items.flatMap(({ status, visibility, text, question, changes = [] }) => [
    JSON.stringify([status, visibility, text, question]),
    ...changes.flatMap(({ id, before }) => (before === undefined ? [] : JSON.stringify([id, before]))),
  ]);
}
