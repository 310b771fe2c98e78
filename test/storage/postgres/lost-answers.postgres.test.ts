import { sql, createDatabase } from '../../../src/storage/postgres/database.ts';
import type pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { StoreError } from '../../../src/core/errors.ts';
import { openBetween } from '../../support/between.ts';
import { deferred } from '../../support/deferred.ts';
import { eventually } from '../../support/eventually.ts';
import { counterKind, document, increment, log, notesOf } from '../store-fixtures.ts';
import { createTemporaryDatabase, type TemporaryDatabase } from './temporary-database.ts';

describe('a change whose answer is lost while the server still carries it out [S2]', () => {
  let database: TemporaryDatabase;
  let blocker: pg.Client;
  let closing: (() => Promise<void>) | undefined;
  beforeEach(async () => {
    database = await createTemporaryDatabase();
    blocker = await database.connect();
  });
  afterEach(async () => {
    await blocker.end();
    await closing?.();
    closing = undefined;
    await database.dispose();
  });

  /** Another process has begun to change what lies under a key, and does not come to an end with it. */
  async function block(key: string): Promise<void> {
    await blocker.query('begin');
    await blocker.query('select 1 from discoclaw.entries where key = $1 for update', [key]);
  }
  async function untilWaiting(count: number): Promise<void> {
    const waiting = `select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
    await eventually(async () => expect(await database.query(waiting)).toHaveLength(count));
  }

  it.each(['rollback', 'commit'] as const)(
    'is made once, also where the other one ends with %s only when it is tried again',
    async (end) => {
      await using between = await openBetween(database.url);
      const store = await database.open({ url: between.url, answerMs: 36_000, patienceMs: 60_000 });
      await store.append(log, { note: 'first' });
      await store.update(document, counterKind, increment);

      await block(log);
      const appended = store.append(log, { note: 'once' });
      await untilWaiting(1);
      between.cut();
      await untilWaiting(2);
      await blocker.query('update discoclaw.entries set revision = revision + 1 where key = $1', [log]);
      await blocker.query(end);
      expect(await appended).toBe(2);
      expect(await notesOf(store, log)).toEqual(['first', 'once']);

      await block(document);
      const updated = store.update(document, counterKind, increment);
      await untilWaiting(1);
      between.cut();
      await untilWaiting(2);
      await blocker.query(end);
      expect(await updated).toEqual({ version: 1, count: 2 });
    },
  );

  it('is made once where the answer to its commit is lost', async () => {
    await using between = await openBetween(database.url);
    const store = await database.open({ url: between.url });
    await store.append(log, { note: 'first' });
    await blocker.query(
      `create function public.slowly() returns trigger language plpgsql as $$ begin perform pg_sleep(0.5); return null; end $$`,
    );
    await blocker.query(
      'create constraint trigger slowly after insert on discoclaw.records deferrable initially deferred for each row execute function public.slowly()',
    );
    const appended = store.append(log, { note: 'once' });
    const committing = `select 1 from pg_stat_activity where query = 'commit' and state = 'active' and datname = current_database()`;
    await eventually(async () => expect(await database.query(committing)).toHaveLength(1));
    between.cut();
    expect(await appended).toBe(2);
    expect(await notesOf(store, log)).toEqual(['first', 'once']);
  });

  it('is not made any more where it was given up', async () => {
    const store = await database.open({ answerMs: 2400 });
    await store.append(log, { note: 'first' });
    await block(log);
    await expect(store.append(log, { note: 'given up' })).rejects.toThrow(StoreError);
    await blocker.query('rollback');
    expect(await store.append(log, { note: 'next' })).toBe(2);
    expect(await notesOf(store, log)).toEqual(['first', 'next']);
  });

  it('is not waited for where its process stands still in the middle of it, and is made when that goes on', async () => {
    const store = await database.open();
    await store.append(log, { note: 'first' });
    const frozen = createDatabase({
      url: database.url,
      logger: database.logger,
      connections: 1,
      patienceMs: 5000,
      answerMs: 3000,
    });
    closing = frozen.close;
    const [begun, gate] = [deferred<void>(), deferred<void>()];
    let tries = 0;
    const change = frozen.transaction(async (query) => {
      tries += 1;
      await query(sql`select 1 from discoclaw.entries where key = ${log} for update`);
      begun.resolve();
      await gate.promise;
      await query(sql`update discoclaw.records set record = '{"note":"changed"}' where sequence = 1`);
    });
    await begun.promise;
    expect(await store.append(log, { note: 'second' })).toBe(2);
    gate.resolve();
    await change;
    expect(tries).toBe(2);
    expect(await notesOf(store, log)).toEqual(['changed', 'second']);
  });
});
