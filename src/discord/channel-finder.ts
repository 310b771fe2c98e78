import type { Channel, Client } from 'discord.js';

import type { Logger } from '../core/logger.ts';
import type { FindChannel } from './place-of.ts';

/**
 * Finds channels in the client's cache, and fetches those that it does not hold or knows in part only: an event alone tells neither
 * a channel's permissions nor a thread's parent and maker.
 */
export function createChannelFinder(client: Client, logger: Logger): FindChannel {
  return async (channelId) => {
    const cached = client.channels.cache.get(channelId);
    if (cached !== undefined && isComplete(cached)) return cached;
    try {
      return (await client.channels.fetch(channelId, { force: true })) ?? undefined;
    } catch (error) {
      logger.warn('a channel could not be fetched', { channelId, error });
      return undefined;
    }
  };
}

function isComplete(channel: Channel): boolean {
  if (channel.isDMBased()) return true;
  // The library's types leave out that a channel made from an event alone has no name yet.
  const name: string | undefined = channel.name;
  return name !== undefined && (!channel.isThread() || channel.parentId !== null);
}
