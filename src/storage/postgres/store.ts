import { setTimeout as delay } from 'node:timers/promises';

import { StoreError } from '../../core/errors.ts';
import type { Logger } from '../../core/logger.ts';
import type { Processes } from '../../core/processes.ts';
import type { SetAside, Store } from '../../core/store.ts';
import type { WorkQueue } from '../../core/work-queue.ts';
import { createKeyLocks } from '../key-locks.ts';
import { assertKey } from '../keys.ts';
import { createDatabase } from './database.ts';
import { createDocuments } from './documents.ts';
import { createEntries } from './entries.ts';
import { assertHeld, DatabaseFault, toStoreError } from './faults.ts';
import { createFolders } from './folders.ts';
import { createLogs } from './logs.ts';
import { migrate } from './migrations.ts';
import { createNotices } from './notices.ts';
import { createQuarantine } from './quarantine.ts';
import { openSession, type Presence, type Session } from './session.ts';
import { createWorkQueue } from './work-queue.ts';

export interface PostgresStoreOptions {
  /** `postgres://…` */
  readonly url: string;
  /** Is told of every document that is set aside; must not throw. Default: nobody is. */
  readonly onSetAside?: ((file: SetAside) => void) | undefined;
  readonly logger: Logger;
  /**
   * `shared` beside other bots; `alone` where no bot runs; `reader` changes nothing, and writes reject. A start waits for a server that cannot be reached yet.
   * Default: `shared`.
   */
  readonly as?: Presence | 'reader';
  /** Connections at once. Default: 10. */
  readonly connections?: number;
  /** Milliseconds for which what fails while the database is out of reach is tried again. Default: 5000. */
  readonly patienceMs?: number;
  /** Milliseconds for which an answer of the database is waited for. Default: a minute. */
  readonly answerMs?: number;
  /** Milliseconds for which the start waits for a server that cannot be reached. Default: a minute. */
  readonly startPatienceMs?: number;
}

export interface PostgresStore extends Store, Processes {
  /** The work after turns, which any process with this database may do [X2]. Makes no second one. */
  readonly work: WorkQueue;
  /** How many unreadable documents are kept for a person to look at [S4]. Rejects with `StoreError`. */
  quarantined(): Promise<number>;
  /** Waits for running changes and closes the connections; later changes reject with `StoreError`. */
  close(): Promise<void>;
}

const changesAtOnce = 1000;

/**
 * The store in PostgreSQL [X1], which several processes may have open at once: a change is one transaction with the look that it rests on, and each look asks for the
 * present revision. What is erased is gone from every table; when its bytes leave the disk is up to vacuum, and to who keeps the server.
 * @throws {StoreError} where the database cannot be reached within the patience, or not be used.
 */
export async function createPostgresStore(options: PostgresStoreOptions): Promise<PostgresStore> {
  const {
    url,
    onSetAside = () => undefined,
    logger,
    as = 'shared',
    connections = 10,
    patienceMs = 5000,
    answerMs,
  } = options;
  const readOnly = as === 'reader';
  const session = await opening(options);
  const database = createDatabase({ url, logger, connections, patienceMs, answerMs });
  const locks = createKeyLocks(changesAtOnce);
  const entries = createEntries();
  const quarantine = createQuarantine(database);
  const documents = createDocuments({ database, entries, quarantine, locks, onSetAside, logger }, readOnly);
  const logs = createLogs({ database, locks, logger });
  const folders = createFolders(database);
  const queue = createWorkQueue({ database, logger });
  const running = new Set<Promise<unknown>>();
  let closed: Promise<void> | undefined;

  async function run<T>(key: string, action: string, work: () => Promise<T>): Promise<T> {
    assertKey(key);
    const job = work();
    running.add(job);
    try {
      return await job;
    } catch (error) {
      throw toStoreError(key, action, error);
    } finally {
      running.delete(job);
    }
  }

  /** `work` asks what it is given before each of its tries: while the database was away, the lock may have gone to another process. */
  async function change<T>(
    key: string,
    action: string,
    work: (isLost: () => boolean) => Promise<T>,
  ): Promise<T> {
    assertKey(key);
    if (readOnly) throw new StoreError(`${key} was not ${action}: the store is open for reading only`, key);
    if (closed !== undefined) throw new StoreError(`${key} was not ${action}: the store is closed`, key);
    const isLost = session?.lockWatch() ?? never;
    assertHeld(key, isLost);
    return run(key, action, () => work(isLost));
  }

  async function close(): Promise<void> {
    while (running.size > 0) await Promise.allSettled(running);
    queue.stop();
    await session?.close();
    await database.close();
  }

  return {
    work: queue,
    locks: session?.locks ?? noLocks,
    notices: session === undefined ? noNotices : createNotices(session),
    read: (key, kind) => run(key, 'read', () => documents.read(key, kind)),
    update: (key, kind, make, { erase = false } = {}) =>
      change(key, 'stored', (isLost) =>
        documents.update(key, kind, make, () => (typeof erase === 'function' ? erase() : erase), isLost),
      ),
    append: (log, record) => change(log, 'appended to', (isLost) => logs.append(log, record, isLost)),
    scan: (log, schema, { after = 0 } = {}) => reading(log, logs.scan(log, schema, after)),
    lastSequence: async (log) => (await run(log, 'read', () => logs.logState(log))).last,
    logState: (log) => run(log, 'read', () => logs.logState(log)),
    rewrite: (log, schema, make) =>
      change(log, 'rewritten', (isLost) => logs.rewrite(log, schema, make, isLost)),
    readText: (key) => run(key, 'read', () => documents.readText(key)),
    writeText: (key, text, { erase = false } = {}) =>
      change(key, 'written', (isLost) => documents.writeText(key, text, erase, isLost)),
    list: (folder) => run(folder, 'listed', () => folders.list(folder)),
    folders: (folder, name = '') => run(folder, 'listed', () => folders.folders(folder, name)),
    remove: (key) => change(key, 'removed', (isLost) => locks.run(key, () => folders.remove(key, isLost))),
    removeAll: (prefix) =>
      change(prefix, 'removed', (isLost) => locks.runAlone(prefix, () => folders.removeAll(prefix, isLost))),
    async quarantined() {
      try {
        return await quarantine.count();
      } catch (error) {
        throw toStoreError('quarantine', 'listed', error);
      }
    },
    close: () => (closed ??= close()),
  };
}

const never = (): boolean => false;

/** Who only reads needs none. */
const noLocks: Processes['locks'] = {
  hold: (key) =>
    Promise.reject(new StoreError(`${key} was not locked: the store is open for reading only`, key)),
  claim: () => Promise.resolve(undefined),
};
const noNotices: Processes['notices'] = { tell: () => {}, listen: () => {} };

/** Brings the database in order and takes a place in it; waits for a server that cannot be reached yet. */
async function opening({
  url,
  logger,
  as = 'shared',
  startPatienceMs = 60_000,
}: PostgresStoreOptions): Promise<Session | undefined> {
  const end = performance.now() + startPatienceMs;
  for (let isWaiting = false; ; isWaiting = true) {
    try {
      if (as === 'reader') return undefined;
      const session = await openSession(url, as, logger);
      try {
        await migrate(url);
      } catch (error) {
        await session.close();
        throw error;
      }
      return session;
    } catch (error) {
      const isPassing =
        error instanceof DatabaseFault && ['unsent', 'lost', 'read-only', 'conflict'].includes(error.fault);
      if (!isPassing || performance.now() >= end) throw toStoreError('The store', 'opened', error);
      if (!isWaiting) logger.warn('the database cannot be reached yet', { reason: error.message });
      await delay(Math.min(1000, Math.max(0, end - performance.now())));
    }
  }
}

async function* reading<T>(log: string, found: AsyncIterable<T>): AsyncGenerator<T> {
  assertKey(log);
  try {
    yield* found;
  } catch (error) {
    throw toStoreError(log, 'read', error);
  }
}
