import { writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import { startSandboxServer } from '../../src/sandbox/sandbox-server.ts';
import type { SandboxControl, SandboxInfo } from '../../src/sandbox/control/sandbox-control.ts';
import type { MessageView } from '../../src/sandbox/control/message-view.ts';
import { startModelServer, type ModelScript, type ModelServer } from '../support/model-server.ts';
import { startChild, type Child } from './child.ts';

export interface StageOptions {
  /** Besides the token, the addresses and the folders. */
  readonly environment?: Readonly<Record<string, string>>;
  /** How the model server answers; without it, no model is configured and the offline stand-in speaks. */
  readonly model?: ModelScript;
}

/**
 * The built bot as its own process, a sandbox Discord and a model server that it reaches over the network: the way that a person's message
 * goes. Dispose of it with `await using`.
 */
export interface Stage extends AsyncDisposable {
  readonly sandbox: SandboxControl;
  readonly info: SandboxInfo;
  readonly model: ModelServer;
  /** The running bot; a new one after each start. */
  bot(): Child;
  startBot(environment?: Readonly<Record<string, string>>): Promise<Child>;
  /** kill -9. */
  killBot(): Promise<void>;
  /** SIGTERM; resolves with the exit code. */
  stopBot(): Promise<number | null>;
  /** Says something and resolves with the bot's answer. */
  ask(as: string, place: string, text: string): Promise<MessageView>;
  /** A file below the bot's folder: `data/…`, `workspace/…`. */
  readFile(path: string): Promise<string>;
  writeFile(path: string, text: string): Promise<void>;
  readonly folder: string;
}

export async function openStage(options: StageOptions = {}): Promise<Stage> {
  const folder = await mkdtemp(join(tmpdir(), 'discoclaw-stage-'));
  const model = await startModelServer(options.model ?? (() => ({ text: 'Understood.' })));
  const sandbox = await startSandboxServer();
  const info = await sandbox.info();

  const base: Record<string, string> = {
    DISCORD_TOKEN: info.token,
    DISCORD_API_URL: info.apiUrl,
    DISCOCLAW_ACCESS: 'everyone',
    DISCORD_AUTO_REPLY_CHANNEL_IDS: Object.values(info.channels).join(','),
    DISCOCLAW_DATA_DIR: join(folder, 'data'),
    DISCOCLAW_WORKSPACE_DIR: join(folder, 'workspace'),
    DISCOCLAW_TIMEZONE: 'UTC',
    ...(options.model === undefined ? {} : { ANTHROPIC_BASE_URL: model.url }),
    ...options.environment,
  };
  let bot: Child | undefined;

  const stage: Stage = {
    sandbox,
    info,
    model,
    folder,
    bot() {
      if (bot === undefined) throw new Error('The bot was never started');
      return bot;
    },
    async startBot(environment = {}) {
      bot = startChild({ script: 'main.js', folder, environment: { ...base, ...environment } });
      await Promise.all([bot.waitFor('"the bot is ready"'), bot.waitFor('"the commands have been seen to"')]);
      return bot;
    },
    async killBot() {
      await bot?.end('SIGKILL');
    },
    stopBot: async () => bot?.end('SIGTERM') ?? null,
    async ask(as, place, text) {
      const said = await sandbox.say({ as, in: place, text });
      return sandbox.waitForReply({ in: said.channelId, after: said.id });
    },
    readFile: (path) => readFile(join(folder, path), 'utf8'),
    async writeFile(path, text) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      // Without a pause between emptying and writing, in which the bot would find a second, empty content to put into quarantine.
      writeFileSync(join(folder, path), text);
    },
    async [Symbol.asyncDispose]() {
      await bot?.end('SIGKILL');
      await sandbox.close();
      await model.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
  await stage.startBot();
  return stage;
}
