import { randomUUID } from 'node:crypto';

import { z } from 'zod';

import type { Logger } from '../core/logger.ts';
import { assertSnowflake, isSnowflake } from '../core/snowflake.ts';
import type { Store } from '../core/store.ts';
import type { Clock } from '../core/time.ts';

/** What becomes final within this time leaves the file together; milliseconds. */
const togetherMs = 5000;

/** What every record has besides its own fields. */
export const lapsingFields = {
  id: z.string(),
  userId: z.string(),
  /** When it was noted; ISO 8601, UTC. */
  at: z.string(),
};

interface LapsingRecord {
  readonly id: string;
  readonly userId: string;
  readonly at: string;
}

export interface LapsingLogPorts {
  readonly store: Pick<Store, 'append' | 'scan' | 'rewrite'>;
  readonly clock: Clock;
  /** Has somebody call `lapse` of a person from a time on; by default now. Rejects with `StoreError`. */
  readonly lapseAt: (userId: string, time?: Date) => Promise<void>;
  readonly logger: Logger;
}

/** What a log of this kind holds, and for how long. */
interface LapsingLogKind<T extends LapsingRecord> {
  /** In each person's folder. */
  readonly name: string;
  readonly schema: z.ZodType<T>;
  /** Milliseconds. */
  readonly lastsMs: number;
  /** Records of a person, the newest; the oldest of more are final. */
  readonly maxPerUser: number;
  /** A record is about to leave because its time is over. Rejects where it cannot yet, and is asked again. */
  readonly finalise: (record: T) => Promise<void>;
  /** Whether a record is to become final before its time. Default: none is. */
  readonly isDueAtOnce?: (record: T) => boolean;
}

/**
 * Records that wait for their person's word, each person's in a log of their own, `users/<userId>/…`, and leave the disk when their time is over, also after a
 * restart [S7]. Nothing is kept in memory; `lapseAt` has somebody look at the person when something of theirs lapses. Rejects with `StoreError`.
 */
export function createLapsingLog<T extends LapsingRecord>(
  { store, clock, logger, lapseAt }: LapsingLogPorts,
  { name, schema, lastsMs, maxPerUser, finalise, isDueAtOnce = () => false }: LapsingLogKind<T>,
) {
  const keyOf = (userId: string): string => `users/${assertSnowflake(userId)}/${name}`;

  async function recordsOf(userId: string): Promise<readonly T[]> {
    const records: T[] = [];
    for await (const { record } of store.scan(keyOf(userId), schema)) records.push(record);
    return records;
  }

  const isOver = ({ at }: T): boolean => clock().getTime() - Date.parse(at) >= lastsMs;

  async function drop(userId: string, isGone: (record: T) => boolean): Promise<void> {
    await store.rewrite(keyOf(userId), schema, ({ record }) => (isGone(record) ? undefined : record));
  }

  const notYet = 'what is over could not be erased yet';

  /** What cannot be made final yet is looked at again. */
  async function settle(userId: string, isDue: (record: T, isSurplus: boolean) => boolean): Promise<void> {
    const records = await recordsOf(userId);
    const surplus = new Set(records.slice(0, -maxPerUser));
    const final = new Set<string>();
    for (const record of records) {
      if (!isDue(record, surplus.has(record))) continue;
      try {
        await finalise(record);
        final.add(record.id);
      } catch (error) {
        logger.error(notYet, { name, userId, error });
      }
    }
    if (final.size > 0) await drop(userId, ({ id }) => final.has(id));
    const oldest = records.find(({ id }) => !final.has(id));
    if (oldest === undefined) return;
    const inMs = Math.max(togetherMs, Date.parse(oldest.at) + lastsMs - clock().getTime());
    await lapseAt(userId, new Date(clock().getTime() + inMs));
  }

  return {
    /** Resolves with the record, which has its id and moment now. */
    async note(fields: Omit<T, 'id' | 'at'>): Promise<T> {
      const now = clock();
      const record = schema.parse({ ...fields, id: randomUUID().slice(0, 8), at: now.toISOString() });
      const { userId } = record;
      const isFull = (await recordsOf(userId)).length >= maxPerUser;
      // A kill may come in between: nothing is to stand there that nobody comes back for.
      await lapseAt(userId, new Date(now.getTime() + (isFull ? togetherMs : lastsMs)));
      await store.append(keyOf(userId), record);
      return record;
    },
    /** What waits of a person, oldest first. */
    list: async (userId: string): Promise<readonly T[]> =>
      (await recordsOf(userId)).slice(-maxPerUser).filter((record) => !isOver(record)),
    /** Whether the record exists, even if expired. */
    has: async (userId: string, id: string): Promise<boolean> =>
      (await recordsOf(userId)).some((record) => record.id === id),
    /** Puts another in a record's place; resolves when it is on disk. */
    async replace(record: T): Promise<void> {
      const { userId, id } = record;
      await store.rewrite(keyOf(userId), schema, (entry) => (entry.record.id === id ? record : entry.record));
      if (isDueAtOnce(record)) await lapseAt(userId);
    },
    /** The record was dealt with. */
    drop: (userId: string, id: string): Promise<void> => drop(userId, (record) => record.id === id),
    /** Takes out, for good, all records of a person, or those that `isGone` picks. */
    async erase(userId: string, isGone: (record: T) => boolean = () => true): Promise<void> {
      if ((await recordsOf(userId)).some(isGone)) await drop(userId, isGone);
    },
    /** Makes all records of a person final now. Never rejects; what cannot be yet stays. */
    async finish(userId: string): Promise<void> {
      try {
        await settle(userId, () => true);
      } catch (error) {
        logger.error(notYet, { name, userId, error });
      }
    },
    /** Makes final what of a person's is by now. Where it rejects, it is to be called again. */
    lapse: (userId: string): Promise<void> =>
      settle(userId, (record, isSurplus) => isSurplus || isOver(record) || isDueAtOnce(record)),
  };
}

/** Has everybody looked at of whom such a log is there: where work waits in memory, a process takes with it who was to be looked at, and when. */
export async function lapseEverybody(
  names: readonly string[],
  {
    store,
    logger,
    lapseAt,
  }: Pick<LapsingLogPorts, 'lapseAt' | 'logger'> & { readonly store: Pick<Store, 'folders'> },
): Promise<void> {
  try {
    for (const name of names)
      for (const folder of await store.folders('users', name))
        if (folder.changedAt > 0 && isSnowflake(folder.name)) await lapseAt(folder.name);
  } catch (error) {
    logger.error('what lapsed while nothing ran could not be looked for', { error });
  }
}
