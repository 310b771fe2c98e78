import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import type { Config } from '../config/config.ts';
import type { Logger } from '../core/logger.ts';
import { unlessAborted } from '../core/time.ts';
import { GatewayError } from '../discord/gateway-error.ts';
import { createLogger } from '../observability/logger.ts';
import { checkStart } from './checks.ts';
import type { SandboxServer } from '../sandbox/sandbox-server.ts';
import { demonstration, suggestions } from './demonstration.ts';
import { countFor, serveHealth } from './serve-health.ts';
import { askAboutShards, shardsHere, shownShards } from './shards.ts';
import { startBot } from './start-bot.ts';
import type { Supervised } from './processes.ts';

/**
 * Runs the bot on Discord until `signal`, telling a process manager, or the supervisor that it has, when it is ready. Rejects when the connection was lost
 * for good, after everything was finished that could be.
 */
export async function runConnected(
  config: Config,
  token: string,
  notes: readonly string[],
  signal: AbortSignal,
  supervised?: Supervised,
): Promise<void> {
  const about = supervised && { process: supervised.number, shards: shownShards(config.shards.ids ?? []) };
  const logger = createLogger({ level: config.logLevel, about });
  if (supervised === undefined) for (const note of notes) logger.warn(note);
  const lost = new AbortController();
  const metrics = await countFor(config.http);
  // The supervisor has the port.
  const health = supervised === undefined ? await serveHealth(config.http, metrics) : undefined;
  if (metrics !== undefined) supervised?.answer({ metrics: metrics.parts });
  // The supervisor has looked once for all.
  const checked = supervised === undefined ? checkStart(config, logger) : Promise.resolve();
  const start = async () => {
    try {
      const asksForShards = config.shards.count === 'auto';
      const recommended = asksForShards
        ? (await unlessAborted(signal, askAboutShards(config, token, logger))).recommended
        : 1;
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
      // While Discord is away, too, it is told what only the operator can mend.
      if (error instanceof GatewayError && error.isPassing) await checked;
      throw error;
    }
  };
  try {
    const bot = await whenReachable(start, logger, signal);
    if (bot === undefined) return;
    health?.follow(bot);
    if (supervised === undefined) process.send?.('ready');
    else {
      supervised.answer(bot.calls);
      await supervised.ready();
    }
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

/** Milliseconds until the first and until the later tries. */
const firstWaitMs = 1000;
const longestWaitMs = 60_000;

/**
 * Discord, or the way to it, may be away for a while, or ask for a pause; what does not pass by itself is thrown on [O2] [O7]. `undefined` once it is to
 * stop, which `start` heeds itself.
 */
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
      const inMs = Math.max(error.waitMs ?? 0, waitMs);
      logger.warn(`${error.message}; it is tried again`, {
        inMs,
        error: error.waitMs === undefined ? error.cause : undefined,
      });
      await pause(inMs, signal);
    }
  }
  return undefined;
}

/** Timers hold at most 24 days, and no wait of Discord's is longer than one. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await delay(Math.min(ms, 24 * 3_600_000), undefined, { signal }).catch(() => undefined);
}

/**
 * Runs the bot without an account: a sandbox Discord in this process, the real client logged in to it, and a chat in the terminal
 * [Z5]. Everybody there has access, and the bot answers in every channel without being mentioned. The demonstration remembers in
 * a temporary folder; a conversation remembers in the data folder like everything else.
 */
export async function runInSandbox(
  config: Config,
  notes: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const logger = createLogger({ level: config.logLevel === 'info' ? 'warn' : config.logLevel });
  for (const note of notes) logger.warn(note);
  // A bot that is connected has no use for these, and starts sooner without.
  const [{ runTerminalChat }, { chooseTerminalMode }] = await Promise.all([
    import('../sandbox/terminal/run-terminal-chat.ts'),
    import('../sandbox/terminal/terminal-mode.ts'),
  ]);
  const mode = await chooseTerminalMode(process.stdin, process.stdout);
  const chat = async ({ sandbox, settled, remembers, storage }: SandboxWorld): Promise<void> => {
    const { owner } = await sandbox.info();
    // Who was answered once has something here: nobody is led through the same twice.
    const isNewcomer = !(await remembers(owner.id));
    await runTerminalChat({
      mode,
      sandbox,
      settled,
      output: process.stdout,
      facts: [
        ['language model', spokenBy(config.model)],
        ['memory', keptIn(storage)],
      ],
      demonstration,
      inFreshWorld: (play) => inTemporaryWorld(config, logger, play),
      suggestions: isNewcomer ? suggestions : [],
      signal,
    });
  };
  if (mode.kind === 'demonstration') await inTemporaryWorld(config, logger, chat);
  else await inWorld(config, logger, chat);
}

/** A sandbox with the bot in it. */
interface SandboxWorld {
  readonly sandbox: SandboxServer;
  /** Resolves when the bot has nothing running or waiting. */
  readonly settled: () => Promise<void>;
  /** Whether anything is held about a person. */
  readonly remembers: (userId: string) => Promise<boolean>;
  readonly storage: Config['storage'];
}

/** Remembers in a folder that is removed afterwards. */
async function inTemporaryWorld(
  config: Config,
  logger: Logger,
  use: (world: SandboxWorld) => Promise<void>,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'discoclaw-demonstration-'));
  try {
    // The chat that it may be played in has the port.
    await inWorld(
      { ...config, storage: whollyBelow(folder, config.storage), http: { ...config.http, port: 0 } },
      logger,
      use,
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function inWorld(
  config: Config,
  logger: Logger,
  use: (world: SandboxWorld) => Promise<void>,
): Promise<void> {
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
    const bot = await startBot(
      // Nobody else is there to wait for, and a script writes fast.
      { ...config, discord, limits: { ...config.limits, turnsPerMinute: 0 } },
      {
        token: sandbox.token,
        apiUrl: sandbox.apiUrl,
        serverBegan,
        logger,
        metrics,
        checked: checkStart(config, logger),
        onLost: (error) => logger.error('the sandbox is out of reach', { error }),
      },
    );
    health?.follow(bot);
    try {
      // Who types a slash command at once finds it.
      await bot.commandsRegistered;
      await use({ sandbox, settled: () => bot.idle(), remembers: bot.remembers, storage: config.storage });
    } finally {
      await bot.stop();
    }
  } finally {
    metrics?.close();
    await health?.close();
    await sandbox.close();
  }
}

/** No layer's folder stands apart, and no database is used: a demonstration must not get into anybody's memory. */
function whollyBelow(dataDir: string, storage: Config['storage']): Config['storage'] {
  const apart = { durableDir: undefined, summaryDir: undefined, shortTermDir: undefined };
  return { ...storage, ...apart, dataDir, databaseUrl: undefined };
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
