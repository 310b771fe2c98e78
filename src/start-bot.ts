import { setTimeout as delay } from 'node:timers/promises';

import { composeBot } from './compose-bot.ts';
import { watchEdges } from './compose-watching.ts';
import type { Config } from './config/config.ts';
import type { WrittenCommand } from './core/chat.ts';
import type { Clock } from './core/time.ts';
import type { Logger } from './core/logger.ts';
import { createDiscordClient, gatewayPing } from './discord/client.ts';
import { createDiscordPorts } from './discord/discord-ports.ts';
import { startGateway } from './discord/gateway.ts';
import { createIgnoredMessages } from './discord/intake.ts';
import { createClientPresence } from './discord/presence.ts';
import { createModel } from './create-model.ts';
import { createFileStore } from './storage/files/store.ts';
import { createChannelJournal } from './turn/channel-journal.ts';
import { processTimer } from './turn/idle-sessions.ts';
import { readIgnored, writeIgnored } from './turn/ignored-document.ts';

const clock: Clock = () => new Date();

/** Milliseconds from the wish to stop until running work is aborted, and until it is no longer waited for [G4]: a last edit and a line fit between. */
const drainMs = 6500;
const waitMs = 8500;

export interface StartOptions {
  readonly token: string;
  /** Another Discord-compatible server. */
  readonly apiUrl?: string | undefined;
  readonly logger: Logger;
  /** The connection is gone for good, long after the start. */
  readonly onLost: (error: Error) => void;
}

export interface RunningBot {
  /** Resolves when everything that came in was answered and the work after it is done. */
  idle(): Promise<void>;
  /** Stops intake, finishes or leaves what runs, flushes and closes: 10 seconds at most [G4]. */
  stop(): Promise<void>;
}

/**
 * Connects a bot with real edges: files, model, Discord.
 * @throws {StoreError} when the data folder cannot be used. @throws {GatewayError} when Discord cannot be.
 */
export async function startBot(config: Config, options: StartOptions): Promise<RunningBot> {
  const { token, apiUrl, logger, onLost } = options;
  const files = await createFileStore({ ...config.storage, clock, logger });
  const client = createDiscordClient({ apiUrl, logger });
  try {
    const { store, model, statusSources, flush } = watchEdges(config, {
      files,
      model: createModel(config.model, logger),
      presence: createClientPresence(client, { clock, timer: processTimer, logger }),
      pingMs: () => gatewayPing(client),
      clock,
      logger,
    });
    const journal = createChannelJournal({ store });
    const parseCommand = (text: string): WrittenCommand | undefined =>
      bot.commands.parse(text, client.user?.id);
    const discordPorts = createDiscordPorts({
      client,
      access: config.discord,
      cdnUrl: config.discord.cdnUrl,
      isHidden: (channelId, messageId) => journal.isHidden(channelId, messageId),
      isCommand: (text) => parseCommand(text) !== undefined,
      clock,
      logger,
    });
    const bot = composeBot(config, {
      store,
      model,
      journal,
      ...discordPorts,
      statusSources,
      clock,
      logger,
    });

    const ignored = createIgnoredMessages(await readIgnored(store, logger));
    // What a kill left undone comes before anything new, so that an answer that was ready is sent and not asked for again.
    const connecting = startGateway({
      client,
      token,
      access: config.discord,
      slashCommands: bot.commands.slashCommands,
      menuEntries: bot.commands.menuEntries,
      commandGuildIds: config.discord.commandGuildIds,
      parseCommand,
      answerMode: bot.answerMode,
      ignored,
      handlers: {
        ...bot.handlers,
        async message(message) {
          await recovered;
          await bot.handlers.message(message);
        },
        async command(request) {
          await recovered;
          return bot.handlers.command(request);
        },
        async menu(request) {
          await recovered;
          return bot.handlers.menu(request);
        },
      },
      history: discordPorts.history,
      knownChannels: () => bot.knownChannels(),
      remembered: (channelId, messageId) => bot.remembered(channelId, messageId),
      isUnfinished: (channelId, messageId) => journal.isUnfinished(channelId, messageId),
      onLost,
      clock,
      logger,
    });
    // What was deleted in the gap is not answered.
    const recovered = connecting.then(({ caughtUp }) => caughtUp).then(() => bot.recover());
    const [gateway] = await Promise.all([connecting, recovered]);
    logger.info('the bot is ready', {
      botId: gateway.botId,
      owners: gateway.ownerIds,
      isOffline: model.isOffline,
    });

    return {
      async idle() {
        await gateway.idle();
        await bot.idle();
      },
      async stop() {
        const finished = gateway
          .stopIntake()
          .then(() => Promise.all([bot.drain(drainMs), gateway.idle()]))
          .then(() => discordPorts.reactions.idle());
        if (!(await endsWithin(waitMs, finished)))
          logger.warn('what still runs is left to the next start', { waitMs });
        await writeIgnored(store, ignored.ids(), { now: clock(), logger });
        await flush();
        await gateway.destroy();
        await files.close();
        logger.info('the bot has stopped');
      },
    };
  } catch (error) {
    await client.destroy();
    await files.close();
    throw error;
  }
}

/** Whether the work is over after so many milliseconds at most. */
async function endsWithin(milliseconds: number, work: Promise<unknown>): Promise<boolean> {
  const over = new AbortController();
  const timeUp = delay(milliseconds, false, { signal: over.signal }).catch(() => false);
  try {
    return await Promise.race([work.then(() => true), timeUp]);
  } finally {
    over.abort();
  }
}
