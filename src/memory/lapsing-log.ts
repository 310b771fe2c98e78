import { randomUUID } from 'node:crypto';

import { z } from 'zod';

import type { Logger } from '../core/logger.ts';
import type { Store } from '../core/store.ts';
import type { Clock, Timer } from '../core/time.ts';

/** What becomes final within this time leaves the file together; milliseconds. */
export const togetherMs = 5000;

/** What every record has besides its own fields. */
export const lapsingFields = {
  id: z.string(),
  userId: z.string(),
  /** When it was noted; ISO 8601, UTC. */
  at: z.string(),
};

export interface LapsingRecord {
  readonly id: string;
  readonly userId: string;
  readonly at: string;
}

export interface LapsingLogPorts {
  readonly store: Pick<Store, 'append' | 'scan' | 'rewrite'>;
  readonly clock: Clock;
  readonly timer: Timer;
  /** Has somebody call `lapse` of a person from a time on, where others change the store too. Rejects with `StoreError`. */
  readonly lapseAt?: ((userId: string, time: Date) => Promise<void>) | undefined;
  readonly logger: Logger;
}

/** What waits for its person. Rejects with `StoreError`. */
export interface LapsingLog<T extends LapsingRecord> {
  /** Resolves with the record, which has its id and moment now. */
  readonly note: (fields: Omit<T, 'id' | 'at'>) => Promise<T>;
  /** What waits of a person, oldest first. */
  readonly list: (userId: string) => Promise<readonly T[]>;
  /** Whether a record is there, be it over. */
  readonly has: (userId: string, id: string) => Promise<boolean>;
  /** Puts another in a record's place; resolves when it is on disk. */
  readonly replace: (record: T) => Promise<void>;
  /** The record was dealt with. */
  readonly drop: (userId: string, id: string) => Promise<void>;
  /** Takes out, for good, all records of a person, or of what still waits those that `isGone` picks. */
  readonly erase: (userId: string, isGone?: (record: T) => boolean) => Promise<void>;
  /** Makes all records of a person final now. Never rejects; what cannot be yet stays. */
  readonly finish: (userId: string) => Promise<void>;
  /** Of a person's own log: makes final what of it is by now. Rejects with `StoreError` where that could not be looked at: it is to be called again. */
  readonly lapse?: (userId: string) => Promise<void>;
  /**
   * Of one log for all: settles what an earlier process left half made, makes final what became so while nothing ran, and from now on what becomes so. Never rejects.
   */
  readonly start?: () => Promise<void>;
}

/** What a log of this kind holds, and for how long. */
export interface LapsingLogKind<T extends LapsingRecord> {
  readonly key: string;
  readonly schema: z.ZodType<T>;
  /** Milliseconds. */
  readonly lastsMs: number;
  /** Records of a person, the newest; the oldest of more are final. */
  readonly mostOfPerson: number;
  /** A record is about to leave because its time is over. Rejects where it cannot yet, and is asked again. */
  readonly finalise: (record: T) => Promise<void>;
  /**
   * Settles the newest record of a person that an earlier process left, which may have been killed while it did what the record is about. Default: there is nothing to settle.
   */
  readonly resume?: (record: T) => Promise<void>;
  /** Whether a record that an earlier process left is to become final before its time. Default: none is. */
  readonly isDueAtStart?: (record: T) => boolean;
}

/**
 * Records of all people that wait for their person's word, and leave the disk when their time is over, also after a restart [S7]: in one log, which is held in memory. For a
 * process that has the store alone; for others there is `createPersonLapsingLog`.
 */
export function createLapsingLog<T extends LapsingRecord>(
  { store, clock, timer, logger }: LapsingLogPorts,
  { key, schema, lastsMs, mostOfPerson, finalise, resume, isDueAtStart }: LapsingLogKind<T>,
): LapsingLog<T> {
  let loaded: Promise<Map<string, T>> | undefined;
  let isWaiting = false;
  /** By person the ids of what waits, oldest first. */
  const waiting = new Map<string, Set<string>>();
  /** Ids of what is more than a person may have: it becomes final with the next that do. */
  const surplus = new Set<string>();

  /** By their ids, oldest first. */
  function known(): Promise<Map<string, T>> {
    loaded ??= load();
    loaded.catch(() => (loaded = undefined));
    return loaded;
  }

  async function load(): Promise<Map<string, T>> {
    const records = new Map<string, T>();
    for await (const { record } of store.scan(key, schema)) {
      records.set(record.id, record);
      offer(record);
    }
    return records;
  }

  function offer({ userId, id }: T): void {
    const own = waiting.get(userId) ?? new Set();
    waiting.set(userId, own.add(id));
    const [oldest] = own;
    if (own.size <= mostOfPerson || oldest === undefined) return;
    own.delete(oldest);
    surplus.add(oldest);
  }

  /** What waits of a person, oldest first. */
  async function ownOf(userId: string): Promise<readonly T[]> {
    const records = await known();
    return [...(waiting.get(userId) ?? [])].flatMap((id) => records.get(id) ?? []);
  }

  async function drop(dropped: readonly T[]): Promise<void> {
    if (dropped.length === 0) return;
    const records = await known();
    const ids = new Set(dropped.map(({ id }) => id));
    await store.rewrite(key, schema, ({ record }) => (ids.has(record.id) ? undefined : record));
    for (const { id, userId } of dropped) {
      records.delete(id);
      surplus.delete(id);
      waiting.get(userId)?.delete(id);
      if (waiting.get(userId)?.size === 0) waiting.delete(userId);
    }
  }

  /** Makes final what is to be; what cannot be stays, and is tried again. Never rejects. */
  async function settle(isDue: (record: T) => boolean): Promise<void> {
    try {
      const final: T[] = [];
      for (const record of (await known()).values()) {
        if (!isDue(record)) continue;
        try {
          await finalise(record);
          final.push(record);
        } catch (error) {
          logger.error('what is over could not be erased yet', { key, userId: record.userId, error });
        }
      }
      await drop(final);
    } catch (error) {
      logger.error('what is over could not be erased yet', { key, error });
    }
    await schedule();
  }

  /** What a person's records are about happens one after the other, so that no other can be half made. Never rejects. */
  async function resumeNewest(): Promise<void> {
    try {
      const records = await known();
      const newest = [...waiting.values()].flatMap((ids) => records.get([...ids].at(-1) ?? '') ?? []);
      for (const record of newest) await resume?.(record);
    } catch (error) {
      logger.error('what an earlier process left could not be looked through', { key, error });
    }
  }

  const isOver = ({ at }: T): boolean => clock().getTime() - Date.parse(at) >= lastsMs;
  const isFinal = (record: T): boolean => surplus.has(record.id) || isOver(record);

  /** Looks again when the oldest record is final. */
  async function schedule(): Promise<void> {
    const [oldest] = (await known().catch(() => undefined))?.values() ?? [];
    if (isWaiting || oldest === undefined) return;
    isWaiting = true;
    const restMs = Date.parse(oldest.at) + lastsMs - clock().getTime();
    timer(
      () => {
        isWaiting = false;
        void settle(isFinal);
      },
      surplus.size > 0 ? togetherMs : Math.max(togetherMs, restMs),
    );
  }

  return {
    async note(fields) {
      const records = await known();
      const record = schema.parse({
        ...fields,
        id: randomUUID().slice(0, 8),
        at: clock().toISOString(),
      });
      await store.append(key, record);
      records.set(record.id, record);
      offer(record);
      void schedule();
      return record;
    },

    async list(userId) {
      return (await ownOf(userId)).filter((record) => !isOver(record));
    },

    has: async (_userId, id) => (await known()).has(id),

    async replace(record) {
      const records = await known();
      if (!records.has(record.id)) return;
      await store.rewrite(key, schema, (entry) => (entry.record.id === record.id ? record : entry.record));
      records.set(record.id, record);
    },

    async drop(_userId, id) {
      const record = (await known()).get(id);
      await drop(record === undefined ? [] : [record]);
    },

    async erase(userId, isGone) {
      const isOwn = (record: T): boolean => record.userId === userId;
      await drop(
        isGone === undefined
          ? [...(await known()).values()].filter(isOwn)
          : (await ownOf(userId)).filter(isGone),
      );
    },

    finish: (userId) => settle((record) => record.userId === userId),

    async start() {
      await resumeNewest();
      await settle((record) => isFinal(record) || isDueAtStart?.(record) === true);
    },
  };
}
