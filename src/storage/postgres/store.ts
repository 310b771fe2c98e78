import type { Logger } from '../../core/logger.ts';
import { createOneProcess, type Processes } from '../../core/processes.ts';
import type { LastWrite, SetAside, Store } from '../../core/store.ts';
import { retry, type Clock } from '../../core/time.ts';
import type { WorkQueue } from '../../core/work-queue.ts';
import { createCalls } from '../calls.ts';
import { createKeyLocks } from '../key-locks.ts';
import { createDatabase, type Database, DatabaseFault, toStoreError, sql } from './database.ts';
import { listQuarantined, createDocuments, createFolders } from './documents.ts';
import { createLogs } from './logs.ts';
import { openSession, removeOldNotices, type Presence, type Session } from './session.ts';
import { createWorkQueue } from './work-queue.ts';
import { UnusableStoreError } from '../../core/errors.ts';

export interface PostgresStoreOptions {
  /** `postgres://…` */
  readonly url: string;
  /** Called for every document that is set aside; must not throw. */
  readonly onSetAside?: ((file: SetAside) => void) | undefined;
  readonly clock?: Clock;
  readonly logger: Logger;
  /** `shared` beside other bots; `alone` where no bot runs; `reader` changes nothing, and writes reject. Default: `shared`. */
  readonly as?: Presence | 'reader';
  readonly connections?: number;
  /** How long failures are retried while the database is out of reach, in milliseconds. Default: 5000. */
  readonly patienceMs?: number;
  /** How long an answer of the database is waited for, in milliseconds. Default: a minute. */
  readonly answerMs?: number;
  /** How long the start waits for the server, in milliseconds. Default: a minute. */
  readonly startPatienceMs?: number;
}

export interface PostgresStore extends Store, Processes {
  /** The work after turns, which any process with this database may do [X2]. */
  readonly work: WorkQueue;
  /** Keys of the unreadable documents that are kept for a person to look at [S4]. Rejects with `StoreError`. */
  readonly quarantined: () => Promise<readonly string[]>;
  readonly lastWrite: () => LastWrite | undefined;
  /** Waits for running changes and closes the connections; later changes reject with `StoreError`. */
  readonly close: () => Promise<void>;
}

const changesAtOnce = 1000;

/**
 * The store in PostgreSQL [X1], for several processes at once: a change is one transaction with its read, and
 * nothing is cached. Erased data is gone from every table; when its bytes leave the disk is up to
 * vacuum and the server's operator.
 * @throws {StoreError} where the database cannot be reached within the patience, or used.
 */
export async function createPostgresStore(options: PostgresStoreOptions): Promise<PostgresStore> {
  const { url, onSetAside = () => undefined, logger, as = 'shared' } = options;
  const { clock = () => new Date(), connections = 10, patienceMs = 5000, answerMs } = options;
  const readOnly = as === 'reader';
  let session: Session | undefined;
  const assertHeld = () => session?.assertHeld();
  const database = createDatabase({ url, logger, connections, patienceMs, answerMs, assertHeld });
  session = as === 'reader' ? undefined : await opening(database, as, options);
  const { locks: processLocks, notices } = session ?? createOneProcess();
  const calls = createCalls({ readOnly, toStoreError, beforeChange: assertHeld, clock });
  const locks = createKeyLocks(changesAtOnce);
  const documents = createDocuments({ database, locks, onSetAside, logger }, readOnly);
  const logs = createLogs({ database, locks, logger });
  const work = createWorkQueue({ database, logger });
  let closed: Promise<void> | undefined;

  async function close(): Promise<void> {
    await calls.close();
    work.stop();
    await session?.close();
    await database.close();
  }

  return {
    ...calls.guarded({ ...documents, ...logs, ...createFolders(database) }, locks),
    work,
    locks: processLocks,
    notices,
    lastWrite: calls.lastWrite,
    quarantined: () => calls.track('quarantine', 'listed', () => listQuarantined(database)),
    close: () => (closed ??= close()),
  };
}

/** Opens the session and the tables; waits for a server that cannot be reached yet. */
async function opening(
  database: Database,
  presence: Presence,
  { url, logger, startPatienceMs = 60_000 }: PostgresStoreOptions,
): Promise<Session> {
  const end = performance.now() + startPatienceMs;
  return retry(
    () => openTables(database, presence, url, logger),
    (error, failures) => {
      const isPassing = error instanceof DatabaseFault && ['lost', 'conflict'].includes(error.fault);
      const leftMs = end - performance.now();
      if (!isPassing || leftMs <= 0) throw error;
      if (failures === 1) logger.warn('the database cannot be reached yet', { reason: error.message });
      return Math.min(1000, leftMs);
    },
  ).catch(async (error: unknown) => {
    await database.close();
    throw toStoreError('The store', 'opened', error);
  });
}

/** The session is held while the tables are made. */
async function openTables(
  database: Database,
  presence: Presence,
  url: string,
  logger: Logger,
): Promise<Session> {
  const session = await openSession(url, presence, logger);
  try {
    await createTables(database);
    return session;
  } catch (error) {
    await session.close();
    throw error;
  }
}

const oldestServer = 14;

/** Processes that start at once make the tables one after the other. */
const schemaLock = 1_684_628_324;

/** `entries` has one row a key; its `id` differs for each new log, whose records hang on it, and `revision` after each rewriting. */
const statements = [
  sql`create schema discoclaw`,
  sql`
    create table discoclaw.entries (
      key text collate "C" primary key,
      kind text not null check (kind in ('document', 'text', 'log')),
      id bigint not null generated always as identity,
      revision bigint not null default 0,
      bytes bigint not null default 0,
      changed_at timestamptz not null default now(),
      document json,
      former_document json,
      content bytea,
      highest bigint not null default 0
    ) with (fillfactor = 80)`,
  sql`
    create table discoclaw.records (
      log bigint not null,
      sequence bigint not null,
      record json not null,
      primary key (log, sequence)
    )`,
  sql`
    create table discoclaw.quarantine (
      id bigint not null generated always as identity primary key,
      key text collate "C" not null,
      at timestamptz not null default now(),
      reason text not null,
      content bytea not null
    )`,
  sql`create index quarantine_key on discoclaw.quarantine (key)`,
  sql`
    create table discoclaw.work (
      person text collate "C" primary key,
      waiting jsonb not null,
      taken text[],
      fence bigint not null default 0,
      next_at timestamptz not null
    ) with (fillfactor = 70)`,
  sql`create index work_next on discoclaw.work (next_at)`,
  // Not in write-ahead logs, archives and replicas: the words in it are for seconds.
  sql`
    create unlogged table discoclaw.notices (
      id bigint not null generated always as identity primary key,
      person text collate "C" not null,
      at timestamptz not null default now(),
      body jsonb not null
    )`,
];

/** Atomic, even where several processes start at once. @throws {DatabaseFault} @throws {UnusableStoreError} */
async function createTables(database: Database): Promise<void> {
  await database.transaction(async (query) => {
    await query(sql`select pg_advisory_xact_lock(${schemaLock})`);
    const [found] = await query(sql<{ version: number; isThere: boolean }>`
      select current_setting('server_version_num')::int / 10000 as version,
        to_regclass('discoclaw.entries') is not null as "isThere"`);
    const { version = 0, isThere = false } = found ?? {};
    if (version < oldestServer)
      throw new UnusableStoreError(
        `The database's server is PostgreSQL ${version}: the bot needs ${oldestServer} or newer`,
        '.',
      );
    if (isThere) await query({ text: removeOldNotices, values: [] });
    else for (const statement of statements) await query(statement);
  });
}
