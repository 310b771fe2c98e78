import { once } from 'node:events';

import type { Config } from './config/config.ts';
import { createLogger } from './observability/logger.ts';
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
