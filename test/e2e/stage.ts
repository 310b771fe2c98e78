import { mkdirSync, writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';

import { expect } from 'vitest';

import { startSandboxServer, type SandboxServer } from '../../src/sandbox/sandbox-server.ts';
import type { SandboxInfo } from '../../src/sandbox/control/local-control.ts';
import type { MessageView } from '../../src/sandbox/control/message-view.ts';
import { createDisk } from '../../src/storage/files/disk.ts';
import { nodeFileSystem } from '../../src/storage/files/file-system.ts';
import { createJournal } from '../../src/storage/files/journal.ts';
import { eventually } from '../support/eventually.ts';
import { startModelServer, type ModelScript, type ModelServer } from '../support/model-server.ts';
import { startBotHere, type RunningBot } from './bot-here.ts';
import { startChild } from './child.ts';

export interface StageOptions {
  /** Besides the token, the addresses and the folders. */
  readonly environment?: Readonly<Record<string, string>>;
  /** How the model server answers; without it, no model is configured and the offline stand-in speaks. */
  readonly model?: ModelScript;
  /** How it answers the start, which asks it for one token. */
  readonly probe?: ModelScript;
  /** Nobody has talked with the bot before, so that the first answer to each person brings the first words [K12]. Default: everybody has had them. */
  readonly areNew?: true;
  /** The bot is the built one in a process of its own from its first start on. Default: it runs in this process. */
  readonly isBuilt?: true;
}

/** `STAGE=built` has every test use the built bot: `npm run test:built`. */
const isAllBuilt = process.env['STAGE'] === 'built';

/**
 * The bot, a sandbox Discord and a model server that it reaches over the network: the way that a person's message goes. Dispose of it with
 * `await using`.
 */
export interface Stage extends AsyncDisposable {
  readonly sandbox: SandboxServer;
  readonly info: SandboxInfo;
  readonly model: ModelServer;
  /** The running bot; a new one after each start. */
  bot(): RunningBot;
  startBot(environment?: Readonly<Record<string, string>>): Promise<RunningBot>;
  /** Goes on with the built bot in a process of its own, which can be killed; the bot in this process is stopped. */
  startBuilt(environment?: Readonly<Record<string, string>>): Promise<RunningBot>;
  /** kill -9, of the built bot. */
  killBot(): Promise<void>;
  /** As by SIGTERM; resolves with the exit code. */
  stopBot(): Promise<number | null>;
  /** Says something and resolves with the bot's answer. */
  ask(as: string, place: string, text: string): Promise<MessageView>;
  /** The bot's answer to what was said: the small lines under an earlier answer may come behind it, and are none. */
  answerTo(said: Pick<MessageView, 'id' | 'channelId'>): Promise<MessageView>;
  /** A file below the bot's folder: `data/…`, `workspace/…`. */
  readFile(path: string): Promise<string>;
  writeFile(path: string, text: string): Promise<void>;
  readonly folder: string;
}

/** Resolves when a file has what the running bot has acknowledged: until then only its journal does. */
async function followed(folder: string, path: string, isAlive: boolean): Promise<void> {
  if (!isAlive) return;
  const data = join(folder, 'data');
  const journal = createJournal({
    fileSystem: nodeFileSystem,
    disk: createDisk(nodeFileSystem),
    folder: data,
  });
  const key = path.replace(/^data\//u, '');
  await eventually(async () => {
    const records = (await journal.read()).filter((record) => record.key === key);
    const last = records.findLast(({ kind }) => kind !== 'written');
    const written = records.findLast((record) => record.kind === 'written');
    const stats = await stat(join(folder, path)).catch(() => undefined);
    if (last?.kind === 'lines')
      expect(stats?.size ?? 0).toBeGreaterThanOrEqual(last.at + Buffer.byteLength(last.lines));
    else expect(written?.upTo ?? 0).toBeGreaterThanOrEqual(last?.number ?? 0);
  });
}

/** Writes that a person has had the first words. */
function writeAsGreeted(folder: string, userId: string): void {
  const own = join(folder, 'data', 'users', userId);
  mkdirSync(own, { recursive: true, mode: 0o700 });
  const settings = JSON.stringify({ version: 1, greetedAt: '2026-01-01T00:00:00.000Z' });
  writeFileSync(join(own, 'settings.json'), settings, { mode: 0o600 });
}

export async function openStage(options: StageOptions = {}): Promise<Stage> {
  const folder = await mkdtemp(join(tmpdir(), 'discoclaw-stage-'));
  const model = await startModelServer(options.model ?? (() => ({ text: 'Understood.' })), options.probe);
  const server = await startSandboxServer();
  const info = await server.info();
  const greet = (id: string): void => {
    if (options.areNew === undefined) writeAsGreeted(folder, id);
  };
  for (const id of Object.values(info.people)) greet(id);
  const sandbox: typeof server = {
    ...server,
    async addPerson(input) {
      const person = await server.addPerson(input);
      greet(person.id);
      return person;
    },
  };

  const base: Record<string, string> = {
    DISCORD_TOKEN: info.token,
    DISCORD_API_URL: info.apiUrl,
    DISCOCLAW_ACCESS: 'everyone',
    DISCORD_AUTO_REPLY_CHANNEL_IDS: Object.values(info.channels).join(','),
    DISCOCLAW_DATA_DIR: join(folder, 'data'),
    DISCOCLAW_WORKSPACE_DIR: join(folder, 'workspace'),
    DISCOCLAW_TIMEZONE: 'UTC',
    // A test says more in a minute than people do.
    DISCOCLAW_RATE_PER_MINUTE: '0',
    ...(options.model === undefined ? {} : { ANTHROPIC_BASE_URL: model.url }),
    ...options.environment,
  };
  let bot: RunningBot | undefined;
  /** Kills the process of the bot; absent while it runs in this one. */
  let kill: (() => Promise<unknown>) | undefined;
  let isAlive = false;

  async function startProcess(environment: Readonly<Record<string, string>>): Promise<RunningBot> {
    const child = startChild({ script: 'main.js', folder, environment: { ...base, ...environment } });
    bot = { ...child, stop: () => child.end('SIGTERM') };
    kill = () => child.end('SIGKILL');
    isAlive = true;
    await Promise.all([
      child.waitFor('"the bot is ready"'),
      child.waitFor('"the commands have been seen to"'),
    ]);
    return bot;
  }

  async function startHere(environment: Readonly<Record<string, string>>): Promise<RunningBot> {
    kill = undefined;
    bot = await startBotHere({ ...base, ...environment });
    isAlive = true;
    return bot;
  }

  const stage: Stage = {
    sandbox,
    info,
    model,
    folder,
    bot() {
      if (bot === undefined) throw new Error('The bot was never started');
      return bot;
    },
    startBot: (environment = {}) =>
      options.isBuilt === true || isAllBuilt ? startProcess(environment) : startHere(environment),
    async startBuilt(environment) {
      if (isAlive && kill !== undefined && environment === undefined) return stage.bot();
      await stage.stopBot();
      return startProcess(environment ?? {});
    },
    async killBot() {
      if (kill === undefined) throw new Error('Only the built bot can be killed: see startBuilt');
      isAlive = false;
      await kill();
    },
    async stopBot() {
      if (!isAlive) return null;
      isAlive = false;
      return stage.bot().stop();
    },
    async ask(as, place, text) {
      return stage.answerTo(await sandbox.say({ as, in: place, text }));
    },
    async answerTo({ id, channelId }) {
      let reply = await sandbox.waitForReply({ in: channelId, after: id });
      while (reply.text.startsWith('-# '))
        reply = await sandbox.waitForReply({ in: channelId, after: reply.id });
      return reply;
    },
    async readFile(path) {
      await followed(folder, path, isAlive);
      return readFile(join(folder, path), 'utf8');
    },
    async writeFile(path, text) {
      await followed(folder, path, isAlive);
      await mkdir(dirname(join(folder, path)), { recursive: true });
      // Without a pause between emptying and writing, in which the bot would find a second, empty content to put into quarantine.
      writeFileSync(join(folder, path), text);
      // What the bot saw of it a moment ago counts.
      await setTimeout(120);
    },
    async [Symbol.asyncDispose]() {
      await (kill === undefined ? stage.stopBot() : kill());
      await sandbox.close();
      await model.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
  await stage.startBot();
  return stage;
}
