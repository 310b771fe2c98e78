import { randomUUID } from 'node:crypto';

import { assertSnowflake } from '../core/snowflake.ts';
import {
  createLapsingLog,
  togetherMs,
  type LapsingLog,
  type LapsingLogKind,
  type LapsingLogPorts,
  type LapsingRecord,
} from './lapsing-log.ts';

/**
 * Records that wait for their person's word, each person's in a log of their own, `users/<userId>/…`, for a store that others change too [X2]: nothing is in memory, and
 * `lapseAt` has somebody look at the person when something of theirs lapses.
 */
function createPersonLapsingLog<T extends LapsingRecord>(
  {
    store,
    clock,
    logger,
    lapseAt,
  }: LapsingLogPorts & { readonly lapseAt: NonNullable<LapsingLogPorts['lapseAt']> },
  { key, schema, lastsMs, mostOfPerson, finalise, isDueAtStart }: LapsingLogKind<T>,
): LapsingLog<T> {
  const keyOf = (userId: string): string => `users/${assertSnowflake(userId)}/${key}`;

  async function recordsOf(userId: string): Promise<readonly T[]> {
    const records: T[] = [];
    for await (const { record } of store.scan(keyOf(userId), schema)) records.push(record);
    return records;
  }

  const isOver = ({ at }: T): boolean => clock().getTime() - Date.parse(at) >= lastsMs;

  async function waitingOf(userId: string): Promise<readonly T[]> {
    return (await recordsOf(userId)).slice(-mostOfPerson);
  }

  async function drop(userId: string, isGone: (record: T) => boolean): Promise<void> {
    await store.rewrite(keyOf(userId), schema, ({ record }) => (isGone(record) ? undefined : record));
  }

  const notYet = 'what is over could not be erased yet';

  /** What cannot be made final yet is looked at again. Rejects with `StoreError`. */
  async function settle(userId: string, isDue: (record: T, isSurplus: boolean) => boolean): Promise<void> {
    const records = await recordsOf(userId);
    const surplus = new Set(records.slice(0, -mostOfPerson));
    const final = new Set<string>();
    for (const record of records) {
      if (!isDue(record, surplus.has(record))) continue;
      try {
        await finalise(record);
        final.add(record.id);
      } catch (error) {
        logger.error(notYet, { key, userId, error });
      }
    }
    if (final.size > 0) await drop(userId, ({ id }) => final.has(id));
    const oldest = records.find(({ id }) => !final.has(id));
    if (oldest === undefined) return;
    const inMs = Math.max(togetherMs, Date.parse(oldest.at) + lastsMs - clock().getTime());
    await lapseAt(userId, new Date(clock().getTime() + inMs));
  }

  return {
    async note(fields) {
      const now = clock();
      const record = schema.parse({ ...fields, id: randomUUID().slice(0, 8), at: now.toISOString() });
      const { userId } = record;
      const isFull = (await recordsOf(userId)).length >= mostOfPerson;
      // A kill may come in between: nothing is to stand there that nobody comes back for.
      await lapseAt(userId, new Date(now.getTime() + (isFull ? togetherMs : lastsMs)));
      await store.append(keyOf(userId), record);
      return record;
    },
    list: async (userId) => (await waitingOf(userId)).filter((record) => !isOver(record)),
    has: async (userId, id) => (await recordsOf(userId)).some((record) => record.id === id),
    async replace(record) {
      const { userId, id } = record;
      await store.rewrite(keyOf(userId), schema, (entry) => (entry.record.id === id ? record : entry.record));
      if (isDueAtStart?.(record) === true) await lapseAt(userId, clock());
    },
    drop: (userId, id) => drop(userId, (record) => record.id === id),
    async erase(userId, isGone = () => true) {
      if ((await recordsOf(userId)).some(isGone)) await drop(userId, isGone);
    },
    async finish(userId) {
      try {
        await settle(userId, () => true);
      } catch (error) {
        logger.error(notYet, { key, userId, error });
      }
    },
    lapse: (userId) =>
      settle(userId, (record, isSurplus) => isSurplus || isOver(record) || isDueAtStart?.(record) === true),
  };
}

/** The log that fits the store: one for all people, or, where others change it too, one a person. */
export function openLapsingLog<T extends LapsingRecord>(
  ports: LapsingLogPorts,
  kind: LapsingLogKind<T>,
): LapsingLog<T> {
  const { lapseAt } = ports;
  return lapseAt === undefined
    ? createLapsingLog(ports, kind)
    : createPersonLapsingLog({ ...ports, lapseAt }, kind);
}
