import { Client, GatewayIntentBits, Options, Partials } from 'discord.js';

import type { Logger } from '../core/logger.ts';
import { neededIntents } from './needs.ts';

export interface DiscordClientOptions {
  /** Another Discord-compatible server, as `http://127.0.0.1:8080/api`, with or without a version. */
  readonly apiUrl?: string | undefined;
  readonly logger: Logger;
}

/**
 * The discord.js client with what the bot needs and no more [G3a]: its intents, DMs from channels that it has not seen, caches that do
 * not grow with time, and listeners for errors, which would end the process otherwise. It is not logged in.
 */
export function createDiscordClient({ apiUrl, logger }: DiscordClientOptions): Client {
  const client: Client = new Client({
    intents: neededIntents.map(({ intent }) => GatewayIntentBits[intent]),
    partials: [Partials.Channel],
    allowedMentions: { parse: [], repliedUser: false },
    makeCache: Options.cacheWithLimits({
      ...Options.DefaultMakeCacheSettings,
      AutoModerationRuleManager: 0,
      BaseGuildEmojiManager: 0,
      GuildBanManager: 0,
      GuildEmojiManager: 0,
      GuildInviteManager: 0,
      GuildScheduledEventManager: 0,
      GuildStickerManager: 0,
      // Names of people; history keeps the messages themselves.
      GuildMemberManager: { maxSize: 500, keepOverLimit: ({ id }) => id === client.user?.id },
      UserManager: { maxSize: 2000, keepOverLimit: ({ id }) => id === client.user?.id },
      MessageManager: 0,
      PresenceManager: 0,
      ReactionManager: 0,
      ReactionUserManager: 0,
      StageInstanceManager: 0,
      // Whether the bot itself is in a thread.
      ThreadMemberManager: { maxSize: 0, keepOverLimit: ({ id }) => id === client.user?.id },
      VoiceStateManager: 0,
    }),
    sweepers: Options.DefaultSweeperSettings,
    ...(apiUrl !== undefined && { rest: { api: apiUrl.replace(/(?:\/v\d+)?\/*$/u, '') } }),
  });
  client.on('error', (error) => logger.error('the Discord client reported an error', { error }));
  client.on('warn', (warning) => logger.warn('the Discord client warned', { warning }));
  client.on('shardError', (error) => logger.warn('the gateway connection broke', { error }));
  client.on('shardReconnecting', () => logger.info('connecting to Discord again'));
  client.on('shardResume', (_, replayed) =>
    logger.info('the connection goes on where it broke off', { replayed }),
  );
  client.rest.on('rateLimited', ({ route, timeToReset }) =>
    logger.info('Discord limits the rate', { route, timeToReset }),
  );
  return client;
}

/** Milliseconds to the gateway and back, as the last heartbeats tell; `undefined` before the first. */
export function gatewayPing(client: Client): number | undefined {
  const { ping } = client.ws;
  return ping >= 0 ? ping : undefined;
}
