import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { StoreError } from '../../../src/core/errors.ts';
import type { PostgresStore } from '../../../src/storage/postgres/store.ts';
import { deferred } from '../../support/deferred.ts';
import { eventually } from '../../support/eventually.ts';
import {
  alice,
  counterKind,
  document,
  increment,
  log,
  noteSchema,
  notesOf,
  text,
} from '../store-fixtures.ts';
import { createTemporaryDatabase, type TemporaryDatabase } from './temporary-database.ts';

/** What processes hold, and what waits, in this test's database: others run on the same server. */
const heldLocks = `from pg_locks where locktype = 'advisory' and objsubid = 1 and granted
  and database = (select oid from pg_database where datname = current_database())`;
const waiting = `from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;

describe('two stores on one database [X1][X2]', () => {
  let database: TemporaryDatabase;
  let [one, other]: PostgresStore[] = [];
  beforeEach(async () => {
    database = await createTemporaryDatabase();
    [one, other] = await Promise.all([database.open(), database.open()]);
  });
  afterEach(() => database.dispose());
  const both = () => {
    if (one === undefined || other === undefined) throw new Error('Both are opened first');
    return [one, other] as const;
  };

  const either = (index: number) => both()[index % 2 === 0 ? 0 : 1];

  it('lose no change of one document that both make at once', async () => {
    await Promise.all(
      Array.from({ length: 30 }, (_, index) => either(index).update(document, counterKind, increment)),
    );
    for (const store of both())
      expect(await store.read(document, counterKind)).toEqual({ version: 1, count: 30 });
  });

  it('lose nothing where one rewrites a log or removes its folder while the other adds to it', async () => {
    const [first, second] = both();
    const added = Array.from({ length: 20 }, (_, index) => first.append(log, { note: `${index}` }));
    const rewritten = second.rewrite(log, noteSchema, ({ record }) => ({
      note: record.note.padStart(3, '0'),
    }));
    await Promise.all([...added, rewritten]);
    expect((await notesOf(second, log)).map(Number)).toEqual(Array.from({ length: 20 }, (_, index) => index));
    await Promise.all([
      second.removeAll('sessions'),
      ...Array.from({ length: 20 }, () => first.append(log, { note: 'x' })),
    ]);
    const rows = await database.query(
      'select count(*)::int as lost from discoclaw.records where log not in (select id from discoclaw.entries)',
    );
    expect(rows).toEqual([{ lost: 0 }]);
  });

  it('hold a lock one after the other', async () => {
    const [first, second] = both();
    const order: string[] = [];
    const gate = deferred<void>();
    const held = deferred<void>();
    const earlier = first.locks.hold(alice, async () => {
      held.resolve();
      await gate.promise;
      order.push('first');
    });
    await held.promise;
    const later = second.locks.hold(alice, async () => void order.push('second'));
    await second.locks.hold('another key', async () => void order.push('beside'));
    gate.resolve();
    await Promise.all([earlier, later]);
    expect(order).toEqual(['beside', 'first', 'second']);
  });

  it('store nothing more of a job whose lock was lost, and release that lock', async () => {
    const [first, second] = both();
    const failing = first.locks.hold(alice, async () => {
      await database.query(`select pg_terminate_backend(pid) ${heldLocks}`);
      await second.locks.hold(alice, () => second.update(document, counterKind, increment));
      await first.update(document, counterKind, increment);
    });
    await expect(failing).rejects.toThrow(StoreError);
    await first.locks.hold(alice, () => first.update(document, counterKind, increment));
    expect(await first.read(document, counterKind)).toEqual({ version: 1, count: 2 });
  });

  it('write nothing of a job whose lock was lost that waited for the database [X2]', async () => {
    const [first, second] = both();
    await first.update(document, counterKind, increment);
    const blocker = await database.connect();
    await blocker.query('begin');
    await blocker.query('select 1 from discoclaw.entries where key = $1 for update', [document]);
    const lost = first.locks.hold(alice, async () => {
      const writing = first.update(document, counterKind, increment);
      const appending = first.append(log, { note: 'late' });
      writing.catch(() => undefined);
      await appending;
      // All connections of the first process go, while its change waits for a row.
      await eventually(async () =>
        expect(await database.query(`select 1 ${waiting}`)).toEqual([expect.anything()]),
      );
      await database.query(`select pg_terminate_backend(pid) ${heldLocks}`);
      await second.locks.hold(alice, () => Promise.resolve());
      await database.query(`select pg_terminate_backend(pid) ${waiting}`);
      await writing;
    });
    await expect(lost).rejects.toThrow('the lock that this relied on was lost');
    await blocker.query('rollback');
    await blocker.end();
    expect(await second.read(document, counterKind)).toEqual({ version: 1, count: 1 });
  });

  it('let a job’s leftovers write after it, whatever became of its lock', async () => {
    const [first, second] = both();
    const gate = deferred<void>();
    const after = await first.locks.hold(alice, async () => ({
      written: gate.promise.then(() => first.update(document, counterKind, increment)),
    }));
    await database.query(`select pg_terminate_backend(pid) ${heldLocks}`);
    await second.locks.hold(alice, () => Promise.resolve());
    await first.locks.hold(alice, () => Promise.resolve());
    gate.resolve();
    expect(await after.written).toEqual({ version: 1, count: 1 });
  });

  it('give a claim to one of those that ask at once, until it is released or its connection lost', async () => {
    const [first, second] = both();
    const ask = () => Promise.all([first, first, second].map((store) => store.locks.claim('job')));
    const held = (await ask()).filter((claim) => claim !== undefined);
    expect(held).toHaveLength(1);
    expect(await ask()).toEqual([undefined, undefined, undefined]);
    await held[0]?.release();
    expect(await first.locks.claim('job')).toBeDefined();
    await database.query(`select pg_terminate_backend(pid) ${heldLocks}`);
    await eventually(async () => expect(await second.locks.claim('job')).toBeDefined());
  });

  it('exclude a caller that wants to be alone, and are excluded by it', async () => {
    await expect(database.open({ as: 'alone' })).rejects.toThrow('stop it first');
    for (const store of both()) await store.close();
    const alone = await database.open({ as: 'alone' });
    await expect(database.open()).rejects.toThrow('for itself');
    await alone.close();
    const reader = await database.open({ as: 'reader' });
    await expect(reader.writeText(text, 'x')).rejects.toThrow(StoreError);
  });

  it('can be made at the same time in an empty database', async () => {
    for (const store of both()) await store.close();
    await database.query('drop schema discoclaw cascade');
    const stores = await Promise.all(Array.from({ length: 4 }, () => database.open()));
    await Promise.all(stores.map((store) => store.update(document, counterKind, increment)));
    expect(await stores[0]?.read(document, counterKind)).toEqual({ version: 1, count: 4 });
  });

  it('put an unreadable document into quarantine once, use its last good copy, and erase both [S4][S7]', async () => {
    const [first, second] = both();
    for (const store of both()) await store.update(document, counterKind, increment);
    await database.query(`update discoclaw.entries set document = '{"version":1,"count":"canary"}'`);
    const reader = await database.open({ as: 'reader' });
    await expect(reader.read(document, counterKind)).rejects.toThrow('cannot be read');
    expect(await reader.quarantined()).toEqual([]);
    expect(await Promise.all(both().map((store) => store.read(document, counterKind)))).toEqual([
      { version: 1, count: 2 },
      { version: 1, count: 2 },
    ]);
    expect(await second.quarantined()).toEqual([document]);
    await first.update(document, counterKind, increment, { erase: true });
    expect(await second.quarantined()).toEqual([]);
    expect(await database.everything()).not.toContain('canary');
    await database.query(`update discoclaw.entries set document = '{"version":1,"count":"canary"}'`);
    await first.read(document, counterKind);
    await first.removeAll('users');
    expect(await second.quarantined()).toEqual([]);
  });
});
