import { randomBytes } from 'node:crypto';

import pg from 'pg';
import { afterEach, beforeEach, expect, it } from 'vitest';

import type { Notice } from '../../../src/core/processes.ts';
import type { PostgresStore } from '../../../src/storage/postgres/store.ts';
import { eventually } from '../../support/eventually.ts';
import { alice } from '../store-fixtures.ts';
import { createTemporaryDatabase, type TemporaryDatabase } from './temporary-database.ts';

const words = 'I like heliotrope pianos';

const stored: Notice = {
  kind: 'stored',
  stored: {
    userId: alice,
    messageId: '400000000000000001',
    notice: {
      line: `Remembered: ${words}`,
      bareLine: 'Remembered: 1 item',
      buttons: [{ label: 'Undo', line: 'memory undo 1', takes: 'answer' }],
      isQuiet: true,
    },
    about: { kind: 'item', id: 'a1b2c3d4', text: words, before: { id: 'b1b2c3d4', text: 'pianos' } },
  },
};
const written: Notice = { kind: 'written', userId: alice };
const erased: Notice = { kind: 'erased', userId: alice, isDone: true };

let database: TemporaryDatabase;
let stranger: pg.Client;
let role: string;
let [teller, hearer]: PostgresStore[] = [];
let heard: Notice[];

/** Somebody with a role of their own in the same database. */
beforeEach(async () => {
  database = await createTemporaryDatabase();
  role = `stranger_${randomBytes(4).toString('hex')}`;
  await database.query(`create role ${role} login password 'secret'`);
  const url = new URL(database.url);
  Object.assign(url, { username: role, password: 'secret' });
  stranger = new pg.Client({ connectionString: url.href });
  await stranger.connect();
  [teller, hearer] = await Promise.all([database.open(), database.open()]);
  heard = [];
  hearer.notices.listen((notice) => heard.push(notice));
});

afterEach(async () => {
  await stranger.end();
  await database.query(`drop role ${role}`);
  await database.dispose();
});

/** What comes over the channel to anybody who listens. */
async function overhear(): Promise<string[]> {
  const payloads: string[] = [];
  stranger.on('notification', ({ payload = '' }) => payloads.push(payload));
  await stranger.query('listen discoclaw');
  return payloads;
}

it('reach the other processes as they were told, in order [X6]', async () => {
  for (const notice of [stored, written]) teller?.notices.tell(notice);
  await eventually(() => expect(heard).toEqual([stored, written]));
  for (const notice of [erased, written]) teller?.notices.tell(notice);
  await eventually(() => expect(heard).toEqual([stored, written, erased, written]));
});

it('tell another role of the database no words and nobody’s id, and it can read them nowhere [X6]', async () => {
  const payloads = await overhear();
  for (const notice of [stored, erased, written]) teller?.notices.tell(notice);
  await eventually(() => expect(payloads).toHaveLength(3));
  expect(payloads.join()).not.toMatch(/heliotrope|pianos/u);
  expect(payloads.join()).not.toContain(alice);
  await expect(stranger.query('select * from discoclaw.notices')).rejects.toThrow('permission denied');
});

it('do nothing where another role forges or repeats one [X6]', async () => {
  const payloads = await overhear();
  teller?.notices.tell(written);
  await eventually(() => expect(payloads).toHaveLength(1));
  const [told = ''] = payloads;
  const forged = [
    told,
    told.replace(/\d+$/u, '9999999999999999999999'),
    told.replace(/\d+$/u, '-1'),
    `00000000-0000-0000-0000-000000000000:${told.split(':').at(-1)}`,
    `${'0'.repeat(36)}${JSON.stringify(erased)}`,
    'x'.repeat(7000),
  ];
  for (const payload of forged) await stranger.query('select pg_notify($1, $2)', ['discoclaw', payload]);
  // One that starts later is not told again either.
  const late = await database.open();
  late.notices.listen((notice) => heard.push(notice));
  await stranger.query('select pg_notify($1, $2)', ['discoclaw', told]);
  // An erasing takes the notices of its person away, so first another one comes behind it.
  teller?.notices.tell(stored);
  await eventually(() => expect(heard).toEqual([written, stored, stored]));
  teller?.notices.tell(erased);
  await eventually(() => expect(heard).toEqual([written, stored, stored, erased, erased]));
});

it('leave the database within seconds, and at once where their person has everything erased [S7]', async () => {
  teller?.notices.tell(stored);
  await eventually(() => expect(heard).toEqual([stored]));
  teller?.notices.tell(erased);
  await eventually(() => expect(heard).toEqual([stored, erased]));
  expect(await database.everything()).not.toContain('heliotrope');
  await database.query(`update discoclaw.notices set at = now() - interval '1 minute'`);
  await database.open();
  expect(await database.query('select * from discoclaw.notices')).toEqual([]);
});
