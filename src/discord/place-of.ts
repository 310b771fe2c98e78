import { ChannelType, PermissionFlagsBits, type Channel, type GuildBasedChannel } from 'discord.js';

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
