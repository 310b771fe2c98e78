import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

import type { Config } from '../config/config.ts';
import { createLogger } from '../observability/logger.ts';
import { demonstration } from './demonstration.ts';
import { startBot } from './start-bot.ts';

/**
 * Runs the bot on Discord until `signal`, telling a process manager when it is ready. Rejects when the connection was lost for
 * good, after everything was finished that could be.
 */
export async function runConnected(
  config: Config,
  token: string,
  notes: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const logger = createLogger({ level: config.logLevel });
  for (const note of notes) logger.warn(note);
  const lost = new AbortController();
  const bot = await startBot(config, {
    token,
    apiUrl: config.discord.apiUrl,
    logger,
    onLost: (error) => lost.abort(error),
  });
  process.send?.('ready');
  const end = AbortSignal.any([signal, lost.signal]);
  if (!end.aborted) await once(end, 'abort');
  await bot.stop();
  lost.signal.throwIfAborted();
}

/**
 * Runs the bot without an account: a sandbox Discord in this process, the real client logged in to it, and a chat in the terminal
 * [Z1]. Everybody there has access, and the bot answers in every channel without being mentioned. The demonstration remembers in
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
  const [{ startSandboxServer }, { runTerminalChat }, { chooseTerminalMode }] = await Promise.all([
    import('../sandbox/sandbox-server.ts'),
    import('../sandbox/terminal/run-terminal-chat.ts'),
    import('../sandbox/terminal/terminal-mode.ts'),
  ]);
  const mode = await chooseTerminalMode(process.stdin, process.stdout);
  const demonstrationDir =
    mode.kind === 'demonstration' ? await mkdtemp(join(tmpdir(), 'discoclaw-demonstration-')) : undefined;
  const storage =
    demonstrationDir === undefined ? config.storage : whollyBelow(demonstrationDir, config.storage);
  const sandbox = await startSandboxServer();
  try {
    const { channels } = await sandbox.info();
    const bot = await startBot(
      {
        ...config,
        discord: {
          ...config.discord,
          cdnUrl: sandbox.url,
          access: 'everyone',
          autoReplyChannelIds: Object.values(channels),
        },
        storage,
      },
      {
        token: sandbox.token,
        apiUrl: sandbox.apiUrl,
        logger,
        onLost: (error) => logger.error('the sandbox is out of reach', { error }),
      },
    );
    try {
      await runTerminalChat({
        mode,
        sandbox,
        output: process.stdout,
        settled: () => bot.idle(),
        facts: [
          ['language model', spokenBy(config.model)],
          ['memory', resolve(storage.dataDir)],
        ],
        demonstration,
        signal,
      });
    } finally {
      await bot.stop();
    }
  } finally {
    await sandbox.close();
    if (demonstrationDir !== undefined) await rm(demonstrationDir, { recursive: true, force: true });
  }
}

/** No layer's folder stands apart: a demonstration must not get into anybody's memory. */
function whollyBelow(dataDir: string, storage: Config['storage']): Config['storage'] {
  return { ...storage, dataDir, durableDir: undefined, summaryDir: undefined, shortTermDir: undefined };
}

function spokenBy({ apiKey, baseUrl, main }: Config['model']): string {
  return apiKey === undefined && baseUrl === undefined
    ? 'none: an offline stand-in answers by rules, from memory (with ANTHROPIC_API_KEY a model does)'
    : main;
}
