import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect, it } from 'vitest';

import { alice } from '../storage/store-fixtures.ts';
import { createTemporaryDatabase } from '../storage/postgres/temporary-database.ts';
import { startChild } from '../e2e/child.ts';

it('a notebook in a database can be edited in a folder, while the bot runs [S5][X1]', async () => {
  const database = await createTemporaryDatabase();
  const bot = await database.open();
  await bot.writeText(`users/${alice}/notebook/facts/кофе.md`, '# Coffee\n');
  await bot.writeText(`users/${alice}/notebook/USER.md`, '# Alice\n');
  const folder = await mkdtemp(join(tmpdir(), 'discoclaw-notebook-'));
  async function run(words: readonly string[], store = database.url) {
    const environment = { DISCOCLAW_STORE: store, DISCOCLAW_DATA_DIR: folder };
    const child = startChild({ folder, arguments: ['notebook', ...words], environment });
    return { code: await child.exited, output: child.output() };
  }
  expect((await run(['pull', alice, join(folder, 'notes')])).code).toBe(0);
  expect(await readFile(join(folder, 'notes/facts/кофе.md'), 'utf8')).toBe('# Coffee\n');
  await writeFile(join(folder, 'notes/USER.md'), '# Alice\n- Keeps bees\n');
  expect((await run(['push', alice, join(folder, 'notes')])).output).toBe(
    `users/${alice}/notebook/USER.md\n`,
  );
  expect(await bot.readText(`users/${alice}/notebook/USER.md`)).toBe('# Alice\n- Keeps bees\n');
  // Pushed once more, the folder is as it was pulled; what the bot wrote since, or took away, is in the way of an edit only.
  await bot.writeText(`users/${alice}/notebook/USER.md`, '# Alice\n- Keeps bees\n- Has a dog\n');
  await bot.remove(`users/${alice}/notebook/facts/кофе.md`);
  expect(await run(['push', alice, join(folder, 'notes')])).toEqual({ code: 0, output: '' });
  await writeFile(join(folder, 'notes/facts/кофе.md'), '# Coffee\n- Black\n');
  await writeFile(join(folder, 'notes/USER.md'), '# Alice\n');
  await writeFile(join(folder, 'notes/new.md'), '# New\n');
  const refused = await run(['push', alice, join(folder, 'notes')]);
  expect(refused.code).toBe(2);
  expect(refused.output).toContain('these have changed since they were pulled: USER.md, facts/кофе.md');
  expect(await bot.list(`users/${alice}/notebook`)).toHaveLength(1);
  expect(await bot.readText(`users/${alice}/notebook/USER.md`)).toContain('Has a dog');
  await database.dispose();
});
