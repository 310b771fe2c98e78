import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import {
  startTestSandbox,
  type TestSandboxOptions,
  type TestSandbox,
} from '../../test/support/sandbox/test-sandbox.ts';

const root = join(import.meta.dirname, '../..');

interface BotOptions {
  readonly sandbox: TestSandbox;
  /** What it remembers lies here. */
  readonly folder: string;
  /** Where its model is; without one it has none. */
  readonly modelUrl?: string;
  readonly environment?: Readonly<Record<string, string>>;
}

/** Starts what is built in a process of its own, as `npm start` does, and waits until it is ready. */
export async function startBot({ sandbox, folder, modelUrl, environment }: BotOptions) {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const [, flags = ''] = /node (?<flags>(?:--\S+ )*)dist\//u.exec(String(scripts.start)) ?? [];
  const probe = ['--import', join(import.meta.dirname, 'probe.mjs')];
  const begun = performance.now();
  const script = [...flags.split(' ').filter(Boolean), join(root, 'dist/main.js')];
  const child = spawn(process.execPath, [...probe, ...script], {
    cwd: folder,
    env: {
      PATH: process.env['PATH'],
      HOME: folder,
      DISCORD_TOKEN: sandbox.token,
      DISCORD_API_URL: sandbox.apiUrl,
      DISCOCLAW_ACCESS: 'everyone',
      DISCOCLAW_LOG_LEVEL: 'error',
      DISCOCLAW_RATE_PER_MINUTE: '0',
      DISCOCLAW_DATA_DIR: join(folder, 'data'),
      DISCOCLAW_WORKSPACE_DIR: join(folder, 'workspace'),
      ...(modelUrl !== undefined && { ANTHROPIC_BASE_URL: modelUrl }),
      ...environment,
    },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const ended = once(child, 'exit');
  const tooEarly = ended.then(() => Promise.reject(new Error('The bot ended')));
  const told = () => Promise.race([once(child, 'message'), tooEarly]);
  tooEarly.catch(() => undefined);
  await told();
  return {
    /** From the start of the process until the bot said that it is ready; milliseconds. */
    readyAfter: performance.now() - begun,
    /** Milliseconds of the processor since its start. */
    async cpu(): Promise<number> {
      child.send('cpu');
      const [{ user, system }] = await told();
      return (user + system) / 1000;
    },
    /** Megabytes that the process holds of the machine's memory; on Linux only. */
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
export async function openStage(options: TestSandboxOptions = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'bench-stage-'));
  const sandbox = await startTestSandbox(options);
  return { sandbox, folder };
}

/** Says something in the person's DM, and waits for the answer. */
export async function ask(sandbox: TestSandbox, as: string, text: string): Promise<void> {
  const said = await sandbox.say({ as, in: 'dm', text });
  await sandbox.waitForReply({ in: said.channelId, after: said.id, timeoutMs: 300_000 });
}
