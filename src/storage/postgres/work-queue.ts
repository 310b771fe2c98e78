import { setTimeout as delay } from 'node:timers/promises';

import pLimit from 'p-limit';

import type { Logger } from '../../core/logger.ts';
import type { WorkLease, WorkQueue } from '../../core/work-queue.ts';
import { createOutage, type Database, freshNumber, toStoreError, sql, type Statement } from './database.ts';

export interface WorkQueueOptions {
  readonly database: Database;
  readonly logger: Logger;
  /** People worked on at once here, and taken in one round trip. Default: 256. */
  readonly peopleAtOnce?: number;
  /** How long a lease lasts unless renewed, in milliseconds. Default: 30 seconds. */
  readonly leaseMs?: number;
  /** How often to look for what others left, in milliseconds. Default: a second. */
  readonly pollMs?: number;
}

interface Held {
  readonly fence: number;
  readonly end: AbortController;
  /** By this process's clock, a little before the server's. */
  until: number;
}

/** So that what follows at once comes with it. */
const restMs = 20;

/** Work by person [X2]: a row a person, leased to one process under a unique fence, which exposes late changes. */
export function createWorkQueue(options: WorkQueueOptions): WorkQueue {
  const { database, logger, peopleAtOnce = 256, leaseMs = 30_000, pollMs = 1000 } = options;
  const held = new Map<string, Held>();
  let take: ((lease: WorkLease) => Promise<void>) | undefined;
  const oneLook = pLimit(1);
  let isTaking = true;
  let underWay = 0;
  const outage = createOutage(
    logger,
    'work after turns could not be looked for',
    'work after turns can be looked for again',
  );
  const timers: NodeJS.Timeout[] = [];

  async function finish(userId: string, fence: number): Promise<void> {
    const cleared = await database.query(sql`
      delete from discoclaw.work
      where person = ${userId} and fence = ${fence} and taken is not null and waiting = '{}' returning person`);
    if (cleared.length > 0) return;
    // What came meanwhile stays; so does what another process took. Only a lease takes from `waiting`.
    await database.query(sql`
      update discoclaw.work set taken = null,
        next_at = greatest((select to_timestamp(min(value::float8) / 1000) from jsonb_each_text(waiting)), now())
      where person = ${userId} and fence = ${fence} and taken is not null`);
  }

  async function counted<T>(change: Promise<T>): Promise<T> {
    underWay += 1;
    try {
      return await change;
    } finally {
      underWay -= 1;
    }
  }

  /** A look that waits sees all that came before it. */
  function look(): void {
    if (oneLook.pendingCount === 0) void oneLook(takeDue);
  }

  async function takeDue(): Promise<void> {
    const room = peopleAtOnce - held.size;
    if (room <= 0 || take === undefined || !isTaking) return;
    const startedAt = performance.now();
    try {
      const rows = await database.query(takeWork(room, leaseMs));
      outage.end();
      for (const { person, fence, taken } of rows)
        void (isTaking ? carryOut(person, fence, taken, startedAt) : counted(release(person, fence)));
    } catch (error) {
      outage.begin(error);
    }
  }

  async function carryOut(
    userId: string,
    fence: number,
    keys: readonly string[],
    startedAt: number,
  ): Promise<void> {
    const end = new AbortController();
    held.set(userId, { fence, end, until: startedAt + leaseMs });
    let isDone = true;
    try {
      await take?.({ userId, keys, signal: end.signal });
    } catch (error) {
      isDone = false;
      logger.warn('work after turns failed; it is retried when its lease expires', {
        userId,
        error,
      });
    }
    if (held.get(userId)?.fence === fence) held.delete(userId);
    // There is room now; too slow a process leaves it to others.
    // What was ended is not done, and is taken again.
    if (end.signal.aborted) return counted(release(userId, fence));
    look();
    if (isDone)
      await counted(finish(userId, fence)).catch((error: unknown) =>
        logger.warn('work after turns is done again', { userId, error }),
      );
  }

  async function release(userId: string, fence: number): Promise<void> {
    await database
      .query(
        sql`update discoclaw.work set next_at = now() where person = ${userId} and fence = ${fence} and taken is not null`,
      )
      .catch(() => undefined);
  }

  async function renew(): Promise<void> {
    if (held.size === 0) return;
    const all = [...held];
    const startedAt = performance.now();
    try {
      const people = all.map(([userId]) => userId);
      const fences = all.map(([, { fence }]) => fence);
      const rows = await database.query(sql<{ person: string; fence: number }>`
        update discoclaw.work work set next_at = clock_timestamp() + ${leaseMs} * interval '1 millisecond'
        from unnest(${people}::text[], ${fences}::bigint[]) as lease (person, fence)
        where work.person = lease.person and work.fence = lease.fence and work.taken is not null
        returning work.person, work.fence`);
      const renewed = new Map(rows.map(({ person, fence }) => [person, fence]));
      for (const [userId, lease] of all) {
        if (renewed.get(userId) === lease.fence) lease.until = startedAt + leaseMs;
        else lease.end.abort();
      }
    } catch (error) {
      outage.begin(error);
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
    const rows = await database.query(sql`select 1 from discoclaw.work where next_at <= now() limit 1`);
    return rows.length > 0;
  }

  return {
    async add(userId, key, at) {
      try {
        await counted(database.query(addWork(userId, key, at?.getTime() ?? 0)));
      } catch (error) {
        throw toStoreError(userId, 'queued', error);
      }
      const wait = Math.max(restMs, (at?.getTime() ?? 0) - Date.now());
      if (wait < pollMs) setTimeout(look, wait).unref();
    },
    start(work) {
      take = work;
      every(pollMs, look);
      every(leaseMs / 3, () => void renew());
      every(leaseMs / 10, endOverdue);
      look();
    },
    end: endHere,
    async drop(userId) {
      endHere(userId);
      await database
        .query(sql`delete from discoclaw.work where person = ${userId}`)
        .catch((error: unknown) => logger.warn('work after turns could not be dropped', { userId, error }));
    },
    get size() {
      return held.size;
    },
    async idle() {
      for (;;) {
        if (held.size + oneLook.activeCount + oneLook.pendingCount + underWay > 0) {
          await delay(restMs);
          continue;
        }
        if (take === undefined || !isTaking || !(await isAnyDue().catch(() => false))) return;
        look();
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

/** `waiting` has each key with when it may be taken; during a lease, `next_at` is its end. */
function addWork(userId: string, key: string, at: number): Statement<unknown> {
  return sql`
    insert into discoclaw.work as work (person, waiting, next_at)
    values (${userId}, jsonb_build_object(${key}::text, ${at}::float8), greatest(to_timestamp(${at}::float8 / 1000), now()))
    on conflict (person) do update set
      waiting = work.waiting || jsonb_build_object(${key}::text, least(${at}::float8, (work.waiting ->> ${key})::float8)),
      next_at = case when work.taken is null then least(work.next_at, excluded.next_at) else work.next_at end`;
}

function takeWork(
  room: number,
  leaseMs: number,
): Statement<{ person: string; fence: number; taken: readonly string[] }> {
  return sql`
    update discoclaw.work work set
      taken = array(
        select unnest(coalesce(work.taken, '{}'))
        union select key from jsonb_each_text(work.waiting) where value::float8 <= extract(epoch from now())::float8 * 1000
      ),
      waiting = coalesce(
        (select jsonb_object_agg(key, value::float8) from jsonb_each_text(work.waiting) where value::float8 > extract(epoch from now())::float8 * 1000),
        '{}'
      ),
      fence = ${freshNumber()}, next_at = clock_timestamp() + ${leaseMs} * interval '1 millisecond'
    where person = any(array(
      select person from discoclaw.work where next_at <= now() order by next_at limit ${room} for update skip locked
    ))
    returning person, fence, taken`;
}
