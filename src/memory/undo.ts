import { randomBytes } from 'node:crypto';

import { z } from 'zod';

import { limits } from '../core/limits.ts';
import type { Logger } from '../core/logger.ts';
import type { Store } from '../core/store.ts';
import type { Clock, Timer } from '../core/time.ts';

const undoKey = 'undo.jsonl';

/** How long a change can be undone [K5]; milliseconds. */
export const undoForMs = 10 * 60_000;

/** What becomes final within this time leaves the file together; milliseconds. */
const togetherMs = 5000;
export const messagesSchema = z
  .array(z.object({ channelId: z.string(), messageIds: z.array(z.string()).readonly() }))
  .readonly();

const changeSchema = z.object({
  id: z.string(),
  userId: z.string(),
  /** ISO 8601, UTC. */
  at: z.string(),
  /** What was done, as the command that does it is called. */
  what: z.string(),
  /** What the layer needs that made the change. */
  part: z.unknown(),
  /** What was meant, where something was forgotten. */
  words: z.string().exactOptional(),
  /** Messages that were taken out of the person's conversations, and stand on disk till the change is final [K4]. */
  messages: messagesSchema.exactOptional(),
});

/** A change of a person's memory that can be undone. */
export type UndoableChange = z.infer<typeof changeSchema>;

/** Messages of a person, by the channel of their conversation. */
export type MessagesByChannel = z.infer<typeof messagesSchema>;

export interface UndoPorts {
  readonly store: Pick<Store, 'append' | 'scan' | 'rewrite'>;
  /** It can be undone no more: what it took is erased. Rejects with `StoreError`, and is asked again. */
  readonly finalise: (change: UndoableChange) => Promise<void>;
  readonly clock: Clock;
  readonly timer: Timer;
  readonly logger: Logger;
}

export type UndoLog = ReturnType<typeof createUndoLog>;

/**
 * What undo needs of everybody's changes, for ten minutes [K5]: `undo.jsonl`. A change is noted before it is made, in the same journal: whoever
 * finds the change on disk finds its note there. What became final leaves the file, and with it the words that were taken [S7].
 */
export function createUndoLog({ store, finalise, clock, timer, logger }: UndoPorts) {
  let loaded: Promise<Map<string, UndoableChange>> | undefined;
  let isWaiting = false;
  /** By person the ids of what they can undo, oldest first. */
  const undoable = new Map<string, Set<string>>();
  /** Ids of what is more than a person can undo: it becomes final with the next that do. */
  const surplus = new Set<string>();

  /** By their ids, oldest first. */
  function known(): Promise<Map<string, UndoableChange>> {
    loaded ??= load();
    loaded.catch(() => (loaded = undefined));
    return loaded;
  }

  async function load(): Promise<Map<string, UndoableChange>> {
    const changes = new Map<string, UndoableChange>();
    for await (const { record } of store.scan(undoKey, changeSchema)) {
      changes.set(record.id, record);
      offer(record);
    }
    return changes;
  }

  function offer({ userId, id }: UndoableChange): void {
    const own = undoable.get(userId) ?? new Set();
    undoable.set(userId, own.add(id));
    const [oldest] = own;
    if (own.size <= limits.undoableChanges || oldest === undefined) return;
    own.delete(oldest);
    surplus.add(oldest);
  }

  /** What a person can undo, oldest first. */
  async function ownOf(userId: string): Promise<readonly UndoableChange[]> {
    const changes = await known();
    return [...(undoable.get(userId) ?? [])].flatMap((id) => changes.get(id) ?? []);
  }

  async function drop(dropped: readonly UndoableChange[]): Promise<void> {
    if (dropped.length === 0) return;
    const changes = await known();
    const ids = new Set(dropped.map(({ id }) => id));
    await store.rewrite(undoKey, changeSchema, ({ record }) => (ids.has(record.id) ? undefined : record));
    for (const { id, userId } of dropped) {
      changes.delete(id);
      surplus.delete(id);
      undoable.get(userId)?.delete(id);
      if (undoable.get(userId)?.size === 0) undoable.delete(userId);
    }
  }

  /** Makes final what is to be; what cannot be stays, and is tried again. Never rejects. */
  async function settle(isDue: (change: UndoableChange) => boolean): Promise<void> {
    try {
      const final: UndoableChange[] = [];
      for (const change of (await known()).values()) {
        if (!isDue(change)) continue;
        try {
          await finalise(change);
          final.push(change);
        } catch (error) {
          logger.error('what was forgotten could not be erased yet', { userId: change.userId, error });
        }
      }
      await drop(final);
    } catch (error) {
      logger.error('what can be undone no more could not be erased yet', { error });
    }
    await schedule();
  }

  const isOver = ({ at }: UndoableChange): boolean => clock().getTime() - Date.parse(at) >= undoForMs;
  const isFinal = (change: UndoableChange): boolean => surplus.has(change.id) || isOver(change);

  /** Looks again when the oldest change is final. */
  async function schedule(): Promise<void> {
    const [oldest] = (await known().catch(() => undefined))?.values() ?? [];
    if (isWaiting || oldest === undefined) return;
    isWaiting = true;
    const restMs = Date.parse(oldest.at) + undoForMs - clock().getTime();
    timer(
      () => {
        isWaiting = false;
        void settle(isFinal);
      },
      surplus.size > 0 ? togetherMs : Math.max(togetherMs, restMs),
    );
  }

  return {
    /** Notes a change that is about to be made; resolves with its id. It is on disk when the next synced change is. */
    async note(change: Omit<UndoableChange, 'id' | 'at'>): Promise<string> {
      const changes = await known();
      const id = randomBytes(4).toString('hex');
      const noted = { ...change, id, at: clock().toISOString() };
      await store.append(undoKey, noted, { isLazy: true });
      changes.set(id, noted);
      offer(noted);
      void schedule();
      return id;
    },

    /** A person's change with this id, or their newest one; `undefined` where there is none, or it is final. */
    async find(userId: string, id?: string): Promise<UndoableChange | undefined> {
      const own = (await ownOf(userId)).filter((change) => !isOver(change));
      return id === undefined ? own.at(-1) : own.find((change) => change.id === id);
    },

    /** The change was undone, or not made. */
    async drop(id: string): Promise<void> {
      const change = (await known()).get(id);
      await drop(change === undefined ? [] : [change]);
    },

    /** Takes out, for good, all changes of a person, or of what they can undo those that `isGone` picks. */
    async erase(userId: string, isGone?: (change: UndoableChange) => boolean): Promise<void> {
      const isOwn = (change: UndoableChange): boolean => change.userId === userId;
      await drop(
        isGone === undefined
          ? [...(await known()).values()].filter(isOwn)
          : (await ownOf(userId)).filter(isGone),
      );
    },

    /** Makes all changes of a person final now. Never rejects; what cannot be yet stays. */
    finish: (userId: string): Promise<void> => settle((change) => change.userId === userId),

    /** Makes final what became so while nothing ran, and from now on what becomes so. Never rejects. */
    start: (): Promise<void> => settle(isFinal),
  };
}
