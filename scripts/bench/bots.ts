import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import {
  startSandboxServer,
  type SandboxOptions,
  type SandboxServer,
} from '../../src/sandbox/sandbox-server.ts';

const root = join(import.meta.dirname, '../..');

/** A bot in a process of its own, connected to a sandbox in this one. */
export interface BotProcess {
  /** From the start of the process until the bot said that it is ready; milliseconds. */
  readonly readyAfter: number;
  /** Milliseconds of the processor since its start. */
  cpu(): Promise<number>;
  /** Megabytes that the process holds of the machine's memory; on Linux only. */
  residentMemory(): Promise<number>;
  stop(): Promise<void>;
}

export interface BotOptions {
  readonly sandbox: SandboxServer;
  /** What it remembers lies here. */
  readonly folder: string;
  /** Where its model is; without one it has none. */
  readonly modelUrl?: string;
  readonly environment?: Readonly<Record<string, string>>;
}

export type StartBot = (options: BotOptions) => Promise<BotProcess>;

/** Starts what is built, as `npm start` does, and waits until it is ready. */
export const startOurs: StartBot = ({ modelUrl, ...options }) => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const [, flags = ''] = /node (?<flags>(?:--\S+ )*)dist\//u.exec(String(scripts.start)) ?? [];
  return start([...flags.split(' ').filter(Boolean), join(root, 'dist/main.js')], options, {
    DISCOCLAW_ACCESS: 'everyone',
    DISCOCLAW_LOG_LEVEL: 'error',
    DISCOCLAW_RATE_PER_MINUTE: '0',
    DISCOCLAW_DATA_DIR: join(options.folder, 'data'),
    DISCOCLAW_WORKSPACE_DIR: join(options.folder, 'workspace'),
    ...(modelUrl !== undefined && { ANTHROPIC_BASE_URL: modelUrl }),
    ...options.environment,
  });
};

/** Starts the bot that does the least, and waits until it is ready. */
export const startFloor: StartBot = ({ modelUrl, ...options }) =>
  start([join(import.meta.dirname, 'floor-bot.mjs')], options, modelUrl && { MODEL_URL: modelUrl });

async function start(
  script: readonly string[],
  { sandbox, folder }: BotOptions,
  environment: object | '' | undefined,
): Promise<BotProcess> {
  await mkdir(folder, { recursive: true });
  const begun = performance.now();
  const probe = ['--import', join(import.meta.dirname, 'probe.mjs')];
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
  const ended = once(child, 'exit');
  const tooEarly = ended.then(() => Promise.reject(new Error(`${script.join(' ')} ended`)));
  const told = () => Promise.race([once(child, 'message'), tooEarly]);
  tooEarly.catch(() => undefined);
  await told();
  return {
    readyAfter: performance.now() - begun,
    async cpu() {
      child.send('cpu');
      const [{ user, system }] = await told();
      return (user + system) / 1000;
    },
    async residentMemory() {
      const status = await readFile(`/proc/${child.pid}/status`, 'utf8');
      return Number(/^VmRSS:\s+(\d+)/mu.exec(status)?.[1]) / 1024;
    },
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

/** A sandbox and a folder for each subject of a comparison: none hears of what the others are told. */
export async function openStage(options: SandboxOptions = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'bench-stage-'));
  const sandbox = await startSandboxServer(options);
  return { sandbox, folder };
}

/** Says something in the person's DM, and waits for the answer. */
export async function ask(sandbox: SandboxServer, as: string, text: string): Promise<void> {
  const said = await sandbox.say({ as, in: 'dm', text });
  await sandbox.waitForReply({ in: said.channelId, after: said.id, timeoutMs: 300_000 });
}
