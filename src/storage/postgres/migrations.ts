import { Kysely, Migrator, PostgresDialect, sql, type Migration } from 'kysely';
import pg from 'pg';

import { UnusableStoreError } from '../../core/errors.ts';
import { poolOptions } from './database.ts';
import { queryFault } from './faults.ts';

/** Everything lies in a schema of its own, so that the database may hold other things too. */
const schema = 'discoclaw';

const oldestServer = 14;

/** What the tables of a new database come about by, in order; each stays as it is once it was published. */
const migrations: Readonly<Record<string, Migration>> = {
  '0001-entries': {
    async up(db) {
      // One row a key, whatever it leads to. `id` is another for each new log under a key: its records hang on it.
      await sql`
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
        ) with (fillfactor = 80)`.execute(db);
      await sql`
        create table discoclaw.records (
          log bigint not null,
          sequence bigint not null,
          record json not null,
          primary key (log, sequence)
        )`.execute(db);
      await sql`
        create table discoclaw.quarantine (
          id bigint not null generated always as identity primary key,
          key text collate "C" not null,
          at timestamptz not null default now(),
          reason text not null,
          content bytea not null
        )`.execute(db);
      await sql`create index quarantine_key on discoclaw.quarantine (key)`.execute(db);
      await sql`
        create table discoclaw.work (
          person text collate "C" primary key,
          waiting jsonb not null,
          taken text[],
          fence bigint not null default 0,
          next_at timestamptz not null
        ) with (fillfactor = 70)`.execute(db);
      await sql`create index work_next on discoclaw.work (next_at)`.execute(db);
      // Everything from one key to before another, with all that hangs on it. The rows are locked first, and what hangs on them is looked for then:
      // each statement sees what was committed before it.
      await sql`
        create function discoclaw.remove_between(first text, beyond text) returns void
        language plpgsql as $$
        declare
          logs bigint[];
        begin
          with removed as (
            delete from discoclaw.entries where key >= first and key < beyond returning id, kind
          )
          select array_agg(id) into logs from removed where kind = 'log';
          delete from discoclaw.records where log = any(logs);
          delete from discoclaw.quarantine where key >= first and key < beyond;
        end
        $$`.execute(db);
    },
  },
};

/**
 * Brings the database to what this program needs: all of it or nothing, also where several processes start at once.
 * @throws {DatabaseFault} @throws {UnusableStoreError} where the server is too old, or the database was made by a newer program.
 */
export async function migrate(url: string): Promise<void> {
  const pool = new pg.Pool({ ...poolOptions(url), max: 2 });
  pool.on('error', () => {});
  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) });
  try {
    const { rows } = await sql<{
      version: number;
    }>`select current_setting('server_version_num')::int as version`.execute(db);
    const version = Math.floor((rows[0]?.version ?? 0) / 10_000);
    if (version < oldestServer)
      throw new UnusableStoreError(
        `The database's server is PostgreSQL ${version}: the bot needs ${oldestServer} or newer`,
        '.',
      );
    if (await isUpToDate(db)) return;
    const migrator = new Migrator({
      db,
      migrationTableSchema: schema,
      provider: { getMigrations: () => Promise.resolve({ ...migrations }) },
    });
    const { error } = await migrator.migrateToLatest();
    if (error !== undefined) throw error;
  } catch (error) {
    if (
      error instanceof Error &&
      error.message.startsWith('corrupted migrations: previously executed migration')
    )
      throw new UnusableStoreError(
        'A newer version of the bot has used this database: start that one, or restore a backup',
        '.',
        { cause: error },
      );
    throw error instanceof UnusableStoreError ? error : queryFault(error);
  } finally {
    await db.destroy();
  }
}

/** The usual case, asked in one statement where the library takes a dozen. */
async function isUpToDate(db: Kysely<unknown>): Promise<boolean> {
  const table = sql.lit(`${schema}.kysely_migration`);
  const { rows: found } = await sql<{
    isThere: boolean;
  }>`select to_regclass(${table}) is not null as "isThere"`.execute(db);
  if (found[0]?.isThere !== true) return false;
  const { rows } = await sql<{
    name: string;
  }>`select name from discoclaw.kysely_migration order by name`.execute(db);
  const names = Object.keys(migrations);
  return rows.length === names.length && rows.every(({ name }, index) => name === names[index]);
}
