import { ChannelType, type Client, type Message } from 'discord.js';

import type { Clock } from '../core/clock.ts';
import type { Logger } from '../core/logger.ts';
import { compareSnowflakes, snowflakeAt } from '../core/snowflake.ts';
import type { ChannelMessages } from './channel-messages.ts';

/** Older messages are not answered any more [G3a]; milliseconds. */
const windowMs = 5 * 60_000;
/** Channels that are fetched at the same time, so that replies need not wait behind all of them. */
const atOnce = 8;
/** Five hundred messages of a channel at most. */
const pages = 5;

export interface CatchUpOptions {
  readonly client: Client;
  readonly botId: string;
  readonly messages: Pick<ChannelMessages, 'after'>;
  /** Channels that the bot has been active in, DMs above all: Discord lists those to no bot. */
  readonly knownChannels: () => Promise<readonly string[]>;
  readonly autoReplyChannelIds: readonly string[];
  /** The way that live messages go. */
  readonly received: (message: Message) => Promise<void>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Fetches what was written while the bot was away, and gives it to intake as if it had just come in, oldest first [G3a]. Messages
 * that were handled already are among them; the handlers know them. Never throws.
 */
export async function catchUp(options: CatchUpOptions): Promise<void> {
  const { client, logger } = options;
  const floor = snowflakeAt(new Date(options.clock().getTime() - windowMs));
  const known = await options.knownChannels().catch((error: unknown) => {
    logger.warn('the channels to catch up with are not known', { error });
    return [];
  });
  const channelIds = new Set([...known, ...options.autoReplyChannelIds, ...openChannels(options, floor)]);
  const possible = [...channelIds].filter((channelId) => mayHaveNews(client, channelId, floor));
  const queue = possible.values();
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (const channelId of queue) await catchUpWith(channelId, floor, options);
    }),
  );
}

async function catchUpWith(channelId: string, floor: string, options: CatchUpOptions): Promise<void> {
  try {
    const missed = await options.messages.after(channelId, floor, pages);
    for (const message of missed) await options.received(message);
    if (missed.length > 0)
      options.logger.info('messages were fetched after a gap', { channelId, count: missed.length });
  } catch (error) {
    options.logger.warn('missed messages could not be fetched', { channelId, error });
  }
}

/**
 * Channels that this process knows of by itself: DMs, the bot's own threads, and wherever in a guild something was said since
 * `floor`, as it may have mentioned the bot in a channel where it never spoke.
 */
function openChannels({ client, botId }: CatchUpOptions, floor: string): string[] {
  const open = client.channels.cache.filter(
    (channel) =>
      channel.type === ChannelType.DM ||
      (channel.isThread() && channel.ownerId === botId) ||
      ('lastMessageId' in channel &&
        channel.lastMessageId !== null &&
        compareSnowflakes(channel.lastMessageId, floor) >= 0),
  );
  return [...open.keys()];
}

/** The guild's own event tells each channel's newest message, which saves most requests. */
function mayHaveNews(client: Client, channelId: string, floor: string): boolean {
  const channel = client.channels.cache.get(channelId);
  if (channel === undefined || channel.isDMBased() || !('lastMessageId' in channel)) return true;
  return channel.lastMessageId === null || compareSnowflakes(channel.lastMessageId, floor) >= 0;
}
