import { sql } from 'kysely';

import { UnusableStoreError } from '../../core/errors.ts';
import type { Database } from './database.ts';

const oldestServer = 14;

/** Processes that start at once make the tables one after the other. */
const schemaLock = 1_684_628_324;

/** `entries` has one row a key; its `id` differs for each new log, whose records hang on it. */
const statements = [
  sql`create schema discoclaw`,
  sql`
    create table discoclaw.entries (
      key text collate "C" primary key,
      kind text not null check (kind in ('document', 'text', 'log')),
      id bigint not null generated always as identity,
      revision bigint not null,
      bytes bigint not null default 0,
      changed_at timestamptz not null default now(),
      document json,
      former_document json,
      content bytea,
      former_content bytea,
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
];

/** Atomic, even where several processes start at once. @throws {DatabaseFault} @throws {UnusableStoreError} */
export async function createTables(database: Database): Promise<void> {
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
    if (!isThere) for (const statement of statements) await query(statement);
  });
}
