import { checkStart } from '../../src/bot/doctor.ts';
import { startBot } from '../../src/bot/start-bot.ts';
import { ConfigError, readConfig } from '../../src/config/config.ts';
import { createLogger } from '../../src/observability/logger.ts';
import { deferred } from '../support/deferred.ts';
import { createPrinted } from './printed.ts';

/** A bot that runs, in this process or in one of its own. */
export interface RunningBot {
  /** Of its process, where it has one of its own. */
  readonly pid?: number | undefined;
  /** What it has logged so far. */
  readonly output: () => string;
  /** Resolves with the output once it contains the text. */
  waitFor(text: string): Promise<string>;
  /** Of its process: resolves with the exit code when it ends, by itself too. */
  readonly exited?: Promise<number | null>;
  /** Has it finish and stop. */
  stop(): Promise<number | null>;
}

/**
 * Starts the bot in this process with all its real edges: files, the model over HTTP, Discord by discord.js. That takes a tenth of what a
 * process takes, and shows the same of everything but the end of a process and what is built.
 */
export async function startBotHere(environment: Readonly<Record<string, string>>): Promise<RunningBot> {
  const ofProcesses = ['NODE_OPTIONS', 'DISCOCLAW_HTTP_PORT', 'DISCOCLAW_SHARDS'];
  if (ofProcesses.some((name) => name in environment))
    throw new Error(
      'Only the built bot has options of its process, runs in several, and tells of its health',
    );
  const { config, notes } = readConfig(environment);
  const { token } = config.discord;
  if (token === undefined) throw new ConfigError(['DISCORD_TOKEN: expected a token, found none']);
  const printed = createPrinted();
  const destination = { write: printed.add };
  const logger = createLogger({ level: config.logLevel, destination, isTerminal: false });
  for (const note of notes) logger.warn(note);
  const ended = deferred<string>();
  const bot = await startBot(config, {
    token,
    logger,
    checked: checkStart(config, logger),
    onLost: (error) => ended.resolve(`the connection was lost (${error.message})`),
  });
  await bot.commandsRegistered;
  return {
    output: printed.text,
    waitFor: (text) => printed.waitFor(text, ended.promise),
    async stop() {
      await bot.stop();
      ended.resolve('the bot was stopped');
      return 0;
    },
  };
}
