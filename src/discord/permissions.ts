import {
  ChannelType,
  PermissionFlagsBits,
  type Channel,
  type GuildBasedChannel,
  type GuildMember,
} from 'discord.js';

/** What is done in channels, by people and by the bot. */
export type Deed =
  | 'view'
  | 'read'
  | 'send'
  | 'react'
  | 'pin'
  | 'poll'
  | 'start-thread'
  | 'start-private-thread';

const {
  ViewChannel,
  ReadMessageHistory,
  SendMessages,
  SendMessagesInThreads,
  AddReactions,
  PinMessages,
  SendPolls,
  CreatePublicThreads,
  CreatePrivateThreads,
  ManageThreads,
  Administrator,
} = PermissionFlagsBits;

/** Besides viewing the channel, and in the order of {@link Deed}; threads have a permission of their own for sending. */
function neededFor(deed: Deed, channel: GuildBasedChannel): bigint {
  const sending = channel.isThread() ? SendMessagesInThreads : SendMessages;
  switch (deed) {
    case 'view':
      return 0n;
    case 'read':
      return ReadMessageHistory;
    case 'send':
      return sending;
    case 'react':
      return ReadMessageHistory | AddReactions;
    case 'pin':
      return ReadMessageHistory | PinMessages;
    case 'poll':
      return sending | SendPolls;
    case 'start-thread':
      return CreatePublicThreads | SendMessagesInThreads;
    case 'start-private-thread':
      return CreatePrivateThreads | SendMessagesInThreads;
  }
}

/**
 * Whether a member may do something in a channel of the guild, as far as the caches tell: roles, overwrites, time-outs, closed threads, and
 * what the kind of channel allows. `undefined` where that cannot be known. Whether a person is in a private thread is not asked here.
 */
export function memberMay(deed: Deed, channel: GuildBasedChannel, member: GuildMember): boolean | undefined {
  // After a gap a guild is unavailable until its present permissions have come; those from before may be outdated.
  const granted = channel.guild.available ? channel.permissionsFor(member) : null;
  if (granted === null) return undefined;
  if (!granted.has(ViewChannel) || !isPossible(deed, channel)) return false;
  if (deed === 'view') return true;
  if (deed === 'read') return granted.has(ReadMessageHistory);
  if (member.isCommunicationDisabled() && !granted.has(Administrator)) return false;
  if (channel.isThread() && channel.locked === true && !granted.has(ManageThreads)) return false;
  return granted.has(neededFor(deed, channel));
}

/** What the kind of channel allows anybody. A message wakes an archived thread; nothing else is taken there. */
function isPossible(deed: Deed, channel: GuildBasedChannel): boolean {
  switch (deed) {
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
export function botMay(deed: Deed, channel: Channel | undefined): boolean {
  if (channel === undefined) return true;
  if (channel.isDMBased()) return deed !== 'start-thread' && deed !== 'start-private-thread';
  const { me } = channel.guild.members;
  return me === null || (memberMay(deed, channel, me) ?? true);
}
