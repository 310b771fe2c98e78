import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';

import pg from 'pg';
import pLimit, { type LimitFunction } from 'p-limit';

import { StoreError } from '../../core/errors.ts';
import type { Logger } from '../../core/logger.ts';
import { lruCache } from '../../core/limits.ts';
import { noticeSchema, type Locks, type Notice, type Notices } from '../../core/processes.ts';
import { retry, withTimeout } from '../../core/time.ts';
import { connectionOptions, DatabaseFault, connectFault, queryFault, toStoreError } from './database.ts';

/** Bots share; what must not meet a running bot is alone. */
export type Presence = 'shared' | 'alone';

/** Advisory locks for all of the bot's data. */
const presenceLock = '1684628323, 1';
const lockSeed = 1_684_628_323;

const noticeChannel = 'discoclaw';
/** For the other processes to hear one. */
const noticeMs = 10_000;
/** More than are told in that time. */
const keptIds = 10_000;
/** With more questions waiting than this, notices are lost. */
const mostWaiting = 1000;
/** What people said stays there no longer than it takes to hear it [S7]. */
export const removeOldNotices = `delete from discoclaw.notices where at < now() - interval '${noticeMs / 2} milliseconds'`;

const firstPauseMs = 5;
const longestPauseMs = 50;
const lockPatienceMs = 15_000;
/** Until waiters are told that the database is away. */
const awayPatienceMs = 5000;
/** Nothing asked here waits for anything, and everybody's locks wait for it. */
const silenceMs = 10_000;
/** For the server to hear that all locks are released. */
const leaveMs = 1000;
const reconnectMs = 500;

interface Link {
  readonly client: pg.Client;
  /** One question after the other. */
  readonly inTurn: LimitFunction;
  /** When it began to listen, by the server's clock. */
  since: unknown;
  isLost: boolean;
  /** Gives the connection up, and has another made. */
  readonly lose: () => void;
}

/** A lock while its job runs; what the job left behind, such as a timer, does not hold it. */
interface Held {
  readonly link: Link;
  isOver: boolean;
}

export type Session = Awaited<ReturnType<typeof openSession>>;

/**
 * The connection on which a process's presence and locks hang: they are free once it is gone. When it is lost,
 * another is made, and what it held counts as lost.
 * @throws {DatabaseFault} where it cannot be had. @throws {StoreError} where another process is in the way.
 */
export async function openSession(url: string, presence: Presence, logger: Logger) {
  const holding = new AsyncLocalStorage<Held>();
  const listeners = new Set<(notice: Notice) => void>();
  /** Prefix of this process's notices, which it ignores. */
  const self = randomUUID();
  /** The ids of notices that were heard: one that is repeated does nothing. */
  const heard = lruCache<string, true>(keptIds);
  let sweeping: NodeJS.Timeout | undefined;
  /** Here, or on the way: the server would give one connection a lock many times. */
  const claimed = new Set<string>();
  let isClosed = false;
  let link = connect();
  await link;

  async function connect(): Promise<Link> {
    const client = new pg.Client({ ...connectionOptions(url), query_timeout: silenceMs });
    let isReady = false;
    const lose = (): void => {
      if (opened.isLost) return;
      opened.isLost = true;
      // Breaks off a pending question.
      client.end().catch(() => undefined);
      if (isClosed || !isReady) return;
      logger.warn('advisory-lock connection lost, reconnecting');
      link = reconnect();
      link.catch(() => undefined);
    };
    const opened: Link = { client, inTurn: pLimit(1), since: undefined, isLost: false, lose };
    client.on('error', lose);
    client.on('end', lose);
    client.on('notification', ({ payload = '' }) => {
      void hear(opened, payload);
    });
    try {
      await client.connect();
    } catch (error) {
      lose();
      throw connectFault(error);
    }
    try {
      await takePresence(opened, presence);
      const [row] = await ask(opened, 'select now() as now');
      opened.since = row?.['now'];
      await ask(opened, `listen ${noticeChannel}`);
      if (opened.isLost) throw new DatabaseFault('lost', new Error('the connection was lost'));
      // Nobody else would end it.
      if (isClosed) throw closedError();
    } catch (error) {
      lose();
      throw error;
    }
    isReady = true;
    return opened;
  }

  async function reconnect(): Promise<Link> {
    await delay(reconnectMs);
    return retry(connect, (error) => {
      if (isClosed) throw closedError();
      logger.debug('advisory-lock connection is still lost', { error });
      return reconnectMs;
    });
  }

  async function lock(key: string): Promise<Link> {
    const end = performance.now() + lockPatienceMs;
    let reachedAt = performance.now();
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
      const leftMs = Math.min(end, reachedAt + awayPatienceMs) - performance.now();
      const present = await Promise.race([link, delay(Math.max(1, leftMs), undefined, { ref: false })]);
      if (present !== undefined && !present.isLost) {
        const isHeld = await tryLock(present, key).catch((error: unknown) => {
          if (!present.isLost) throw toStoreError(key, 'locked', error);
          return false;
        });
        if (isHeld) return present;
        // From now on another connection is waited for where this one said nothing.
        reachedAt = performance.now();
      }
      if (performance.now() >= reachedAt + awayPatienceMs)
        throw new StoreError(`${key} could not be locked: the database is out of reach`, key);
      if (performance.now() >= end)
        throw new StoreError(`${key} could not be locked: another process holds it`, key);
      await delay(pauseMs * (0.5 + Math.random()));
    }
  }

  const locks: Locks = {
    async hold(key, job) {
      const held: Held = { link: await lock(key), isOver: false };
      try {
        return await holding.run(held, job);
      } finally {
        held.isOver = true;
        await unlock(held.link, key);
      }
    },
    async claim(key) {
      if (claimed.has(key)) return undefined;
      claimed.add(key);
      let claim: { release(): Promise<void> } | undefined;
      const release = async (present: Link): Promise<void> => {
        claimed.delete(key);
        await unlock(present, key);
      };
      try {
        const present = await link;
        if (await tryLock(present, key)) claim = { release: () => release(present) };
        return claim;
      } catch (error) {
        throw toStoreError(key, 'claimed', error);
      } finally {
        if (claim === undefined) claimed.delete(key);
      }
    },
  };

  /** Takes the row that the channel names, once; anybody else can only send an id that is not there. Never rejects. */
  async function hear(opened: Link, payload: string): Promise<void> {
    const [, sender, id = ''] = /^([0-9a-f-]*):(\d{1,18})$/u.exec(payload) ?? [];
    if (sender === undefined || sender === self || heard.has(id)) return;
    // Locks wait for the same connection.
    if (opened.inTurn.pendingCount > mostWaiting) return;
    // What was told before this process listened is not told again.
    const found = await ask(opened, 'select body from discoclaw.notices where id = $1 and at >= $2', [
      id,
      opened.since,
    ]).catch(() => []);
    const notice = noticeSchema.safeParse(found[0]?.['body']).data;
    if (notice === undefined || heard.has(id)) return;
    heard.set(id, true);
    sweepSoon();
    for (const listener of listeners) listener(notice);
  }

  /** Over the channel, which every role of the database hears, goes the id of a row that only the bot's reads [X6]. May be lost. Never rejects. */
  async function send(notice: Notice): Promise<void> {
    const present = await link.catch(() => undefined);
    if (present === undefined || present.isLost) return;
    const { userId } = notice.kind === 'stored' ? notice.stored : notice;
    try {
      await ask(
        present,
        `with gone as (delete from discoclaw.notices where $5 and person = $1),
          told as (insert into discoclaw.notices (person, body) values ($1, $2) returning id)
          select pg_notify($3, $4 || ':' || id) from told`,
        [userId, JSON.stringify(notice), noticeChannel, self, notice.kind === 'erased'],
      );
      sweepSoon();
    } catch (error) {
      logger.debug('a notice to other processes was lost', { error });
    }
  }

  /** Removes what everybody has heard by now. */
  function sweepSoon(): void {
    sweeping ??= setTimeout(() => {
      sweeping = undefined;
      void link.then((present) => ask(present, removeOldNotices)).catch(() => undefined);
    }, noticeMs).unref();
  }

  const notices: Notices = {
    tell: (notice) => void send(notice),
    listen: (listener) => void listeners.add(listener),
  };

  return {
    locks,
    notices,
    /** @throws {StoreError} where the calling job's lock was lost, so that its writes may not fit any more. */
    assertHeld(): void {
      const held = holding.getStore();
      if (held !== undefined && !held.isOver && held.link.isLost)
        throw new StoreError('Nothing was changed: the lock that this relied on was lost', '.');
    },
    async close(): Promise<void> {
      isClosed = true;
      clearTimeout(sweeping);
      const present = await Promise.race([link.catch(() => undefined), delay(0)]);
      if (present === undefined) return;
      present.isLost = true;
      // For the next process: the server notices the lost connection only later.
      await withTimeout(
        leaveMs,
        ask(present, 'select pg_advisory_unlock_all()').catch(() => []),
        [],
      );
      await present.client.end().catch(() => undefined);
    },
  };
}

function closedError(): StoreError {
  return new StoreError('The store is closed', '.');
}

/** @throws {StoreError} where another process is in the way. */
async function takePresence(link: Link, presence: Presence): Promise<void> {
  const kind = presence === 'shared' ? '_shared' : '';
  const [row] = await ask(link, `select pg_try_advisory_lock${kind}(${presenceLock}) as taken`);
  if (row?.['taken'] === true) return;
  throw new StoreError(
    presence === 'shared'
      ? 'Another program has the database for itself, such as a migration: wait for its end'
      : 'A bot runs on this database: stop it first',
    '.',
  );
}

async function tryLock(link: Link, key: string): Promise<boolean> {
  const text = 'select pg_try_advisory_lock(hashtextextended($1, $2)) as taken';
  const [row] = await ask(link, text, [key, lockSeed]);
  return row?.['taken'] === true;
}

async function unlock(present: Link, key: string): Promise<void> {
  if (!present.isLost)
    await ask(present, 'select pg_advisory_unlock(hashtextextended($1, $2))', [key, lockSeed]).catch(
      () => undefined,
    );
}

/** Without the server's own word, as in silence, the connection counts as lost. @throws {DatabaseFault} */
async function ask(
  link: Link,
  text: string,
  values: readonly unknown[] = [],
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  try {
    const query = () => link.client.query<Record<string, unknown>>(text, [...values]);
    return (await link.inTurn(query)).rows;
  } catch (error) {
    if (!(error instanceof pg.DatabaseError)) link.lose();
    throw queryFault(error);
  }
}
