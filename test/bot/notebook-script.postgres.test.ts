import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect, it } from 'vitest';

import { alice } from '../storage/store-fixtures.ts';
import { createTemporaryDatabase } from '../storage/postgres/temporary-database.ts';
import { runProcess } from '../support/processes.ts';

it('a notebook in a database can be edited in a folder, while the bot runs [S5][X1]', async () => {
  const database = await createTemporaryDatabase();
  const bot = await database.open();
  await bot.writeText(`users/${alice}/notebook/facts/кофе.md`, '# Coffee\n');
  await bot.writeText(`users/${alice}/notebook/USER.md`, '# Alice\n');
  const folder = await mkdtemp(join(tmpdir(), 'discoclaw-notebook-'));
  const run = (...words: readonly string[]) =>
    runProcess('npm', ['run', '--silent', 'notebook', '--', ...words], {
      cwd: new URL('../..', import.meta.url).pathname,
      env: { PATH: process.env['PATH'], HOME: folder, DISCOCLAW_STORE: database.url },
    });
  expect((await run('pull', alice, join(folder, 'notes'))).code).toBe(0);
  expect(await readFile(join(folder, 'notes/facts/кофе.md'), 'utf8')).toBe('# Coffee\n');
  await writeFile(join(folder, 'notes/USER.md'), '# Alice\n- Keeps bees\n');
  expect((await run('push', alice, join(folder, 'notes'))).output).toBe(`users/${alice}/notebook/USER.md\n`);
  expect(await bot.readText(`users/${alice}/notebook/USER.md`)).toBe('# Alice\n- Keeps bees\n');
  expect((await run('push', 'bob', folder)).code).toBe(2);
  await database.dispose();
});
