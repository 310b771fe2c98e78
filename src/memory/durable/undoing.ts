import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';

import { limits } from '../../core/limits.ts';
import type { Logger } from '../../core/logger.ts';
import type { Store } from '../../core/store.ts';
import type { Clock } from '../../core/time.ts';
import { unconditional, type Work, type Writes } from '../../core/writes.ts';
import { undoForMs, type UndoableChange, type UndoablePart } from '../undo.ts';
import { markOf, readWithheld, type Withheld } from '../withheld.ts';
import {
  durableDocumentKind,
  durableKey,
  emptyDurableDocument,
  laterSnowflake,
  proposedItems,
  readDurable,
  type DocumentChange,
  type DurableDocument,
  type DurableItem,
  type ItemChange,
} from './document.ts';
import { forgottenItem, withBoundedPast, withoutProposals, withTombstones } from './items.ts';

/** What became of undoing a change. */
export interface Undoing {
  readonly what: string;
  readonly isDone: boolean;
}

export interface UndoingOptions {
  readonly store: Pick<Store, 'read' | 'update'>;
  readonly writes: Pick<Writes, 'run'>;
  /** Changes of notes, and what was forgotten, which are undone in the same order. Default: there are none. */
  readonly parts?: readonly UndoablePart[];
  /** Has `expireItems` called for a person from a time on; rejects with `StoreError`. Default: somebody calls it anyway. */
  readonly expireAt?: (userId: string, time: Date) => Promise<void>;
  /** After each undoing, outside of the person's queue. May reject with `StoreError`. */
  readonly undone?: (userId: string) => Promise<void>;
  readonly clock: Clock;
  readonly logger: Logger;
}

interface Made<T> extends DocumentChange<T> {
  readonly undoId?: string | undefined;
}

/**
 * Changes people's items on disk, and undoes that [K5], with changes of other parts in the same order. For ten minutes
 * the document has what a change replaced beside the items. Rejects with `StoreError`.
 */
export function createUndoing(options: UndoingOptions) {
  const { store, writes, parts = [], expireAt, clock, logger } = options;

  /**
   * `make` is pure, for the store may run it again after a conflict. What no version of an item says any more is erased
   * from all copies [S7]; with `erases` they are looked at in any case.
   */
  async function write<T>(
    userId: string,
    make: (document: DurableDocument) => Made<T>,
    erases = false,
  ): Promise<Made<T>> {
    let before = await readDurable(store, userId);
    let made = make(before);
    await store.update(
      durableKey(userId),
      durableDocumentKind,
      (current = emptyDurableDocument) => {
        if (current !== before) made = make(current);
        before = current;
        return made.document === emptyDurableDocument ? undefined : made.document;
      },
      { erase: () => erases || isLosing(before, made.document) },
    );
    return made;
  }

  /** As part of a job of the person's queue, on what they may see [F5]. A change with a name can be undone. */
  async function change<T>(
    userId: string,
    operation: (document: DurableDocument) => DocumentChange<T>,
    what?: string,
  ): Promise<Made<T>> {
    const now = clock();
    const named =
      what === undefined ? undefined : { id: randomUUID().slice(0, 8), what, at: now.toISOString() };
    // First, so that a kill leaves nothing that never becomes final.
    if (named !== undefined) await expireAt?.(userId, new Date(now.getTime() + undoForMs));
    const withheld = await readWithheld(store, userId);
    return write(userId, (before) => {
      const visible = toldDocument(before, withheld);
      const { document, result } = operation(visible.document);
      const after = visible.stored(document);
      if (named === undefined) return { document: settled(before, after), result };
      const kept = withFormer(before, after, named);
      return { document: kept, result, undoId: kept === after ? undefined : named.id };
    });
  }

  /** The same for good, on all that there is. */
  async function changeForGood(
    userId: string,
    operation: (document: DurableDocument) => DurableDocument,
    erases = false,
  ): Promise<void> {
    const make = (before: DurableDocument) => settled(before, operation(before));
    await write(userId, (before) => ({ document: make(before), result: undefined }), erases);
  }

  /** The document as its owner may see it [F5]. */
  async function visibleTo(userId: string): Promise<DurableDocument> {
    const [document, withheld] = await Promise.all([readDurable(store, userId), readWithheld(store, userId)]);
    return toldDocument(document, withheld).document;
  }

  const ofItems: UndoablePart = {
    list: async (userId) => undoableIn(await readDurable(store, userId), clock()),
    /** Not where an item of it is withheld now, either. */
    async undo(userId, id) {
      const { hasItem } = await readWithheld(store, userId);
      const { items, changes = [] } = await readDurable(store, userId);
      const [found, ...later] = changes.slice(changes.findIndex((each) => each.id === id));
      const touched = new Set(found?.items.map((item) => item.id));
      const isNewest =
        !later.some((each) => each.items.some((item) => touched.has(item.id))) &&
        !items.some((item) => touched.has(item.id) && hasItem(markOf(item)));
      if (isNewest) await changeForGood(userId, (document) => undone(document, id));
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
    changeForGood,
    visibleTo,
    changesOf,

    /**
     * Deletes what can be undone no more, and proposals that nobody answered in time [K9] [S7]; safe to repeat, and to
     * call too early. Where it rejects it is to be called again.
     */
    async expireItems(this: void, userId: string): Promise<void> {
      await writes.run(unconditional(userId), async () => {
        const now = clock();
        await changeForGood(userId, (document) => expired(document, now));
        const next = nextExpiry(await readDurable(store, userId), now);
        if (next !== undefined) await expireAt?.(userId, next);
      });
    },

    /**
     * Undoes a person's change, by default the newest [K5], in one job of their queue: `undefined` where there is
     * none or it is final, `isDone: false` where something of it was changed since.
     */
    async undo(this: void, work: Work, id?: string) {
      const { userId } = work;
      const undoing = await writes.run(work, async (): Promise<Undoing | undefined> => {
        const all = await changesOf(userId);
        const found = id === undefined ? newestOf(all) : all.find((each) => each.id === id);
        if (found === undefined) return undefined;
        const { what, part } = found;
        const isDone = await part.undo(userId, found.id);
        logger.info('a change was undone', { userId, what, isDone });
        return { what, isDone };
      });
      if (undoing?.isDone === true) await options.undone?.(userId);
      return undoing;
    },
  };
}

/** The newest, the person's own first. */
function newestOf<Change extends UndoableChange>(all: readonly Change[]): Change | undefined {
  const byTime = all.toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at));
  return byTime.findLast(({ isBackground }) => isBackground !== true) ?? byTime.at(-1);
}

/**
 * A document as its owner may see it while something is withheld: as if that were forgotten for good. `stored` is what
 * is to be stored of it once it was changed: what is withheld stays as it is, unless it is said again.
 */
function toldDocument(
  document: DurableDocument,
  withheld: Withheld,
): { readonly document: DurableDocument; stored(changed: DurableDocument): DurableDocument } {
  if (withheld.records.length === 0) return { document, stored: (changed) => changed };
  const originals = new Map<DurableItem, DurableItem>();
  const items = document.items.map((item) => {
    if (!withheld.hasItem(markOf(item))) return item;
    const form = forgottenItem(item, new Date(item.updatedAt));
    originals.set(form, item);
    return form;
  });
  const commands = withheld.records.flatMap(({ change, items: marks }) =>
    change.kind === 'forgotten' && marks.length > 0 ? change.commandId : [],
  );
  const forgottenUpTo = laterSnowflake(document.forgottenUpTo, ...commands);
  const visible = { ...document, items, forgottenUpTo };
  const byId = new Map(Array.from(originals.values(), (item) => [item.id, item]));

  function stored(item: DurableItem): DurableItem {
    const original = originals.get(item);
    if (original !== undefined) return original;
    const before = byId.get(item.id);
    // Said again just as it was, it would go on being withheld.
    return before !== undefined && markOf(before) === markOf(item)
      ? { ...item, updatedAt: new Date(Date.parse(item.updatedAt) + 1).toISOString() }
      : item;
  }

  return {
    document: visible,
    stored: (changed) =>
      changed === visible
        ? document
        : {
            ...changed,
            items: changed.items.map(stored),
            forgottenUpTo:
              changed.forgottenUpTo === visible.forgottenUpTo
                ? document.forgottenUpTo
                : changed.forgottenUpTo,
          },
  };
}

/**
 * With what each item was that a change touched; one that is gone is kept, unseen, until that is final. The very same
 * document where there is nothing to undo.
 */
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
  const kept = before.items.map(
    (old): DurableItem => left.get(old.id) ?? { ...old, status: 'deprecated', supersededBy: undefined },
  );
  const touched = before.items.flatMap((old) =>
    left.get(old.id) === old ? [] : [{ id: old.id, before: old }],
  );
  const items = [...touched, ...added.map(({ id }) => ({ id }))];
  const changes = [...(after.changes ?? []), { ...change, items }].slice(-limits.undoableChanges);
  return { ...after, items: [...kept, ...added], changes };
}

/** Whether they say the same of the same, whenever that was confirmed. */
function isSame(one: DurableItem, other: DurableItem | undefined): boolean {
  return one === other || (other !== undefined && isDeepStrictEqual(comparable(one), comparable(other)));
}

/** What is undefined is not there on disk either. */
function comparable(item: DurableItem): unknown {
  return JSON.parse(JSON.stringify({ ...item, updatedAt: undefined }));
}

/** The items as before a change which is the newest of each that it touched. */
function undone(document: DurableDocument, id: string): DurableDocument {
  const { changes = [] } = document;
  const touched = new Map(changes.find((each) => each.id === id)?.items.map((item) => [item.id, item]));
  const unwanted: DurableItem[] = [];
  const items = document.items.flatMap((item) => {
    const found = touched.get(item.id);
    if (found === undefined) return [item];
    if (found.before !== undefined) return [found.before];
    // What the bot noticed by itself and its owner does not want is not noticed again.
    if (item.source.type !== 'manual' && item.status === 'active') unwanted.push(item);
    return [];
  });
  const left = changes.filter((each) => each.id !== id);
  return withTombstones({ ...document, items, changes: someOf(left) }, unwanted);
}

function someOf<T>(list: readonly T[]): readonly T[] | undefined {
  return list.length === 0 ? undefined : list;
}

/** The changes of a person's items that can be undone, oldest first. */
function undoableIn({ changes = [] }: DurableDocument, now: Date): readonly UndoableChange[] {
  return changes.flatMap(({ id, what, at }) => (isOver({ at }, now) ? [] : [{ id, what, at }]));
}

function isOver({ at }: Pick<UndoableChange, 'at'>, now: Date): boolean {
  return Date.parse(at) + undoForMs <= now.getTime();
}

/** The changes that are picked cannot be undone any more, nor those before them of the same items. */
export function withFinal(
  document: DurableDocument,
  isFinal: (change: ItemChange) => boolean,
): DurableDocument {
  const { changes = [] } = document;
  const touched = new Set<string>();
  const left = changes.toReversed().filter((change) => {
    const ids = change.items.map(({ id }) => id);
    if (!isFinal(change) && !ids.some((id) => touched.has(id))) return true;
    for (const id of ids) touched.add(id);
    return false;
  });
  return left.length === changes.length ? document : { ...document, changes: someOf(left.toReversed()) };
}

/** Changes that would bring back an item which is gone are final, on all that they touched. */
export function withoutReturning(
  document: DurableDocument,
  isGone: (item: DurableItem) => boolean,
): DurableDocument {
  return withFinal(document, ({ items }) =>
    items.some(({ before }) => before !== undefined && isGone(before)),
  );
}

/** After a change for good: what it took is brought back by nothing, and the past of the rest is bounded again [L3]. */
function settled(before: DurableDocument, after: DurableDocument): DurableDocument {
  const left = new Set(after.items.map(({ id }) => id));
  const gone = new Set(before.items.flatMap(({ id }) => (left.has(id) ? [] : id)));
  if (gone.size === 0) return withBoundedPast(after);
  const changes = after.changes?.flatMap((change) => {
    const items = change.items.filter(({ id }) => !gone.has(id));
    return items.length === 0 ? [] : [{ ...change, items }];
  });
  return withBoundedPast({ ...after, changes: someOf(changes ?? []) });
}

/** Without what can be undone no more, and proposals whose time has passed. */
function expired(document: DurableDocument, now: Date): DurableDocument {
  const left = withFinal(document, (each) => isOver(each, now));
  return withoutProposals(left, ({ goesAt = '' }) => !(Date.parse(goesAt) > now.getTime()));
}

/** When something of a person's becomes final next. */
function nextExpiry({ items, changes = [] }: DurableDocument, now: Date): Date | undefined {
  const times = [
    ...changes.map(({ at }) => Date.parse(at) + undoForMs),
    ...proposedItems(items, now).map(({ goesAt = '' }) => Date.parse(goesAt)),
  ].filter((time) => time > now.getTime());
  return times.length === 0 ? undefined : new Date(Math.min(...times));
}

/** Whether what an item said, or where it might be used, is in the document no more: then no copy may keep it either [S7]. */
function isLosing(before: DurableDocument, after: DurableDocument): boolean {
  const kept = new Set(versionsIn(after));
  return versionsIn(before).some((version) => !kept.has(version));
}

function versionsIn({ items, changes = [] }: DurableDocument): readonly string[] {
  return [...items, ...changes.flatMap((change) => change.items.flatMap((item) => item.before ?? []))].map(
    ({ status, visibility, text, question }) => JSON.stringify([status, visibility, text, question]),
  );
}
