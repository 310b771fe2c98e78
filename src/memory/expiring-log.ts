import { randomUUID } from 'node:crypto';

import { z } from 'zod';

import type { Logger } from '../core/logger.ts';
import { assertSnowflake, isSnowflake } from '../core/snowflake.ts';
import type { Store } from '../core/store.ts';
import type { Clock, Timer } from '../core/time.ts';

/** What expires within this time is deleted together; milliseconds. */
const togetherMs = 5000;

/** What every record has besides its own fields. */
export const expiringFields = {
  id: z.string(),
  userId: z.string(),
  /** ISO 8601, UTC. */
  expiresAt: z.string(),
};

type ExpiringRecord = Readonly<z.infer<z.ZodObject<typeof expiringFields>>>;

export interface ExpiringLogPorts {
  readonly store: Pick<Store, 'append' | 'scan' | 'rewrite'>;
  readonly clock: Clock;
  /** Has `expire` called for a person from a time on; by default now. Rejects with `StoreError`. */
  readonly expireAt: (userId: string, time?: Date) => Promise<void>;
  readonly logger: Logger;
}

interface ExpiringLogKind<T extends ExpiringRecord> {
  /** In each person's folder. */
  readonly name: string;
  readonly schema: z.ZodType<T>;
  readonly ttlMs: number;
  /** The newest records of a person; the oldest of more expire. */
  readonly maxPerUser: number;
  /** Called before a record is deleted because it expired; where it rejects, it is called again later. */
  readonly onExpire?: (record: T) => Promise<void>;
}

/**
 * Records that expire [S7], each person's in a log of their own, `users/<userId>/…`. Nothing is kept in memory. A
 * record is added without a look at the others. Rejects with `StoreError`.
 */
export function createExpiringLog<T extends ExpiringRecord>(
  { store, clock, logger, expireAt }: ExpiringLogPorts,
  { name, schema, ttlMs, maxPerUser, onExpire }: ExpiringLogKind<T>,
) {
  const keyOf = (userId: string): string => `users/${assertSnowflake(userId)}/${name}`;
  const isExpired = ({ expiresAt }: T): boolean => Date.parse(expiresAt) <= clock().getTime();

  async function read(userId: string): Promise<readonly T[]> {
    const records: T[] = [];
    for await (const { record } of store.scan(keyOf(userId), schema)) records.push(record);
    return records;
  }

  /** Each record becomes what `make` says, or goes, expired ones too. Resolves when it is on disk. */
  async function change(userId: string, make: (record: T) => T | undefined): Promise<void> {
    const before = await read(userId);
    const after = before.map(make);
    if (after.every((record, at) => record === before[at])) return;
    await store.rewrite(keyOf(userId), schema, ({ record }) => make(record));
    if (after.some((record, at) => record !== undefined && record !== before[at] && isExpired(record)))
      await expireAt(userId);
  }

  /** Resolves with whether it is gone; it need not be read again then. */
  async function expireOne(record: T): Promise<boolean> {
    try {
      await onExpire?.(record);
      return true;
    } catch (error) {
      logger.error('an expired record could not be deleted yet', { name, userId: record.userId, error });
      return false;
    }
  }

  async function expire(userId: string, isDue: (record: T) => boolean = isExpired): Promise<void> {
    const records = await read(userId);
    const surplus = new Set(records.slice(0, -maxPerUser));
    const expired = new Set<string>();
    for (const record of records)
      if ((surplus.has(record) || isDue(record)) && (await expireOne(record))) expired.add(record.id);
    await change(userId, (record) => (expired.has(record.id) ? undefined : record));
    const [next] = records
      .filter(({ id }) => !expired.has(id))
      .map(({ expiresAt }) => Date.parse(expiresAt))
      .toSorted((a, b) => a - b);
    if (next === undefined) return;
    await expireAt(userId, new Date(Math.max(next, clock().getTime() + togetherMs)));
  }

  return {
    /** Resolves with the record, which has its id now. */
    async add(fields: Omit<T, 'id' | 'expiresAt'>, keptForMs = ttlMs): Promise<T> {
      const now = clock().getTime();
      const expiresAt = new Date(now + keptForMs);
      const id = randomUUID().slice(0, 8);
      const record = schema.parse({ ...fields, id, expiresAt: expiresAt.toISOString() });
      const { userId } = record;
      // First, so that a kill leaves no record that never expires.
      await expireAt(userId, expiresAt);
      const sequence = await store.append(keyOf(userId), record);
      if (sequence % (maxPerUser + 1) === 0) await expireAt(userId, new Date(now + togetherMs));
      return record;
    },
    /** A person's records, oldest first. */
    list: async (userId: string): Promise<readonly T[]> =>
      (await read(userId)).slice(-maxPerUser).filter((record) => !isExpired(record)),
    /** A person's records, expired ones too. */
    all: read,
    change,
    replace: (record: T): Promise<void> =>
      change(record.userId, (each) => (each.id === record.id ? record : each)),
    /** Deletes a person's records, or those that `isGone` picks. */
    delete: (userId: string, isGone: (record: T) => boolean = () => true): Promise<void> =>
      change(userId, (record) => (isGone(record) ? undefined : record)),
    /** Deletes what has expired. After a rejection it is to be called again. */
    expire: (userId: string): Promise<void> => expire(userId),
    /** Has all records of a person expire now. Never rejects; what cannot be deleted yet is tried again. */
    async expireAll(userId: string): Promise<void> {
      try {
        await expire(userId, () => true);
      } catch (error) {
        logger.error('records could not be read to expire', { name, userId, error });
      }
    },
  };
}

/** Until a disk that did not tell who has records is asked again; milliseconds. */
const againMs = 60_000;

/** After a start: has everybody's records looked at, as soon as the disk tells who has any. Never rejects. */
export async function expireEverybody(
  names: readonly string[],
  ports: Pick<ExpiringLogPorts, 'expireAt' | 'logger'> & {
    readonly store: Pick<Store, 'folders'>;
    readonly timer: Timer;
    /** Others of whom something may have expired. Rejects with `StoreError`. */
    readonly others: () => Promise<readonly string[]>;
  },
): Promise<void> {
  const { store, timer, logger, expireAt, others } = ports;
  try {
    for (const userId of await others()) await expireAt(userId);
    for (const name of names)
      for (const folder of await store.folders('users', name))
        if (folder.changedAt > 0 && isSnowflake(folder.name)) await expireAt(folder.name);
  } catch (error) {
    logger.error('expired records could not be looked for', { error });
    timer(() => void expireEverybody(names, ports), againMs);
  }
}
