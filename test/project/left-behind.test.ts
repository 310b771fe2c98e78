import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { createConnection } from 'node:net';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it, type TestContext } from 'vitest';
import { z } from 'zod';

import { eventually } from '../support/eventually.ts';
import { copyOfTheTree } from './copy-of-the-tree.ts';

/**
 * A test that does not end, with a program that has started another program. Each of the three processes listens on a port, on which
 * nobody answers any more once it has ended.
 */
const endlessTest = `
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { it } from 'vitest';

const listening = "const s = require('node:net').createServer().listen(0, '127.0.0.1', () => console.log(s.address().port));";
const starting = "require('node:child_process').spawn(process.execPath, ['-e', process.env.LISTENING], { stdio: 'inherit' });";

it('does not end', async () => {
  mkdtempSync(join(tmpdir(), 'left-behind-'));
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const ports = [server.address().port];
  const child = spawn(process.execPath, ['-e', starting + listening], { env: { LISTENING: listening } });
  for await (const line of createInterface({ input: child.stdout })) {
    ports.push(Number(line));
    if (ports.length === 3) break;
  }
  writeFileSync(process.env.REPORT, JSON.stringify({ ports, worker: process.pid, runner: process.ppid }));
  await new Promise(() => {});
});
`;
const reportSchema = z.object({
  ports: z.array(z.number()).length(3),
  worker: z.number(),
  runner: z.number(),
});

let tree: string;
beforeAll(async () => {
  tree = await copyOfTheTree();
  await writeFile(join(tree, 'test/e2e/endless.test.ts'), endlessTest);
});
afterAll(() => rm(tree, { recursive: true, force: true }));

interface Run extends z.infer<typeof reportSchema> {
  /** The process group of all that a terminal would interrupt. */
  readonly group: number;
  /** The folder for temporary files that the run was given. */
  readonly folder: string;
}

/** Starts the endless test as `npm test` would, and resolves when it runs. */
async function startRun(name: string, { onTestFinished }: TestContext): Promise<Run> {
  const folder = join(tree, name);
  const report = join(tree, `${name}.json`);
  await mkdir(folder);
  const { PATH } = process.env;
  const npm = spawn('npm', ['run', '--silent', 'vitest', '--', 'test/e2e/endless.test.ts'], {
    cwd: tree,
    env: { PATH, HOME: tree, TMPDIR: folder, REPORT: report },
    stdio: 'ignore',
  });
  await once(npm, 'spawn');
  const group = npm.pid ?? 0;
  onTestFinished(() => {
    if (npm.exitCode === null && npm.signalCode === null) process.kill(-group, 'SIGKILL');
  });
  await eventually(async () => expect(await readFile(report, 'utf8')).toMatch(/\}$/u));
  return { ...reportSchema.parse(JSON.parse(await readFile(report, 'utf8'))), group, folder };
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ port, host: '127.0.0.1' });
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}

describe.concurrent('a run of tests that is broken off leaves no process and no folder behind', () => {
  it.for([
    ['by Ctrl-C', 'interrupted', ({ group }: Run): unknown => process.kill(-group, 'SIGINT')],
    [
      'by kill -9 of the test runner',
      'killed',
      ({ runner }: Run): unknown => process.kill(runner, 'SIGKILL'),
    ],
    [
      'by kill -9 of its worker',
      'worker-killed',
      ({ worker }: Run): unknown => process.kill(worker, 'SIGKILL'),
    ],
  ] as const)('%s', async ([, name, breakOff], context) => {
    const run = await startRun(name, context);
    expect(await Promise.all(run.ports.map(answers))).toEqual([true, true, true]);
    breakOff(run);
    await eventually(async () =>
      expect(await Promise.all(run.ports.map(answers))).toEqual([false, false, false]),
    );
    // What the test runner itself keeps there is its own.
    await eventually(async () =>
      expect((await readdir(run.folder)).filter((each) => each.startsWith('discoclaw-'))).toEqual([]),
    );
  });
});
