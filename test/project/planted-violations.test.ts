import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';

const root = new URL('../..', import.meta.url).pathname;
const run = promisify(execFile);
const failure = z.object({ code: z.number(), stdout: z.string(), stderr: z.string() });

/** A copy of the tree, so that a violation can be planted without disturbing anybody. */
let tree: string;

beforeAll(async () => {
  tree = await mkdtemp(join(tmpdir(), 'discoclaw-planted-'));
  for (const name of [
    'src',
    'scripts',
    'test',
    'package.json',
    'tsconfig.json',
    '.oxlintrc.json',
    '.oxfmtrc.json',
  ]) {
    await cp(join(root, name), join(tree, name), { recursive: true });
  }
  await symlink(join(root, 'node_modules'), join(tree, 'node_modules'));
});

afterAll(() => rm(tree, { recursive: true, force: true }));

/** What one of the scripts of `npm test` says in the copy. */
async function check(script: string): Promise<{ readonly passes: boolean; readonly output: string }> {
  try {
    const { stdout, stderr } = await run('npm', ['run', '--silent', script], {
      cwd: tree,
      maxBuffer: 1 << 26,
    });
    return { passes: true, output: stdout + stderr };
  } catch (error) {
    const { stdout, stderr } = failure.parse(error);
    return { passes: false, output: stdout + stderr };
  }
}

async function withPlanted<T>(path: string, text: string, look: () => Promise<T>): Promise<T> {
  const planted = join(tree, path);
  const before = await readFile(planted, 'utf8').catch(() => undefined);
  await mkdir(dirname(planted), { recursive: true });
  await writeFile(planted, before === undefined ? text : `${before}\n${text}`);
  try {
    return await look();
  } finally {
    if (before === undefined) await rm(planted);
    else await writeFile(planted, before);
  }
}

const violations = [
  {
    what: 'a room that imports one it may not know',
    script: 'rooms',
    path: 'src/core/section.ts',
    text: "import { createKeyedQueue } from '../queue/keyed-queue.ts';\nexport const planted = createKeyedQueue();",
    says: 'room-core: src/core/section.ts',
  },
  {
    what: 'discord.js outside its room',
    script: 'rooms',
    path: 'src/turn/failure-line.ts',
    text: "import { Events } from 'discord.js';\nexport const planted = Events;",
    says: 'keeper-of-discordjs: src/turn/failure-line.ts',
  },
  {
    what: 'a floating promise',
    script: 'lint',
    path: 'src/core/planted.ts',
    text: 'export function planted(): void {\n  Promise.resolve(1);\n}\n',
    says: 'no-floating-promises',
  },
  {
    what: 'the environment read outside config/',
    script: 'lint',
    path: 'src/turn/planted.ts',
    text: "export const planted = process.env['HOME'];\n",
    says: 'no-process-env',
  },
  {
    what: 'a wrong type',
    script: 'types',
    path: 'src/core/planted.ts',
    text: "export const planted: number = 'one';\n",
    says: "Type 'string' is not assignable to type 'number'",
  },
  {
    what: 'an export that nobody uses',
    script: 'dead-code',
    path: 'src/core/snowflake.ts',
    text: 'export const planted = 1;\n',
    says: 'planted',
  },
] as const;

describe('the checks of npm test', () => {
  it.each(violations)(
    '$script fails on $what',
    { timeout: 180_000 },
    async ({ script, path, text, says }) => {
      const { passes, output } = await withPlanted(path, text, () => check(script));
      expect(output).toContain(says);
      expect(passes).toBe(false);
    },
  );
});
