import {
  ChannelType,
  PermissionFlagsBits as Permission,
  type Channel,
  type GuildBasedChannel,
  type GuildMember,
} from 'discord.js';

/** What is done in channels, by people and by the bot: as it reads after "the permission to". */
export const capabilities = {
  view: 'see the channel',
  read: 'read earlier messages',
  send: 'write',
  react: 'add reactions',
  pin: 'pin messages',
  poll: 'make polls',
  'start-thread': 'start threads',
  'start-private-thread': 'start private threads',
} as const;

export type Capability = keyof typeof capabilities;

/** Besides viewing the channel, and in the order of {@link Capability}; threads have a permission of their own for sending. */
function neededFor(capability: Capability, channel: GuildBasedChannel): bigint {
  const sending = channel.isThread() ? Permission.SendMessagesInThreads : Permission.SendMessages;
  switch (capability) {
    case 'view':
      return 0n;
    case 'read':
      return Permission.ReadMessageHistory;
    case 'send':
      return sending;
    case 'react':
      return Permission.ReadMessageHistory | Permission.AddReactions;
    case 'pin':
      return Permission.ReadMessageHistory | Permission.PinMessages;
    case 'poll':
      return sending | Permission.SendPolls;
    case 'start-thread':
      return Permission.CreatePublicThreads | Permission.SendMessagesInThreads;
    case 'start-private-thread':
      return Permission.CreatePrivateThreads | Permission.SendMessagesInThreads;
  }
}

/**
 * Whether a member may do something in a channel of the guild, as far as the caches tell: roles, overwrites, time-outs, closed threads, and
 * what the kind of channel allows. `undefined` where that cannot be known. Whether a person is in a private thread is not asked here.
 */
export function memberMay(
  capability: Capability,
  channel: GuildBasedChannel,
  member: GuildMember,
): boolean | undefined {
  // After a gap a guild is unavailable until its present permissions have come; those from before may be outdated.
  const granted = channel.guild.available ? channel.permissionsFor(member) : null;
  if (granted === null) return undefined;
  if (!granted.has(Permission.ViewChannel) || !isPossible(capability, channel)) return false;
  if (capability === 'view') return true;
  if (capability === 'read') return granted.has(Permission.ReadMessageHistory);
  if (member.isCommunicationDisabled() && !granted.has(Permission.Administrator)) return false;
  if (channel.isThread() && channel.locked === true && !granted.has(Permission.ManageThreads)) return false;
  return granted.has(neededFor(capability, channel));
}

/** What the kind of channel allows anybody. A message wakes an archived thread; nothing else is taken there. */
function isPossible(capability: Capability, channel: GuildBasedChannel): boolean {
  switch (capability) {
    case 'view':
      return true;
    case 'read':
    case 'send':
    case 'poll':
      return channel.isSendable();
    case 'react':
    case 'pin':
      return channel.isSendable() && !(channel.isThread() && channel.archived === true);
    case 'start-thread':
      return channel.type === ChannelType.GuildText || channel.type === ChannelType.GuildAnnouncement;
    case 'start-private-thread':
      return channel.type === ChannelType.GuildText;
  }
}

/**
 * Whether the bot may do something in a channel, without asking Discord, which bans an address for a while that sends too many requests
 * that it must refuse. What cannot be known is tried.
 */
export function botMay(capability: Capability, channel: Channel | undefined): boolean {
  if (channel === undefined) return true;
  if (channel.isDMBased()) return capability !== 'start-thread' && capability !== 'start-private-thread';
  const { me } = channel.guild.members;
  return me === null || (memberMay(capability, channel, me) ?? true);
}
