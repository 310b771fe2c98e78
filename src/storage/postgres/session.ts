import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as delay } from 'node:timers/promises';

import pg from 'pg';

import { StoreError } from '../../core/errors.ts';
import type { Logger } from '../../core/logger.ts';
import type { Locks } from '../../core/processes.ts';
import { connectionOptions } from './database.ts';
import { connectFault, toStoreError } from './faults.ts';

/** As bots do, beside which others may; or alone, as what must not meet a running bot. */
export type Presence = 'shared' | 'alone';

/** Numbers that stand for the whole of the bot's data among the advisory locks of a database. */
const presenceLock = '1684628323, 1';
const lockSeed = 1_684_628_323;

const noticeChannel = 'discoclaw';
/** What the server takes as a notice, in bytes. */
const longestNotice = 7900;

const firstPauseMs = 5;
const longestPauseMs = 50;
/** A lock is for short jobs. */
const lockPatienceMs = 15_000;
const reconnectMs = 500;

interface Link {
  readonly client: pg.Client;
  isLost: boolean;
}

export type Session = Awaited<ReturnType<typeof openSession>>;

/**
 * The one connection on which hangs what a process holds: that it is there at all, and its locks. They are free as soon as it is gone. When it is lost it is
 * made anew, and what was held by it counts as lost.
 * @throws {DatabaseFault} where it cannot be had. @throws {StoreError} where another process is in the way.
 */
export async function openSession(url: string, presence: Presence, logger: Logger) {
  const holding = new AsyncLocalStorage<Link>();
  const heard = new Set<(text: string) => void>();
  const claimed = new Set<string>();
  let isClosed = false;
  let link = connect();
  await link;

  async function connect(): Promise<Link> {
    const client = new pg.Client(connectionOptions(url));
    const opened: Link = { client, isLost: false };
    let isReady = false;
    const lose = (): void => {
      if (opened.isLost) return;
      opened.isLost = true;
      if (isClosed || !isReady) return;
      logger.warn('the connection that locks hang on was lost, and is made anew');
      link = reconnect();
      link.catch(() => undefined);
    };
    client.on('error', lose);
    client.on('end', lose);
    client.on('notification', ({ payload = '' }) => {
      for (const hear of heard) hear(payload);
    });
    try {
      await client.connect();
      await takePresence(client, presence);
      await client.query(`listen ${noticeChannel}`);
      for (const key of claimed) {
        if (!(await tryLock(client, key))) logger.error('another process has taken what was lost', { key });
      }
    } catch (error) {
      await client.end().catch(() => undefined);
      throw error instanceof StoreError ? error : connectFault(error);
    }
    isReady = true;
    return opened;
  }

  async function reconnect(): Promise<Link> {
    for (;;) {
      await delay(reconnectMs);
      if (isClosed) throw new StoreError('The store is closed', '.');
      try {
        return await connect();
      } catch (error) {
        logger.debug('the connection that locks hang on is still lost', { error });
      }
    }
  }

  /** Resolves with the connection that has the key then. */
  async function lock(key: string): Promise<Link> {
    const end = performance.now() + lockPatienceMs;
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
      const present = await Promise.race([
        link,
        delay(Math.max(1, end - performance.now()), undefined, { ref: false }),
      ]);
      if (present !== undefined && !present.isLost) {
        const isHeld = await tryLock(present.client, key).catch((error: unknown) => {
          // The loss is heard of on its own, and another connection made.
          if (!present.isLost) throw toStoreError(key, 'locked', connectFault(error));
          return false;
        });
        if (isHeld) return present;
      }
      if (performance.now() >= end)
        throw new StoreError(`${key} could not be locked: another process holds it`, key);
      await delay(pauseMs * (0.5 + Math.random()));
    }
  }

  async function unlock({ client, isLost }: Link, key: string): Promise<void> {
    if (!isLost)
      await client
        .query('select pg_advisory_unlock(hashtextextended($1, $2))', [key, lockSeed])
        .catch(() => undefined);
  }

  const locks: Locks = {
    async hold(key, job) {
      const held = await lock(key);
      try {
        return await holding.run(held, job);
      } finally {
        await unlock(held, key);
      }
    },
    async claim(key) {
      const present = await link;
      if (claimed.has(key) || !(await tryLock(present.client, key))) return undefined;
      claimed.add(key);
      return {
        async release() {
          claimed.delete(key);
          await unlock(await link, key);
        },
      };
    },
  };

  return {
    locks,
    /** Whether the work that calls this holds a lock which was lost: what it would write may no longer fit. */
    hasLostLock: (): boolean => holding.getStore()?.isLost ?? false,
    notices: {
      listen: (hear: (text: string) => void): void => void heard.add(hear),
      /** May be lost; a long one is. Never rejects. */
      async tell(text: string): Promise<void> {
        if (Buffer.byteLength(text) > longestNotice) return;
        const present = await link.catch(() => undefined);
        await present?.client.query('select pg_notify($1, $2)', [noticeChannel, text]).catch(() => undefined);
      },
    },
    async close(): Promise<void> {
      isClosed = true;
      const present = await Promise.race([link.catch(() => undefined), delay(0)]);
      await present?.client.end().catch(() => undefined);
    },
  };
}

/** @throws {StoreError} where another process is in the way. */
async function takePresence(client: pg.Client, presence: Presence): Promise<void> {
  const kind = presence === 'shared' ? '_shared' : '';
  const { rows } = await client.query<{ taken: boolean }>(
    `select pg_try_advisory_lock${kind}(${presenceLock}) as taken`,
  );
  if (rows[0]?.taken === true) return;
  throw new StoreError(
    presence === 'shared'
      ? 'Another program has the database for itself, such as a migration: wait for its end'
      : 'A bot runs on this database: stop it first',
    '.',
  );
}

async function tryLock(client: pg.Client, key: string): Promise<boolean> {
  const { rows } = await client.query<{ taken: boolean }>(
    'select pg_try_advisory_lock(hashtextextended($1, $2)) as taken',
    [key, lockSeed],
  );
  return rows[0]?.taken === true;
}
