import { appendFile, cp, mkdtemp, readdir, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect, it, onTestFinished } from 'vitest';

import { runProcess } from '../support/processes.ts';
import { runs } from '../support/runs.ts';
import { startChild } from './child.ts';

const rounds = runs(5, 1);

it(`two builds of different sources and a start at the same time are in nobody's way, ${rounds} times [O7]`, async () => {
  const root = new URL('../..', import.meta.url).pathname;
  const tree = await mkdtemp(join(tmpdir(), 'discoclaw-builds-'));
  onTestFinished(() => rm(tree, { recursive: true, force: true }));
  for (const name of ['src', 'scripts', 'package.json'])
    await cp(join(root, name), join(tree, name), { recursive: true });
  await symlink(join(root, 'node_modules'), join(tree, 'node_modules'));
  const build = () => runProcess(process.execPath, ['scripts/build.mjs'], { cwd: tree });
  const change = (text: string) => appendFile(join(tree, 'src/bot/run.ts'), `console.log('${text}');\n`);
  const start = async () => {
    const bot = startChild({
      script: join(tree, 'dist/main.js'),
      folder: tree,
      environment: { DISCORD_TOKEN: 'token', DISCORD_API_URL: 'http://127.0.0.1:9/api' },
    });
    const output = await bot.waitFor('Discord cannot be reached');
    expect(await bot.end('SIGTERM')).toBe(0);
    return output;
  };
  expect(await build()).toMatchObject({ code: 0 });
  for (let round = 0; round < rounds; round += 1) {
    await change(`first of round ${round}`);
    const first = build();
    await change(`second of round ${round}`);
    const outcomes = await Promise.all([first, build(), start()]);
    expect(outcomes).toMatchObject([{ code: 0, errors: '' }, { code: 0, errors: '' }, expect.any(String)]);
  }
  expect(await build()).toMatchObject({ code: 0 });
  expect(await start()).toContain(`second of round ${rounds - 1}`);
  expect((await readdir(join(tree, 'dist'))).filter((name) => name.startsWith('.'))).toEqual([]);
});
