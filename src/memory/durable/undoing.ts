import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';

import { limits } from '../../core/limits.ts';
import type { Logger } from '../../core/logger.ts';
import type { Store } from '../../core/store.ts';
import type { Clock } from '../../core/time.ts';
import { unconditional, type Work, type Writes } from '../../core/writes.ts';
import type { ChangeLedger } from '../changes.ts';
import { undoForMs, type Cursors, type UndoableChange, type UndoablePart } from '../undo.ts';
import {
  durableDocumentKind,
  durableKey,
  emptyDurableDocument,
  laterSnowflake,
  marksOf,
  presentItem,
  proposedItems,
  readDurable,
  undated,
  withItems,
  type DocumentChange,
  type DurableDocument,
  type DurableItem,
  type ForgettingRecord,
} from './document.ts';
import { withoutProposals } from './items.ts';
import { withBoundedPast, withoutOutgrown, withTombstones } from './past.ts';

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
  readonly changes: Pick<ChangeLedger, 'restore' | 'deleteForgotten'>;
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
  /** Has `expireItems` called for a person from a time on; rejects with `StoreError`. Default: somebody calls it anyway. */
  readonly expireAt?: (userId: string, time: Date) => Promise<void>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Changes people's items on disk, and undoes that [K5], with changes of notes in the same order. An item that a change
 * touched keeps what it was for ten minutes, so nothing else has to know. Rejects with `StoreError`.
 */
export function createUndoing(options: UndoingOptions) {
  const { store, writes, changes, notes, noticing, expireAt, clock, logger } = options;

  /**
   * As part of a job of the person's queue. `operation` is pure, for the store may run it again after a conflict. A
   * change with a name can be undone. What no version of an item says any more is erased from all copies [S7]; with
   * `erases` they are looked at in any case.
   */
  async function change<T>(
    userId: string,
    operation: (document: DurableDocument) => DocumentChange<T>,
    {
      erases = false,
      what,
      id = randomUUID().slice(0, 8),
    }: { readonly erases?: boolean; readonly what?: string; readonly id?: string } = {},
  ): Promise<{ readonly result: T; readonly undoId?: string | undefined }> {
    const now = clock();
    const named = what === undefined ? undefined : { id, what, now };
    // First, so that a kill leaves nothing that never becomes final.
    if (named !== undefined) await expireAt?.(userId, new Date(now.getTime() + undoForMs));
    let before = await readDurable(store, userId);
    let made = changeDocument(before, operation, named);
    await store.update(
      durableKey(userId),
      durableDocumentKind,
      (current = emptyDurableDocument) => {
        if (current !== before) made = changeDocument(current, operation, named);
        before = current;
        return made.document === emptyDurableDocument ? undefined : made.document;
      },
      { erase: () => erases || isLosing(before, made.document) },
    );
    // What was made final is deleted at once.
    if (made.document.forgettings?.some((each) => isOver(each, now)) === true) await expireAt?.(userId, now);
    return { result: made.result, undoId: made.isUndoable ? id : undefined };
  }

  const edit = (userId: string, make: (document: DurableDocument) => DurableDocument) =>
    change(userId, (document) => ({ document: make(document), result: undefined }));

  async function erase<T>(
    userId: string,
    operation: (document: DurableDocument) => DocumentChange<T>,
  ): Promise<T> {
    return (await change(userId, operation, { erases: true })).result;
  }

  /** Brings back what was forgotten, as part of a job of the person's queue. Once begun, it is done after a kill too. */
  async function undoForgetting(userId: string, { id, messages, cursors, itemIds }: ForgettingRecord) {
    await edit(userId, (document) =>
      withForgettings(document, (each) => (each.id === id ? { ...each, isUndoing: true } : each)),
    );
    const { forgettings = [] } = await readDurable(store, userId);
    const standing = forgettings.filter((each) => each.id !== id && !isOver(each, clock()));
    await changes.restore(
      { userId, messages },
      standing.map((each) => ({ userId, messages: each.messages })),
      itemIds,
    );
    await noticing?.rewind(userId, cursors);
    await edit(userId, (document) => undone(document, id));
  }

  /** Deletes what was forgotten, or finishes undoing that; resolves with whether it is done. */
  async function finishForgetting(userId: string, record: ForgettingRecord): Promise<boolean> {
    try {
      if (record.isUndoing !== true) await changes.deleteForgotten({ userId, messages: record.messages });
      else
        await writes.run(unconditional(userId), async () => {
          const { forgettings = [] } = await readDurable(store, userId);
          // Another process may have done it.
          if (forgettings.some(({ id }) => id === record.id)) await undoForgetting(userId, record);
        });
      return true;
    } catch (error) {
      logger.error('what was forgotten could not be deleted yet', { userId, error });
      return false;
    }
  }

  return {
    change,
    erase,

    /** Carries out a forgetting that can be undone, as part of a job of the person's queue. */
    async forgetting<T>(
      userId: string,
      fields: Omit<ForgettingRecord, 'at' | 'cursors'>,
      make: () => Promise<T>,
    ): Promise<T> {
      const { id } = fields;
      const cursors = (await noticing?.cursors(userId)) ?? [];
      await expireAt?.(userId, new Date(clock().getTime() + undoForMs));
      await edit(userId, (document) =>
        withBoundedChanges({
          ...document,
          forgettings: [...(document.forgettings ?? []), { ...fields, cursors, at: clock().toISOString() }],
        }),
      );
      try {
        return await make();
      } catch (error) {
        const without = (document: DurableDocument) =>
          withForgettings(document, (each) => (each.id === id ? undefined : each));
        await edit(userId, without).catch(() => undefined);
        throw error;
      }
    },

    /**
     * Deletes what can be undone no more, and proposals that nobody answered in time [K9] [S7]; safe to repeat, and to
     * call too early. Where it rejects it is to be called again.
     */
    async expireItems(this: void, userId: string): Promise<void> {
      const { forgettings = [] } = await readDurable(store, userId);
      const finished = new Set<string>();
      const due = forgettings.filter((each) => each.isUndoing === true || isOver(each, clock()));
      for (const each of due) if (await finishForgetting(userId, each)) finished.add(each.id);
      await writes.run(unconditional(userId), async () => {
        const now = clock();
        await edit(userId, (document) => expired(document, finished, now));
        const next = nextExpiry(await readDurable(store, userId), now);
        if (next !== undefined) await expireAt?.(userId, next);
      });
      if (finished.size < due.length) throw new Error('Not all that was forgotten could be deleted');
    },

    /**
     * Undoes a person's change, by default the newest [K5], in one job of their queue: `undefined` where there is
     * none or it is final, `isDone: false` where something of it was changed since.
     */
    undo: (work: Work, id?: string) =>
      writes.run(work, async (): Promise<Undoing | undefined> => {
        const { userId } = work;
        const document = await readDurable(store, userId);
        const ofNotes = (await notes?.list(userId)) ?? [];
        const all = [...changesIn(document, clock()), ...ofNotes];
        const found = id === undefined ? newestOf(all) : all.find((each) => each.id === id);
        if (found === undefined) return undefined;
        const { what } = found;
        if (ofNotes.includes(found))
          return { what, isDone: (await notes?.undo(userId, found.id)) === true, before: [] };
        const touched = document.items.filter((item) => changeOf(item, found.id) !== undefined);
        const isDone = touched.every(({ changes: own }) => own?.at(-1)?.id === found.id);
        const forgetting = document.forgettings?.find((each) => each.id === found.id);
        if (isDone)
          await (forgetting === undefined
            ? edit(userId, (current) => undone(current, found.id))
            : undoForgetting(userId, forgetting));
        logger.info('a change was undone', { userId, what, isDone });
        return { what, isDone, before: touched.flatMap((item) => changeOf(item, found.id)?.before ?? []) };
      }),
  };
}

/** The newest, the person's own first. */
function newestOf(all: readonly UndoableChange[]): UndoableChange | undefined {
  const byTime = all.toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at));
  return byTime.findLast(({ isBackground }) => isBackground !== true) ?? byTime.at(-1);
}

/** Whether a forgetting of these messages can be undone still, or is being undone. Rejects with `StoreError`. */
export async function isForgettingUndoable(
  { store, clock }: Pick<UndoingOptions, 'clock'> & { readonly store: Pick<Store, 'read'> },
  userId: string,
  messageIds: readonly string[],
): Promise<boolean> {
  const { forgettings = [] } = await readDurable(store, userId);
  return forgettings.some((each) => {
    const taken = new Set(each.messages.flatMap((of) => of.messageIds));
    return (each.isUndoing === true || !isOver(each, clock())) && messageIds.every((id) => taken.has(id));
  });
}

/** Carries out a change of a document, its past bounded again [L3]; with a name, it can be undone. */
export function changeDocument<T>(
  before: DurableDocument,
  operation: (document: DurableDocument) => DocumentChange<T>,
  named?: { readonly id: string; readonly what: string; readonly now: Date },
) {
  const { document: made, result } = operation(before);
  if (named === undefined) return { document: withBoundedPast(made), result, isUndoable: false };
  const after = withoutOutgrown(made);
  const { id, what, now } = named;
  const document = withFormer(before, after, { id, what, at: now.toISOString() });
  return { document, result, isUndoable: document !== after };
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
  const left = withForgettings({ ...document, items }, (each) => (each.id === id ? undefined : each));
  return withTombstones(left, unwanted);
}

function someOf<T>(list: readonly T[]): readonly T[] | undefined {
  return list.length === 0 ? undefined : list;
}

/** A person's changes that can be undone, oldest first. */
export function changesIn(
  { items, forgettings = [] }: DurableDocument,
  now: Date,
): readonly UndoableChange[] {
  // A process may have been killed between noting a forgetting and carrying it out.
  const made = forgettings.filter(
    ({ id, itemIds }) => itemIds.length === 0 || items.some((item) => changeOf(item, id) !== undefined),
  );
  const ofItems = items.flatMap(({ changes = [] }) => changes.map(({ id, what, at }) => ({ id, what, at })));
  const all = [...ofItems, ...made.map(({ id, at }) => ({ id, what: 'forget', at }))];
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
  // Its messages are deleted as if its time had passed.
  return withForgettings(withItems(document, { replaced }), (each) =>
    isFinal(each) ? { ...each, at: undated } : each,
  );
}

/**
 * Of items that their owner did not store themselves: changes that would bring back such a one which is gone are final,
 * on all that they touched.
 */
export function withoutReturning(
  document: DurableDocument,
  isGone: (item: DurableItem) => boolean,
): DurableDocument {
  const all = document.items.flatMap(({ changes = [] }) => changes);
  const ids = new Set(
    all.flatMap(({ id, before }) =>
      before !== undefined && before.source.type !== 'manual' && isGone(before) ? [id] : [],
    ),
  );
  return withFinal(document, ({ id }) => ids.has(id));
}

/** Each becomes what `make` says, or goes. The very same document where nothing differs. */
function withForgettings(
  document: DurableDocument,
  make: (record: ForgettingRecord) => ForgettingRecord | undefined,
): DurableDocument {
  const { forgettings = [] } = document;
  const made = forgettings.flatMap((each) => make(each) ?? []);
  const isKept = made.length === forgettings.length && made.every((each, at) => each === forgettings[at]);
  return isKept ? document : { ...document, forgettings: someOf(made) };
}

/** Without what can be undone no more, `finished` forgettings, and proposals whose time has passed. */
function expired(document: DurableDocument, finished: ReadonlySet<string>, now: Date): DurableDocument {
  const { forgettings = [] } = document;
  const marks = forgettings.filter(({ id }) => finished.has(id)).flatMap(marksOf);
  const left = withFinal(
    withForgettings(document, (each) => (finished.has(each.id) ? undefined : each)),
    (each) => finished.has(each.id) || isOver(each, now),
  );
  const marked =
    marks.length === 0 ? left : { ...left, forgottenUpTo: laterSnowflake(left.forgottenUpTo, ...marks) };
  return withoutProposals(marked, ({ goesAt = '' }) => !(Date.parse(goesAt) > now.getTime()));
}

/** When something of a person's becomes final next. */
function nextExpiry(document: DurableDocument, now: Date): Date | undefined {
  const ofChanges = [
    ...document.items.flatMap(({ changes = [] }) => changes),
    ...(document.forgettings ?? []),
  ];
  const times = [
    ...ofChanges.map(({ at }) => Date.parse(at) + undoForMs),
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
