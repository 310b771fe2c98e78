import { join, resolve } from 'node:path';
import { mkdtemp, rm } from 'node:fs/promises';
import { once } from 'node:events';
import { tmpdir } from 'node:os';

import type { Config } from '../config/config.ts';
import { measuredApart, type Logger } from '../core/logger.ts';
import type { Shards } from '../core/processes.ts';
import { growingPause, retry, unlessAborted } from '../core/time.ts';
import { withDiscord } from '../discord/client.ts';
import { GatewayError } from '../discord/gateway-error.ts';
import { createLogger } from '../observability/logger.ts';
import { FolderLostError } from '../storage/files/owner-lock.ts';
import { checkStart } from './doctor.ts';
import type { SandboxServer } from '../sandbox/sandbox-server.ts';
import { startBot, unusablePort } from './start-bot.ts';
import type { Suggestion } from '../sandbox/terminal/guide.ts';
import type { Demonstration } from '../sandbox/terminal/run-terminal-chat.ts';

/** Until `signal`. Rejects when the connection or the data folder is lost for good, after a clean stop. */
export async function runConnected(
  config: Config,
  token: string,
  notes: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const logger = createLogger({ level: config.logLevel });
  // It is a fault of ours, or of a library's, but no conversation ends with it [L5].
  process.on('unhandledRejection', (error) => logger.error('a rejection that nobody handles', { error }));
  for (const note of notes) logger.warn(note);
  const health = await serveHealth(config.http);
  const checked = checkStart(config, logger);
  const lost = new AbortController();
  const start = async () => {
    try {
      return await startBot(config, {
        token,
        shards: await unlessAborted(signal, shardsHere(config, token, logger)),
        logger,
        metrics: health?.metrics,
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
    process.send?.('ready');
    const end = AbortSignal.any([signal, lost.signal]);
    if (!end.aborted) await once(end, 'abort');
    health?.follow(undefined);
    await bot.stop(lost.signal.reason instanceof FolderLostError);
  } finally {
    await health?.close();
  }
  lost.signal.throwIfAborted();
}

/** The shards that this process runs [X3]; with `auto`, as many as Discord recommends. @throws {GatewayError} */
async function shardsHere({ shards, discord }: Config, token: string, logger: Logger): Promise<Shards> {
  const { apiUrl } = discord;
  const count =
    shards.count === 'auto'
      ? await withDiscord({ token, apiUrl, logger }, (checkup) => checkup.recommendedShards())
      : shards.count;
  return { count, ids: shards.ids ?? Array.from({ length: count }, (_, id) => id) };
}

const firstWaitMs = 1000;
const longestWaitMs = 60_000;
const linesApartMs = 60_000;

/** Retries what passes by itself [O2] [O7]. `undefined` once `signal` is aborted. */
async function whenReachable<Bot>(
  start: () => Promise<Bot>,
  logger: Logger,
  signal: AbortSignal,
): Promise<Bot | undefined> {
  let saidAt = -Infinity;
  function pauseAfter(error: unknown, failures: number): number {
    if (!(error instanceof GatewayError) || !error.isPassing) throw error;
    const { message, waitMs, cause } = error;
    // Timers overflow after 24 days.
    const pauseMs = growingPause(failures, firstWaitMs, longestWaitMs);
    const inMs = Math.min(Math.max(waitMs ?? 0, pauseMs), 24 * 3_600_000);
    if (waitMs === undefined && performance.now() - saidAt < linesApartMs) return inMs;
    saidAt = performance.now();
    logger.warn(`${message}; it is tried again`, { inMs, error: waitMs === undefined ? cause : undefined });
    return inMs;
  }

  return retry(start, pauseAfter, { signal }).catch((error: unknown) => {
    if (signal.aborted) return undefined;
    throw error;
  });
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
    const link = await bot.pageLink({ ...owner, isOwner: true }).catch(() => undefined);
    await runTerminalChat({
      mode,
      sandbox,
      settled: () => bot.idle(),
      output: process.stdout,
      facts: [
        ['language model', spokenBy(config.model)],
        ['memory', storage.databaseUrl === undefined ? resolve(storage.dataDir) : 'a PostgreSQL database'],
        ...(link === undefined ? [] : [['your page', `${link} (once, within ten minutes)`] as const]),
      ],
      demonstration,
      inFreshWorld: (play) =>
        measuredApart(() =>
          inTemporaryWorld(config, logger, (inner, fresh) =>
            play({ sandbox: inner, settled: () => fresh.idle() }),
          ),
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
  const lost = new AbortController();
  const health = await serveHealth(config.http);
  try {
    const { channels } = await sandbox.info();
    const discord = {
      ...config.discord,
      apiUrl: sandbox.apiUrl,
      cdnUrl: sandbox.url,
      access: 'everyone' as const,
      autoReplyChannelIds: Object.values(channels),
    };
    // A script writes faster than people may.
    const here = { ...config, discord, limits: { ...config.limits, turnsPerMinute: 0 } };
    const bot = await startBot(here, {
      token: sandbox.token,
      serverBegan,
      logger,
      metrics: health?.metrics,
      checked: checkStart(config, logger),
      onLost: (error) => lost.abort(error),
    });
    health?.follow(bot);
    try {
      // So that a slash command works at once.
      await bot.commandsRegistered;
      await unlessAborted(lost.signal, use(sandbox, bot, config));
    } finally {
      await bot.stop(lost.signal.aborted);
    }
  } finally {
    await health?.close();
    await sandbox.close();
  }
}

function spokenBy({ apiKey, baseUrl, main }: Config['model']): string {
  return apiKey === undefined && baseUrl === undefined
    ? 'none: an offline stand-in answers by rules, from memory (with ANTHROPIC_API_KEY a model does)'
    : main;
}

/** Serves health and metrics, if a port is set [O3]. @throws {ConfigError} where the port cannot be used. */
async function serveHealth({ port, host }: Config['http']) {
  if (port === 0) return undefined;
  const { createMetrics, startHealthServer } = await import('../observability/health-server.ts');
  const metrics = createMetrics();
  try {
    return { metrics, ...(await startHealthServer({ port, host }, metrics)) };
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
        { place: '#general', text: '/memory show' },
      ],
    },
    {
      caption: 'It says at its moment what she wants to be reminded of.',
      lines: [{ place: '#general', text: '!remind tomorrow at 9:00: order the cake' }],
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
