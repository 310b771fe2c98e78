import { join, resolve } from 'node:path';
import { mkdtemp, rm } from 'node:fs/promises';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { tmpdir } from 'node:os';

import type { Config } from '../config/config.ts';
import type { Logger } from '../core/logger.ts';
import { unlessAborted } from '../core/time.ts';
import { GatewayError } from '../discord/gateway-error.ts';
import { createLogger } from '../observability/logger.ts';
import { checkStart } from './checks.ts';
import { unusablePort } from './open-page.ts';
import type { SandboxServer } from '../sandbox/sandbox-server.ts';
import { type Supervised, askAboutShards, shardsHere, shownShards } from './processes.ts';
import { startBot } from './start-bot.ts';
import type { HealthServer } from '../observability/health-server.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { Suggestion } from '../sandbox/terminal/guide.ts';
import type { Demonstration } from '../sandbox/terminal/run-terminal-chat.ts';

/** Until `signal`. Rejects when the connection is lost for good, after a clean stop. */
export async function runConnected(
  config: Config,
  token: string,
  notes: readonly string[],
  signal: AbortSignal,
  supervised?: Supervised,
): Promise<void> {
  const about = supervised && { process: supervised.number, shards: shownShards(config.shards.ids ?? []) };
  const logger = createLogger({ level: config.logLevel, about });
  const metrics = await countFor(config.http);
  if (metrics !== undefined) supervised?.answer({ metrics: metrics.parts });
  // A supervisor logs the notes, has the port and runs the checks.
  const isAlone = supervised === undefined;
  if (isAlone) for (const note of notes) logger.warn(note);
  const health = isAlone ? await serveHealth(config.http, metrics) : undefined;
  const checked = isAlone ? checkStart(config, logger) : Promise.resolve();
  const lost = new AbortController();
  const start = async () => {
    try {
      const asked =
        config.shards.count === 'auto' ? askAboutShards(config, token, logger) : { recommended: 1 };
      const { recommended } = await unlessAborted(signal, Promise.resolve(asked));
      return await startBot(config, {
        token,
        apiUrl: config.discord.apiUrl,
        shards: shardsHere(config, recommended),
        identifying: supervised?.identifying,
        others: supervised?.others,
        logger,
        metrics,
        checked,
        signal,
        onLost: (error) => lost.abort(error),
      });
    } catch (error) {
      // Also while Discord is away, report what only the operator can fix.
      if (error instanceof GatewayError && error.isPassing) await checked;
      throw error;
    }
  };
  try {
    const bot = await whenReachable(start, logger, signal);
    if (bot === undefined) return;
    health?.follow(bot);
    supervised?.answer(bot.calls);
    await supervised?.ready();
    if (isAlone) process.send?.('ready');
    const end = AbortSignal.any([signal, lost.signal]);
    if (!end.aborted) await once(end, 'abort');
    health?.follow(undefined);
    await bot.stop();
  } finally {
    metrics?.close();
    await health?.close();
    supervised?.close();
  }
  lost.signal.throwIfAborted();
}

const firstWaitMs = 1000;
const longestWaitMs = 60_000;

/** Retries what passes by itself [O2] [O7]. `undefined` once `signal` is aborted. */
export async function whenReachable<Bot>(
  start: () => Promise<Bot>,
  logger: Logger,
  signal: AbortSignal,
): Promise<Bot | undefined> {
  for (let waitMs = firstWaitMs; !signal.aborted; waitMs = Math.min(2 * waitMs, longestWaitMs)) {
    try {
      return await start();
    } catch (error) {
      if (signal.aborted) return undefined;
      if (!(error instanceof GatewayError) || !error.isPassing) throw error;
      // Timers overflow after 24 days.
      const inMs = Math.min(Math.max(error.waitMs ?? 0, waitMs), 24 * 3_600_000);
      logger.warn(`${error.message}; it is tried again`, {
        inMs,
        error: error.waitMs === undefined ? error.cause : undefined,
      });
      await delay(inMs, undefined, { signal }).catch(() => undefined);
    }
  }
  return undefined;
}

/** Without an account: a sandbox Discord in this process and a chat in the terminal [Z5]. */
export async function runInSandbox(
  config: Config,
  notes: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const logger = createLogger({ level: config.logLevel === 'info' ? 'warn' : config.logLevel });
  for (const note of notes) logger.warn(note);
  // Loaded here, so that a connected bot starts faster.
  const [{ runTerminalChat }, { chooseTerminalMode }] = await Promise.all([
    import('../sandbox/terminal/run-terminal-chat.ts'),
    import('../sandbox/terminal/terminal-mode.ts'),
  ]);
  const mode = await chooseTerminalMode(process.stdin, process.stdout);
  const chat: UseOfWorld = async (sandbox, bot, { storage }) => {
    const { owner } = await sandbox.info();
    // Anyone who was answered once is remembered, and needs no introduction.
    const isNewcomer = !(await bot.remembers(owner.id));
    const link = await bot.pageLink({ ...owner, isOwner: true });
    await runTerminalChat({
      mode,
      sandbox,
      settled: () => bot.idle(),
      output: process.stdout,
      facts: [
        ['language model', spokenBy(config.model)],
        ['memory', keptIn(storage)],
        ...(link === undefined ? [] : [['your page', `${link} (once, within ten minutes)`] as const]),
      ],
      demonstration,
      inFreshWorld: (play) =>
        inTemporaryWorld(config, logger, (inner, fresh) =>
          play({ sandbox: inner, settled: () => fresh.idle() }),
        ),
      suggestions: isNewcomer ? suggestions : [],
      signal,
    });
  };
  // In the sandbox, a browser on this machine needs no other address.
  const isOn = config.commandsEnabled;
  const page = config.page.url === undefined ? { ...config.page, host: '127.0.0.1', isOn } : config.page;
  await (mode.kind === 'demonstration' ? inTemporaryWorld : inWorld)({ ...config, page }, logger, chat);
}

type UseOfWorld = (
  sandbox: SandboxServer,
  bot: Awaited<ReturnType<typeof startBot>>,
  config: Config,
) => Promise<void>;

/** With a data folder that is removed afterwards. */
async function inTemporaryWorld(config: Config, logger: Logger, use: UseOfWorld): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'discoclaw-demonstration-'));
  // A demonstration must not get into anybody's memory: no separate folders, no database.
  const apart = { durableDir: undefined, summaryDir: undefined, shortTermDir: undefined };
  const storage = { ...config.storage, ...apart, dataDir: folder, databaseUrl: undefined };
  try {
    // The surrounding chat has the port.
    const http = { ...config.http, port: 0 };
    await inWorld({ ...config, storage, http, page: { ...config.page, isOn: false } }, logger, use);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function inWorld(config: Config, logger: Logger, use: UseOfWorld): Promise<void> {
  const { startSandboxServer } = await import('../sandbox/sandbox-server.ts');
  const serverBegan = new Date();
  const sandbox = await startSandboxServer();
  const metrics = await countFor(config.http);
  const health = await serveHealth(config.http, metrics);
  try {
    const { channels } = await sandbox.info();
    const discord = {
      ...config.discord,
      cdnUrl: sandbox.url,
      access: 'everyone' as const,
      autoReplyChannelIds: Object.values(channels),
    };
    // A script writes faster than people may.
    const here = { ...config, discord, limits: { ...config.limits, turnsPerMinute: 0 } };
    const bot = await startBot(here, {
      token: sandbox.token,
      apiUrl: sandbox.apiUrl,
      serverBegan,
      logger,
      metrics,
      checked: checkStart(config, logger),
      onLost: (error) => logger.error('the sandbox is out of reach', { error }),
    });
    health?.follow(bot);
    try {
      // So that a slash command works at once.
      await bot.commandsRegistered;
      await use(sandbox, bot, config);
    } finally {
      await bot.stop();
    }
  } finally {
    metrics?.close();
    await health?.close();
    await sandbox.close();
  }
}

/** Without the password that an address may hold. */
function keptIn({ databaseUrl, dataDir }: Config['storage']): string {
  if (databaseUrl === undefined) return resolve(dataDir);
  const { host, pathname } = new URL(databaseUrl);
  return `the PostgreSQL database ${host}${pathname}`;
}

function spokenBy({ apiKey, baseUrl, main }: Config['model']): string {
  return apiKey === undefined && baseUrl === undefined
    ? 'none: an offline stand-in answers by rules, from memory (with ANTHROPIC_API_KEY a model does)'
    : main;
}

/** Metrics [O3]; none without a port at which somebody could read them. */
async function countFor({ port }: Config['http']): Promise<Metrics | undefined> {
  if (port === 0) return undefined;
  const { createMetrics } = await import('../observability/metrics.ts');
  return createMetrics();
}

/** Serves health and metrics, if a port is set [O3]. @throws {ConfigError} where the port cannot be used. */
export async function serveHealth(
  { port, host }: Config['http'],
  metrics: Pick<Metrics, 'contentType' | 'text'> | undefined,
): Promise<HealthServer | undefined> {
  if (port === 0 || metrics === undefined) return undefined;
  const { startHealthServer } = await import('../observability/health-server.ts');
  try {
    return await startHealthServer({ port, host }, metrics);
  } catch (error) {
    throw unusablePort('DISCOCLAW_HTTP', { port, host }, error);
  }
}

/** A short conversation in the sandbox: remembered, used, kept private, shown, forgotten. */
const demonstration: Demonstration = {
  scenes: [
    {
      caption: 'Alice tells it something in #dev …',
      lines: [{ place: '#dev', text: '!memory remember I prefer Rust over Go for command line tools' }],
    },
    {
      caption: '… and it knows it in #general.',
      lines: [{ place: '#general', text: 'which language should I use for my command line tool?' }],
    },
    {
      caption: 'What she says in a DM stays there: in public it does not know it, in the DM it does.',
      lines: [
        { place: '@dm', text: '!memory remember My surprise party is tomorrow' },
        { place: '#general', text: 'when is the party?' },
        { place: '@dm', text: 'when is the party?' },
      ],
    },
    {
      caption: 'It shows what it remembers and why; in public only what may be used there.',
      lines: [
        { place: '#general', text: '!memory show' },
        { place: '@dm', text: '!memory show' },
      ],
    },
    {
      caption:
        'From the menu of a message it remembers what she has just said; a slash command it answers to her alone.',
      lines: [
        { place: '#dev', text: 'I always drink green tea while I debug' },
        { place: '#dev', text: '/menu "Remember this" ^2' },
        { place: '#dev', text: '/react 👍' },
        { place: '#general', text: '/memory show' },
      ],
    },
    {
      caption: 'And it forgets when told.',
      lines: [
        { place: '#general', text: '!memory forget Rust' },
        { place: '#general', text: 'which language should I use for my command line tool?' },
      ],
    },
  ],
  ending:
    'That was the demonstration. In a terminal, `npm start` opens a chat of your own; `npm start < messages.txt` takes each line as a message.',
};

/** First steps for newcomers in the terminal; each works with the offline stand-in. */
const suggestions: readonly Suggestion[] = [
  { lead: 'Tell it something:', line: 'remember that I am allergic to peanuts' },
  { lead: 'Ask in other words:', line: 'what food should I avoid?' },
  { lead: 'See all that it knows:', line: '!memory show' },
];
