import { setTimeout as delay } from 'node:timers/promises';

import type { Logger } from '../../core/logger.ts';
import type { WorkLease, WorkQueue } from '../../core/work-queue.ts';
import { createBatches } from './batches.ts';
import type { Database } from './database.ts';
import { freshNumber } from './entries.ts';
import { toStoreError } from './faults.ts';

export interface WorkQueueOptions {
  readonly database: Database;
  readonly logger: Logger;
  /** People whose work is done at the same time here, which is as many as are taken in one round trip. Default: 256. */
  readonly peopleAtOnce?: number;
  /** Milliseconds for which a person's work is one process's, unless it says that it goes on. Default: 30 seconds. */
  readonly leaseMs?: number;
  /** How often it is looked for what others left, in milliseconds. Default: a second. */
  readonly pollMs?: number;
}

interface Added {
  readonly userId: string;
  readonly key: string;
  /** Milliseconds since the epoch; 0 is now. */
  readonly at: number;
}

interface Held {
  readonly fence: number;
  readonly end: AbortController;
  /** When the lease ends by this process's own clock, which runs down a little before the server's. */
  until: number;
}

interface Taken {
  readonly userId: string;
  readonly fence: number;
}

/** What follows at once comes with it. */
const restMs = 20;

/**
 * Work by person in a table, leased to one process at a time [X2]: a row a person, taken with SKIP LOCKED, with a number as its fence
 * that no lease had before, so that what a process does under an old one is found out, also where the row was gone meanwhile. What was taken and not finished is taken again when the lease is over.
 */
export function createWorkQueue(options: WorkQueueOptions): WorkQueue {
  const { database, logger, peopleAtOnce = 256, leaseMs = 30_000, pollMs = 1000 } = options;
  const held = new Map<string, Held>();
  let take: ((lease: WorkLease) => Promise<void>) | undefined;
  let isLooking = false;
  /** Something came that can be taken, since it was last looked. */
  let isNews = false;
  let isTaking = true;
  /** What is being added or finished in the table. */
  let underWay = 0;
  /** What cannot be had is told of once, and when it can again. */
  let isAway = false;
  const timers: NodeJS.Timeout[] = [];

  const add = createBatches<Added, true>({
    atOnce: 2,
    most: 1000,
    async run(all) {
      const people = new Map<string, Map<string, number>>();
      for (const { userId, key, at } of all) {
        const keys = people.get(userId) ?? new Map<string, number>();
        people.set(userId, keys.set(key, Math.min(at, keys.get(key) ?? at)));
      }
      // In one order everywhere, so that two processes never wait for each other.
      const sorted = [...people].toSorted(([a], [b]) => (a < b ? -1 : 1));
      const texts = sorted.map(([, keys]) => JSON.stringify(Object.fromEntries(keys)));
      const values = [sorted.map(([userId]) => userId), texts];
      await database.query({ name: 'add work', text: addWork, values });
      return all.map(() => true);
    },
  });

  const finish = createBatches<Taken, true>({
    atOnce: 2,
    most: 1000,
    async run(all) {
      const values = [all.map(({ userId }) => userId), all.map(({ fence }) => fence)];
      const cleared = await database.query({ name: 'clear work', text: clearWork, values });
      // What came for somebody meanwhile stays; so does what another process has by now.
      if (cleared.length < all.length)
        await database.query({ name: 'finish work', text: finishWork, values });
      return all.map(() => true);
    },
  });

  async function counted<T>(change: Promise<T>): Promise<T> {
    underWay += 1;
    try {
      return await change;
    } finally {
      underWay -= 1;
    }
  }

  /** Takes what is due, as long as there is room. */
  async function look(): Promise<void> {
    if (isLooking || take === undefined || !isTaking) return;
    isLooking = true;
    try {
      for (;;) {
        isNews = false;
        const room = peopleAtOnce - held.size;
        if (room <= 0 || !isTaking) return;
        const begun = performance.now();
        const rows = await database.query<{ person: string; fence: number; taken: readonly string[] }>({
          name: 'take work',
          text: takeWork,
          values: [room, leaseMs, freshNumber()],
        });
        if (isAway) logger.info('work after turns can be looked for again');
        isAway = false;
        if (!isTaking) {
          await Promise.all(rows.map(({ person, fence }) => release(person, fence)));
          return;
        }
        for (const { person, fence, taken } of rows) void carryOut(person, fence, taken, begun);
        if (rows.length < room && !isNews) return;
      }
    } catch (error) {
      if (!isAway) logger.warn('work after turns could not be looked for', { error });
      isAway = true;
    } finally {
      isLooking = false;
    }
  }

  async function carryOut(
    userId: string,
    fence: number,
    keys: readonly string[],
    begun: number,
  ): Promise<void> {
    const end = new AbortController();
    held.set(userId, { fence, end, until: begun + leaseMs });
    let isDone = true;
    try {
      await take?.({ userId, keys, signal: end.signal });
    } catch (error) {
      isDone = false;
      logger.warn('work after turns could not be done, and is taken again when its lease is over', {
        userId,
        error,
      });
    }
    if (held.get(userId)?.fence === fence) held.delete(userId);
    // There is room for others by now; who was too slow for a lease leaves that to them.
    isNews = true;
    if (!end.signal.aborted) void look();
    // What was ended is not done: whoever looks next takes it again.
    if (end.signal.aborted) return counted(release(userId, fence));
    if (isDone)
      await counted(finish({ userId, fence })).catch((error: unknown) =>
        logger.warn('work after turns is done again', { userId, error }),
      );
  }

  async function release(userId: string, fence: number): Promise<void> {
    await database.query({ text: releaseWork, values: [userId, fence] }).catch(() => undefined);
  }

  /** Says that what is held is still being done, and ends what no longer is this process's. */
  async function renew(): Promise<void> {
    if (held.size === 0) return;
    const all = [...held];
    const begun = performance.now();
    try {
      const rows = await database.query<{ person: string; fence: number }>({
        name: 'renew work',
        text: renewWork,
        values: [all.map(([userId]) => userId), all.map(([, { fence }]) => fence), leaseMs],
      });
      const renewed = new Map(rows.map(({ person, fence }) => [person, fence]));
      for (const [userId, lease] of all) {
        if (renewed.get(userId) === lease.fence) lease.until = begun + leaseMs;
        else lease.end.abort();
      }
    } catch (error) {
      if (!isAway) logger.warn('the lease of work after turns could not be made longer', { error });
    }
  }

  function endHere(userId: string): void {
    held.get(userId)?.end.abort();
  }

  function endOverdue(): void {
    for (const lease of held.values()) if (lease.until - leaseMs / 10 <= performance.now()) lease.end.abort();
  }

  function every(ms: number, work: () => void): void {
    timers.push(setInterval(work, ms).unref());
  }

  async function isAnyDue(): Promise<boolean> {
    const rows = await database.query({
      text: 'select 1 from discoclaw.work where next_at <= now() limit 1',
    });
    return rows.length > 0;
  }

  return {
    async add(userId, key, at) {
      try {
        await counted(add({ userId, key, at: at?.getTime() ?? 0 }));
      } catch (error) {
        throw toStoreError(userId, 'queued', error);
      }
      isNews = true;
      const wait = Math.max(restMs, (at?.getTime() ?? 0) - Date.now());
      if (wait < pollMs) setTimeout(() => void look(), wait).unref();
    },
    start(work) {
      take = work;
      every(pollMs, () => void look());
      every(leaseMs / 3, () => void renew());
      every(leaseMs / 10, endOverdue);
      void look();
    },
    end: endHere,
    async drop(userId) {
      endHere(userId);
      await database
        .query({ text: 'delete from discoclaw.work where person = $1', values: [userId] })
        .catch((error: unknown) => logger.warn('work after turns could not be dropped', { userId, error }));
    },
    get size() {
      return held.size;
    },
    async idle() {
      for (;;) {
        if (held.size > 0 || isLooking || underWay > 0) {
          await delay(restMs);
          continue;
        }
        if (take === undefined || !isTaking || !(await isAnyDue().catch(() => false))) return;
        await look();
        await delay(restMs);
      }
    },
    stopTaking() {
      isTaking = false;
    },
    stop() {
      isTaking = false;
      for (const timer of timers) clearInterval(timer);
      for (const { end } of held.values()) end.abort();
    },
  };
}

const nowMs = 'extract(epoch from now())::float8 * 1000';
const earliest = (keys: string): string =>
  `(select to_timestamp(min(value::float8) / 1000) from jsonb_each_text(${keys}))`;

/** `waiting` has each key with when it may be taken; while a person's work is taken, `next_at` is the end of the lease. */
const addWork = `
  insert into discoclaw.work as work (person, waiting, next_at)
  select person, keys, greatest(${earliest('keys')}, now())
  from unnest($1::text[], $2::jsonb[]) as added (person, keys) order by person
  on conflict (person) do update set
    waiting = (
      select jsonb_object_agg(key, value) from (
        select key, min(value::float8) as value
        from (select * from jsonb_each_text(work.waiting) union all select * from jsonb_each_text(excluded.waiting)) keys
        group by key
      ) merged
    ),
    next_at = case when work.taken is null then least(work.next_at, excluded.next_at) else work.next_at end`;

const takeWork = `
  update discoclaw.work work set
    taken = array(
      select unnest(coalesce(work.taken, '{}'))
      union select key from jsonb_each_text(work.waiting) where value::float8 <= ${nowMs}
    ),
    waiting = coalesce(
      (select jsonb_object_agg(key, value::float8) from jsonb_each_text(work.waiting) where value::float8 > ${nowMs}),
      '{}'
    ),
    fence = $3, next_at = clock_timestamp() + $2 * interval '1 millisecond'
  where person = any(array(
    select person from discoclaw.work where next_at <= now() order by next_at limit $1 for update skip locked
  ))
  returning person, fence, taken`;

const ofLease = `
  from unnest($1::text[], $2::bigint[]) as lease (person, fence)
  where work.person = lease.person and work.fence = lease.fence and work.taken is not null`;

const renewWork = `
  update discoclaw.work work set next_at = clock_timestamp() + $3 * interval '1 millisecond' ${ofLease}
  returning work.person, work.fence`;

/** Of whom nothing more waits. */
const clearWork = `
  delete from discoclaw.work work using unnest($1::text[], $2::bigint[]) as lease (person, fence)
  where work.person = lease.person and work.fence = lease.fence and work.taken is not null and work.waiting = '{}'
  returning work.person`;

/** Nothing takes a row away that is not cleared while its lease lasts, and nothing takes from `waiting` but a lease: so something waits of each. */
const finishWork = `
  update discoclaw.work work set taken = null, next_at = greatest(${earliest('work.waiting')}, now()) ${ofLease}`;

const releaseWork =
  'update discoclaw.work set next_at = now() where person = $1 and fence = $2 and taken is not null';
