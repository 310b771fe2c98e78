import { spawn } from 'node:child_process';
import { once } from 'node:events';

import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

import { StoreError, UnusableStoreError } from '../../../src/core/errors.ts';
import { createPostgresStore, type PostgresStore } from '../../../src/storage/postgres/store.ts';
import { RecordingLogger } from '../../support/recording-logger.ts';
import { startPostgresServer, type PostgresServer } from '../../support/postgres-server.ts';
import { eventually } from '../../support/eventually.ts';
import { deferred } from '../../support/deferred.ts';
import { alice, counterKind, document, increment, log, notesOf } from '../store-fixtures.ts';

/** The server's processes for connections of now. */
async function backendsOf(server: PostgresServer): Promise<readonly number[]> {
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  const { rows } = await client.query<{ pid: number }>(
    `select pid from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()`,
  );
  await client.end();
  return rows.map(({ pid }) => pid);
}

describe('a database that fails [S2][E3]', () => {
  let server: PostgresServer;
  const logger = new RecordingLogger();
  const opened: PostgresStore[] = [];
  beforeAll(async () => {
    // Without syncs to the disk, which stays where the server is killed, but with those to the system.
    server = await startPostgresServer({ fsync: 'off', full_page_writes: 'off' });
  });
  afterAll(() => server.dispose());
  afterEach(async () => {
    for (const store of opened.splice(0)) await store.close();
  });

  async function open(patienceMs: number): Promise<PostgresStore> {
    const store = await createPostgresStore({
      url: server.url,
      logger,
      patienceMs,
    });
    opened.push(store);
    await store.removeAll('users');
    await store.removeAll('sessions');
    return store;
  }

  it.each(['fast', 'immediate'] as const)(
    'is waited for while it restarts (%s): nothing is lost, nothing done twice',
    async (how) => {
      const store = await open(60_000);
      const notes = Array.from({ length: 300 }, (_, index) => `${index}`);
      const work: Promise<unknown>[] = [];
      let done = 0;
      for (const [index, note] of notes.entries()) {
        work.push(
          store.append(log, { note }).then(() => (done += 1)),
          store.update(document, counterKind, increment),
        );
        if (index % 10 === 0) await Promise.race(work.slice(-2));
        if (index === 100) {
          await server.stop(how);
          void server.start();
        }
      }
      await Promise.all(work);
      expect(done).toBe(300);
      expect(await notesOf(store, log)).toEqual(notes);
      expect(await store.read(document, counterKind)).toEqual({ version: 1, count: 300 });
    },
  );

  it('that is away for longer is reported at once, and used again when it is back', async () => {
    const store = await open(200);
    await store.append(log, { note: 'before' });
    await server.stop();
    await expect(store.append(log, { note: 'lost' })).rejects.toThrow(StoreError);
    await expect(store.read(document, counterKind)).rejects.toThrow(StoreError);
    await server.start();
    expect(await store.append(log, { note: 'after' })).toBe(2);
    expect(await notesOf(store, log)).toEqual(['before', 'after']);
    expect(logger.lines.map(({ event }) => event)).toContain('the database can be reached again');
  });

  it(
    'that falls silent, like a machine that is gone, keeps no lock for ever',
    { timeout: 60_000 },
    async () => {
      const store = await open(60_000);
      const stopped = await backendsOf(server);
      for (const pid of stopped) process.kill(pid, 'SIGSTOP');
      const ended = deferred<void>();
      const held = store.locks.hold(alice, () => ended.promise);
      // It waits for the answer no longer than others may wait for a lock, and another connection has it then.
      ended.resolve();
      await held;
      for (const pid of stopped) process.kill(pid, 'SIGCONT');
      expect(logger.lines.map(({ event }) => event)).toContain('advisory-lock connection lost, reconnecting');
    },
  );

  it('that refuses writes, or whose disk is full, keeps its data', async () => {
    const store = await open(200);
    await store.update(document, counterKind, increment);
    await server.stop();
    await server.start({ default_transaction_read_only: 'on' });
    await expect(store.update(document, counterKind, increment)).rejects.toThrow(StoreError);
    expect(await store.read(document, counterKind)).toEqual({ version: 1, count: 1 });
    await server.stop();
    await server.start();
    const client = new pg.Client({ connectionString: server.url });
    await client.connect();
    await client.query(`
      create function full_disk() returns trigger language plpgsql as $$
      begin raise exception 'could not extend file' using errcode = '53100'; end $$;
      create trigger full_disk before insert or update on discoclaw.entries for each row execute function full_disk()`);
    await expect(store.update(document, counterKind, increment)).rejects.toThrow('53100');
    await expect(store.append(log, { note: 'x' })).rejects.toThrow(StoreError);
    expect(await store.read(document, counterKind)).toEqual({ version: 1, count: 1 });
    await client.query('drop function full_disk cascade');
    await client.end();
    expect(await store.update(document, counterKind, increment)).toEqual({ version: 1, count: 2 });
  });

  it('is reported clearly at the start: what is wrong for good, and what is only away', async () => {
    const nowhere = server.url.replace(/postgres$/u, 'nowhere');
    await expect(createPostgresStore({ url: nowhere, logger })).rejects.toThrow(UnusableStoreError);
    const away = createPostgresStore({ url: 'postgres://x@127.0.0.1:1/x', logger, startPatienceMs: 100 });
    await expect(away).rejects.toThrow(/opened.*ECONNREFUSED/u);
    await expect(away).rejects.not.toThrow(UnusableStoreError);
  });

  it('is repaired by the next start after a kill in the middle of one [X1]', async () => {
    const client = new pg.Client({ connectionString: server.url });
    await client.connect();
    await client.query('create database half');
    await client.end();
    const url = server.url.replace(/postgres$/u, 'half');
    const beside = new pg.Client({ connectionString: url });
    await beside.connect();
    // Some tables are made by then.
    await beside.query(`
      create function stall() returns event_trigger language plpgsql as $$ begin perform pg_sleep(600); end $$;
      create event trigger stall on ddl_command_start when tag in ('CREATE INDEX') execute function stall()`);
    const program = `
      import { createPostgresStore } from './src/storage/postgres/store.ts';
      await createPostgresStore({ url: '${url}', logger: console });`;
    const options = ['--import', 'ts-blank-space/register', '--input-type=module', '--eval', program];
    const child = spawn(process.execPath, options, { stdio: 'ignore' });
    const ended = once(child, 'close');
    const stalled = `select pid from pg_stat_activity where datname = 'half' and wait_event = 'PgSleep'`;
    await eventually(async () => expect((await beside.query(stalled)).rows).toHaveLength(1));
    child.kill('SIGKILL');
    await ended;
    await beside.query(`select pg_terminate_backend(pid) from (${stalled}) stalled`);
    await beside.query(
      'set session_replication_role = replica; drop event trigger stall; drop function stall',
    );
    await beside.end();
    const store = await createPostgresStore({ url, logger });
    opened.push(store);
    expect(await store.append(log, { note: 'first' })).toBe(1);
    expect(await store.update(document, counterKind, increment)).toEqual({ version: 1, count: 1 });
  });
});
