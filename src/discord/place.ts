import {
  ChannelType,
  PermissionFlagsBits,
  type Channel,
  type Client,
  type GuildBasedChannel,
} from 'discord.js';

import type { PresentPlace } from '../core/chat.ts';
import type { Logger } from '../core/logger.ts';
import type { Place } from '../core/place.ts';

/** A channel from the cache or from Discord; `undefined` where the bot may not see it, or cannot now. */
export type FindChannel = (channelId: string) => Promise<Channel | undefined>;

/**
 * Where a channel's messages are said, with the audience of this very moment: never kept, because permissions change. What cannot
 * be known counts as private, so nothing becomes public by mistake [V2]. `undefined` for a group DM, where others read along.
 */
export async function placeOf(channel: Channel, findChannel: FindChannel): Promise<Place | undefined> {
  if (channel.isDMBased()) {
    if (channel.type !== ChannelType.DM) return undefined;
    return { audience: 'dm', channelId: channel.id, homeId: channel.id };
  }
  const common = { channelId: channel.id, guildId: channel.guildId, channelName: channel.name };
  if (!channel.isThread()) {
    return { ...common, audience: isPublic(channel) ? 'public' : 'private', homeId: channel.id };
  }
  const { parentId } = channel;
  if (parentId === null) return { ...common, audience: 'private', homeId: channel.id };
  const parent = await parentOf(parentId, findChannel);
  const isPrivate = channel.type === ChannelType.PrivateThread;
  return {
    ...common,
    audience: !isPrivate && parent !== undefined && isPublic(parent) ? 'public' : 'private',
    homeId: isPrivate ? channel.id : parentId,
    parentId,
    ...(parent !== undefined && { parentName: parent.name }),
  };
}

async function parentOf(parentId: string, findChannel: FindChannel): Promise<GuildBasedChannel | undefined> {
  const parent = await findChannel(parentId);
  return parent === undefined || parent.isDMBased() ? undefined : parent;
}

/** Whether every member of the guild can view a channel; a thread is judged by its parent, a private one is not public. */
export function isPublic(channel: GuildBasedChannel): boolean {
  const { guild } = channel;
  const everyone = guild.roles.cache.get(guild.id);
  // After a gap a guild is unavailable until its present permissions have come; those from before may be outdated.
  if (!guild.available || everyone === undefined || channel.type === ChannelType.PrivateThread) return false;
  return channel.permissionsFor(everyone)?.has(PermissionFlagsBits.ViewChannel) ?? false;
}

/**
 * Looks again whether everybody can view a channel. What was public stays so, since a narrower audience would admit more of memory; what
 * cannot be known stays as it was.
 */
export function createPresentPlace(findChannel: FindChannel): PresentPlace {
  return async (place) => {
    if (place.audience !== 'private') return place;
    const channel = await findChannel(place.channelId);
    const present = channel === undefined ? undefined : await placeOf(channel, findChannel);
    return present?.audience === 'public' ? present : place;
  };
}

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
