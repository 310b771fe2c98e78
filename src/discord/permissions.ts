import {
  ChannelType,
  GatewayDispatchEvents,
  PermissionFlagsBits as Permission,
  type Channel,
  type Client,
  type GatewayGuildDeleteDispatchData,
  type GuildBasedChannel,
  type GuildMember,
} from 'discord.js';

import type { ServerPort } from '../core/chat.ts';
import { lruCache } from '../core/limits.ts';
import { isPart, type Shards } from '../core/processes.ts';
import { unknownOverwrite } from './payloads.ts';

/** As it reads after "the permission to". */
export const capabilities = {
  view: 'see the channel',
  read: 'read earlier messages',
  send: 'write',
  attach: 'attach files',
  react: 'add reactions',
  pin: 'pin messages',
  poll: 'make polls',
  'start-thread': 'start threads',
  'start-private-thread': 'start private threads',
} as const;

export type Capability = keyof typeof capabilities;

/** A thread is judged by its parent. */
export function hasKnownOverwrites(channel: GuildBasedChannel): boolean {
  const judged = channel.isThread() ? channel.parent : channel;
  return judged === null || !judged.permissionOverwrites.cache.has(unknownOverwrite.id);
}

/** A voice channel takes connecting too [V0]. By type, since the library also checks the bitrate. */
export function neededToRead({ type }: Pick<GuildBasedChannel, 'type'>): bigint {
  return type === ChannelType.GuildVoice || type === ChannelType.GuildStageVoice
    ? Permission.ViewChannel | Permission.Connect
    : Permission.ViewChannel;
}

/** Besides viewing the channel and, for some, sending there. */
const needed: Readonly<Record<Capability, bigint>> = {
  view: 0n,
  read: Permission.ReadMessageHistory,
  send: 0n,
  attach: Permission.AttachFiles,
  react: Permission.ReadMessageHistory | Permission.AddReactions,
  pin: Permission.ReadMessageHistory | Permission.PinMessages,
  poll: Permission.SendPolls,
  'start-thread': Permission.CreatePublicThreads | Permission.SendMessagesInThreads,
  'start-private-thread': Permission.CreatePrivateThreads | Permission.SendMessagesInThreads,
};
const takesSending: ReadonlySet<Capability> = new Set(['send', 'attach', 'poll']);

/** As far as the caches tell; `undefined` where that cannot be known. */
export function memberMay(
  capability: Capability,
  channel: GuildBasedChannel,
  member: GuildMember,
): boolean | undefined {
  // While a guild is unavailable after a gap, its permissions may be outdated.
  const isKnown = channel.guild.available && hasKnownOverwrites(channel);
  const granted = isKnown ? channel.permissionsFor(member) : null;
  if (granted === null) return undefined;
  if (!granted.has(neededToRead(channel)) || !isPossible(capability, channel)) return false;
  if (capability === 'view' || capability === 'read') return granted.has(needed[capability]);
  if (member.isCommunicationDisabled() && !granted.has(Permission.Administrator)) return false;
  if (channel.isThread() && channel.locked === true && !granted.has(Permission.ManageThreads)) return false;
  const sending = channel.isThread() ? Permission.SendMessagesInThreads : Permission.SendMessages;
  return granted.has(needed[capability] | (takesSending.has(capability) ? sending : 0n));
}

/** Only sending is possible in an archived thread, which it opens. */
function isPossible(capability: Capability, channel: GuildBasedChannel): boolean {
  const { type } = channel;
  if (capability === 'view') return true;
  if (capability === 'start-private-thread') return type === ChannelType.GuildText;
  if (capability === 'start-thread')
    return type === ChannelType.GuildText || type === ChannelType.GuildAnnouncement;
  const isArchived = channel.isThread() && channel.archived === true;
  return channel.isSendable() && !(isArchived && (capability === 'react' || capability === 'pin'));
}

/** Discord sends no events for changes to other members, so they are fetched each time. */
export function createServerPort(client: Client, shards: Shards): ServerPort {
  return {
    hasSeveral: () => client.guilds.cache.size > 1 || isPart(shards),
    async standing(guildId, userId) {
      const guild = client.guilds.cache.get(guildId);
      if (guild?.available !== true) return 'none';
      if (guild.ownerId === userId) return 'administrator';
      const member = await guild.members.fetch({ user: userId, force: true }).catch(() => undefined);
      if (member?.permissions.has(Permission.Administrator) === true) return 'administrator';
      return member?.permissions.has(Permission.ManageGuild) === true ? 'manager' : 'none';
    },
    role(guildId, named) {
      const roles = client.guilds.cache.get(guildId)?.roles.cache;
      const wanted = named.toLowerCase();
      const found = roles?.filter(({ name }) =>
        [name, `@${name}`].some((each) => each.toLowerCase() === wanted),
      );
      return roles?.get(named) ?? (found?.size === 1 ? found.first() : undefined);
    },
    titleOf: (guildOrMention) => titleOf(client, guildOrMention),
  };
}

export function titleOf({ guilds }: Client, guildOrMention: string): string {
  const [, id = ''] = /^<@&(\d+)>$/u.exec(guildOrMention) ?? [];
  const guild = guilds.cache.find(({ roles }) => roles.cache.has(id));
  if (guild === undefined) return guilds.cache.get(guildOrMention)?.name ?? guildOrMention;
  return `@${guild.roles.cache.get(id)?.name.replace(/^@/u, '')} in ${guild.name}`;
}

/** Discord bans addresses that send many refused requests. What cannot be known is tried. */
export function botMay(capability: Capability, channel: Channel | undefined): boolean {
  if (channel === undefined) return true;
  if (channel.isDMBased()) return capability !== 'start-thread' && capability !== 'start-private-thread';
  const { me } = channel.guild.members;
  return me === null || (memberMay(capability, channel, me) ?? true);
}

const keptGone = 10_000;

/** Deleted channels, and those of servers that the bot has left: no request is sent for them [G3d]. */
export function watchGoneChannels(client: Client): (channelId: string) => boolean {
  const gone = lruCache<string, true>(keptGone);
  const note = ({ id }: { readonly id: string }): void => void gone.set(id, true);
  // Raw events come before the library clears its caches. An outage is not a departure.
  client.ws.on(GatewayDispatchEvents.GuildDelete, ({ id, unavailable }: GatewayGuildDeleteDispatchData) => {
    if (unavailable === true) return;
    for (const channel of client.channels.cache.values())
      if (!channel.isDMBased() && channel.guildId === id) note(channel);
  });
  client.ws.on(GatewayDispatchEvents.ChannelDelete, note);
  client.ws.on(GatewayDispatchEvents.ThreadDelete, note);
  return (channelId) => gone.has(channelId) && !client.channels.cache.has(channelId);
}
