import { expect, it, onTestFinished } from 'vitest';

import { checkDatabase } from '../../src/bot/disk-checks.ts';
import { readConfig } from '../../src/config/config.ts';
import { counterKind, increment } from '../storage/store-fixtures.ts';
import { createTemporaryDatabase } from '../storage/postgres/temporary-database.ts';
import { silent } from '../support/sessions.ts';

const check = (url: string) => checkDatabase(readConfig({ DISCOCLAW_STORE: url }).config, silent);

it('the doctor tells whether a database can be used, and what lies in its quarantine, and changes nothing [O1][X1]', async () => {
  const database = await createTemporaryDatabase();
  onTestFinished(() => database.dispose());
  const bot = await database.open();
  expect(await check(database.url)).toMatchObject([{ level: 'fine' }]);

  await bot.update('users/1/durable.json', counterKind, increment);
  await database.query(`update discoclaw.entries set document = '{}', former_document = '[]', revision = 7`);
  const before = await database.everything();
  expect(await check(database.url)).toMatchObject([{ level: 'fine' }]);
  expect(await database.everything()).toBe(before);
  // Neither the document nor its copy is any good.
  expect(await bot.read('users/1/durable.json', counterKind)).toBeUndefined();
  expect(await check(database.url)).toMatchObject([
    { level: 'warning', text: expect.stringContaining('users/1/durable.json') },
  ]);

  const gone = new URL(database.url);
  gone.pathname = '/discoclaw_nowhere';
  expect(await check(gone.href)).toMatchObject([{ level: 'broken' }]);
});
