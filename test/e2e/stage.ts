import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { startTestSandbox, type TestSandbox } from '../support/sandbox/test-sandbox.ts';
import type { SandboxInfo } from '../../src/sandbox/people/people.ts';
import type { MessageView } from '../../src/sandbox/people/views.ts';
import { eventually } from '../support/eventually.ts';
import {
  startModelServer,
  type ModelList,
  type ModelScript,
  type ModelServer,
} from '../support/model-server.ts';
import { startBotHere, type RunningBot } from './bot-here.ts';
import { startChild } from './child.ts';
import { laterMsOf } from './later.ts';
import { greetedSettings, openStageData, type Kept, type KeptFolder } from './stage-data.ts';

export interface StageOptions {
  /** Besides the token, the addresses and the folders. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Discord's clock, by which messages are dated. Default: the machine's. */
  readonly now?: () => Date;
  /** How many shards the sandbox recommends. */
  readonly shards?: number;
  /** How the model server answers; without it, no model is configured and the offline stand-in speaks. */
  readonly model?: ModelScript;
  /** How it answers the start, which asks it for one token. */
  readonly probe?: ModelScript;
  /** Which models it lists. Default: it has no list. */
  readonly models?: ModelList;
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
  readonly sandbox: TestSandbox;
  readonly info: SandboxInfo;
  readonly model: ModelServer;
  /** What the bot is configured by, for others beside it. */
  readonly environment: Readonly<Record<string, string>>;
  /** The running bot; a new one after each start. */
  bot(): RunningBot;
  startBot(environment?: Readonly<Record<string, string>>): Promise<RunningBot>;
  /** Goes on with the built bot in a process of its own, which can be killed; the bot in this process is stopped. */
  startBuilt(environment?: Readonly<Record<string, string>>): Promise<RunningBot>;
  /** kill -9, of the built bot. */
  killBot(): Promise<void>;
  /** As by SIGTERM; resolves with the exit code. */
  stopBot(): Promise<number | null>;
  restart(environment?: Readonly<Record<string, string>>): Promise<RunningBot>;
  /** Somebody new, of whom nothing is remembered. */
  newcomer(): Promise<{ readonly name: string; readonly id: string }>;
  /** Presses a button; resolves with what the person is told. */
  press(as: string, message: string, label: string): Promise<MessageView>;
  /** What is logged of a conversation, as it lies on disk. */
  logOf(said: Pick<MessageView, 'channelId' | 'author'>): Promise<string>;
  /** Says something and resolves with the bot's answer. */
  ask(as: string, place: string, text: string): Promise<MessageView>;
  /** The bot's answer to what was said: the small lines under an earlier answer may come behind it, and are none. */
  answerTo(said: Pick<MessageView, 'id' | 'channelId'>): Promise<MessageView>;
  /** A file below the bot's folder: `data/…`, `workspace/…`. */
  readFile(path: string): Promise<string>;
  writeFile(path: string, text: string): Promise<void>;
  /** The path of what is kept of everybody in one file, or of each person in one of their own where processes may share the store. */
  pathFor(person: string, name: string): string;
  /** All that the bot keeps, by the path that it has below the data folder, or below the workspace. */
  kept(folder?: KeptFolder): Promise<readonly Kept[]>;
  /** The paths of what is kept, below the data folder, in which any of the words stands, or in whose path. */
  pathsWith(...words: readonly string[]): Promise<readonly string[]>;
  /** Resolves when an answer that was seen is kept: a kill before that has its question asked again. */
  keeps(answer: string): Promise<void>;
  readonly folder: string;
  /** Which store the bot uses, for programs that are to use the same. */
  readonly storeEnvironment: Readonly<Record<string, string>>;
}

export async function openStage(options: StageOptions = {}): Promise<Stage> {
  const folder = await mkdtemp(join(tmpdir(), 'discoclaw-stage-'));
  const script = options.model ?? (() => ({ text: 'Understood.' }));
  const model = await startModelServer(script, options.probe, options.models);
  const server = await startTestSandbox({ shards: options.shards, now: options.now });
  const info = await server.info();
  const data = await openStageData(folder);
  const greet = async (id: string): Promise<void> => {
    const { path, text } = greetedSettings(id);
    if (options.areNew === undefined) await data.write(path, text);
  };
  for (const id of Object.values(info.people)) await greet(id);
  const sandbox: typeof server = {
    ...server,
    async addPerson(input) {
      const person = await server.addPerson(input);
      await greet(person.id);
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
    ...data.environment,
    ...options.environment,
  };
  let bot: RunningBot | undefined;
  /** Kills the process of the bot; absent while it runs in this one. */
  let kill: (() => Promise<unknown>) | undefined;
  let isAlive = false;
  let newcomers = 0;

  async function startProcess(environment: Readonly<Record<string, string>>): Promise<RunningBot> {
    await data.setLater(laterMsOf(environment));
    const child = startChild({ folder, environment: { ...base, ...environment } });
    bot = { ...child, stop: () => child.end('SIGTERM') };
    kill = () => child.end('SIGKILL');
    isAlive = true;
    await Promise.all([child.waitFor('"the bot is ready"'), child.waitFor('"commands were registered"')]);
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
    environment: base,
    storeEnvironment: data.environment,
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
    async restart(environment) {
      await stage.stopBot();
      return stage.startBot(environment);
    },
    newcomer: () => {
      newcomers += 1;
      return sandbox.addPerson({ name: `newcomer${newcomers}` });
    },
    async press(as, message, label) {
      const { answer, followUps } = await sandbox.click({ as, message, label, followUps: 1 });
      const told = followUps[0] ?? answer;
      if (told === undefined) throw new Error(`${label} told nothing`);
      return told;
    },
    logOf: ({ channelId, author }) => data.read(`data/sessions/${channelId}/${author.id}/messages.jsonl`),
    async ask(as, place, text) {
      return stage.answerTo(await sandbox.say({ as, in: place, text }));
    },
    async answerTo({ id, channelId }) {
      let reply = await sandbox.waitForReply({ in: channelId, after: id });
      while (reply.text.startsWith('-# '))
        reply = await sandbox.waitForReply({ in: channelId, after: reply.id });
      return reply;
    },
    readFile: (path) => data.read(path),
    writeFile: (path, text) => data.write(path, text),
    pathFor: (person, name) => `data/users/${info.people[person] ?? ''}/${name}`,
    kept: (of = 'data') => data.everything(of),
    async pathsWith(...words) {
      const all = await stage.kept();
      return all.flatMap(({ path, text }) =>
        words.some((word) => `${path}\n${text}`.includes(word)) ? [path] : [],
      );
    },
    async keeps(answer) {
      await eventually(async () => {
        const kept = await stage.kept();
        if (!kept.some(({ text }) => text.includes(answer))) throw new Error(`"${answer}" is not kept`);
      });
    },
    async [Symbol.asyncDispose]() {
      await (kill === undefined ? stage.stopBot() : kill());
      await sandbox.close();
      await model.close();
      await data.dispose();
      await rm(folder, { recursive: true, force: true });
    },
  };
  await stage.startBot();
  return stage;
}
