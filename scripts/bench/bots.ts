import { execFile, spawn } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import {
  startSandboxServer,
  type SandboxOptions,
  type SandboxServer,
} from '../../src/sandbox/sandbox-server.ts';
import type { Version } from './versions.ts';

const run = promisify(execFile);
const here = import.meta.dirname;
/** In which Linux tells times: `sysconf(_SC_CLK_TCK)` is 100 a second wherever Node.js runs. */
const tickMs = 10;

/** A bot in a process of its own, connected to a sandbox in this one. */
export interface BotProcess {
  readonly pid: number;
  /** From the start of the process until the bot said that it is ready; milliseconds. */
  readonly readyAfter: number;
  /** Milliseconds of the processor since its start; only of one that was started with a probe. */
  cpu(): Promise<number>;
  /** Milliseconds of the processor of this process and of those that it started, since they started; in steps of ten. On Linux only. */
  cpuWithChildren(): Promise<number>;
  /** Megabytes that live on its heap after garbage was collected; only of one that was started with a probe. */
  heap(): Promise<number>;
  /** Megabytes that the process holds of the machine's memory. */
  residentMemory(): Promise<number>;
  stop(): Promise<void>;
}

export interface BotOptions {
  readonly sandbox: SandboxServer;
  /** What it remembers lies here. */
  readonly folder: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** Whether it will be asked for its usage. */
  readonly isProbed?: boolean;
}

/** Starts the built bot of a version, and waits until it is ready. */
export async function startVersion(
  { root }: Version,
  { environment, ...options }: BotOptions,
): Promise<BotProcess> {
  const { scripts } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  // As `npm start` does.
  const [, flags = ''] = /node (?<flags>(?:--\S+ )*)dist\//u.exec(String(scripts.start)) ?? [];
  return start([...flags.split(' ').filter(Boolean), join(root, 'dist/main.js')], {
    ...options,
    environment: {
      DISCOCLAW_ACCESS: 'everyone',
      DISCOCLAW_LOG_LEVEL: 'error',
      DISCOCLAW_RATE_PER_MINUTE: '0',
      DISCOCLAW_DATA_DIR: join(options.folder, 'data'),
      DISCOCLAW_WORKSPACE_DIR: join(options.folder, 'workspace'),
      ...(environment?.['MODEL_URL'] !== undefined && { ANTHROPIC_BASE_URL: environment['MODEL_URL'] }),
      ...environment,
    },
  });
}

/** Starts the bot that does the least, and waits until it is ready. */
export function startFloor(options: BotOptions): Promise<BotProcess> {
  return start([join(here, 'floor-bot.mjs')], options);
}

async function start(
  script: readonly string[],
  { sandbox, folder, environment, isProbed }: BotOptions,
): Promise<BotProcess> {
  await mkdir(folder, { recursive: true });
  const begun = performance.now();
  const probe = isProbed === true ? ['--expose-gc', '--import', join(here, 'probe.mjs')] : [];
  const child = spawn(process.execPath, [...probe, ...script], {
    cwd: folder,
    env: {
      PATH: process.env['PATH'],
      HOME: folder,
      DISCORD_TOKEN: sandbox.token,
      DISCORD_API_URL: sandbox.apiUrl,
      ...environment,
    },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
  });
  // oxlint-disable-next-line typescript/no-explicit-any -- as the probe says
  const told = (): Promise<any> =>
    new Promise((resolve, reject) => {
      child.once('message', resolve);
      void ended.then(() => reject(new Error(`${script.join(' ')} ended`)));
    });
  const ask = async (what: 'cpu' | 'heap') => {
    child.send(what);
    return told();
  };
  await told();
  const readyAfter = performance.now() - begun;
  return {
    pid: child.pid ?? NaN,
    readyAfter,
    async cpu() {
      const { user, system } = await ask('cpu');
      return (user + system) / 1000;
    },
    cpuWithChildren: () => cpuOfGroup(child.pid ?? NaN),
    heap: async () => (await ask('heap')) / 1024 / 1024,
    async residentMemory() {
      const { stdout } = await run('ps', ['-o', 'rss=', '-p', String(child.pid)]);
      return Number(stdout) / 1024;
    },
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

/** Each program that a bench starts leads a process group of its own: see `cleanUpAtEnd`. */
async function cpuOfGroup(group: number): Promise<number> {
  let ticks = 0;
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/u.test(name)) continue;
    const stat = await readFile(join('/proc', name, 'stat'), 'utf8').catch(() => '');
    // Behind the name, which may have spaces: state, parent, group; user and system time are the 12th and 13th from there. See proc(5).
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (Number(fields[2]) === group) ticks += Number(fields[11]) + Number(fields[12]);
  }
  return ticks * tickMs;
}

/** A sandbox and a folder for each subject of a comparison: none hears of what the others are told. */
export async function openStage(options: SandboxOptions = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'bench-stage-'));
  const sandbox = await startSandboxServer(options);
  return {
    sandbox,
    folder,
    async close() {
      await sandbox.close();
      await rm(folder, { recursive: true });
    },
  };
}
