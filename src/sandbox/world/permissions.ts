import { PermissionFlagsBits } from 'discord-api-types/v10';

import type { Channel, Guild, Member, TextChannel, ThreadChannel } from './entities.ts';
import { channelOf, guildOf, type World } from './world.ts';

/** What @everyone may do in a new guild. */
export const everyonePermissions =
  PermissionFlagsBits.ViewChannel |
  PermissionFlagsBits.Connect |
  PermissionFlagsBits.SendMessages |
  PermissionFlagsBits.SendMessagesInThreads |
  PermissionFlagsBits.ReadMessageHistory |
  PermissionFlagsBits.CreatePublicThreads |
  PermissionFlagsBits.CreatePrivateThreads |
  PermissionFlagsBits.AddReactions |
  PermissionFlagsBits.AttachFiles |
  PermissionFlagsBits.EmbedLinks |
  PermissionFlagsBits.UseApplicationCommands;

/** Of the bot's own role, besides what everyone has. */
export const botPermissions = PermissionFlagsBits.PinMessages | PermissionFlagsBits.SendPolls;

const allPermissions = Object.values(PermissionFlagsBits).reduce((all, bit) => all | bit, 0n);

/** What both sides of a DM may do there. */
const dmPermissions =
  PermissionFlagsBits.ViewChannel |
  PermissionFlagsBits.SendMessages |
  PermissionFlagsBits.ReadMessageHistory |
  PermissionFlagsBits.AddReactions |
  PermissionFlagsBits.AttachFiles |
  PermissionFlagsBits.EmbedLinks |
  PermissionFlagsBits.PinMessages |
  PermissionFlagsBits.SendPolls |
  PermissionFlagsBits.UseApplicationCommands;

/** Permissions in the guild at large: owner and administrators have all. */
export function guildPermissions(guild: Guild, member: Member): bigint {
  if (guild.ownerId === member.userId) return allPermissions;
  let permissions = guild.roles.get(guild.id)?.permissions ?? 0n;
  for (const roleId of member.roleIds) permissions |= guild.roles.get(roleId)?.permissions ?? 0n;
  return has(permissions, PermissionFlagsBits.Administrator) ? allPermissions : permissions;
}

/**
 * Permissions of a user in a channel, by Discord's order: @everyone, roles, then the overwrites for @everyone, for roles
 * together, for the member. A thread has its parent's; a private one is seen by its members and by who may manage threads.
 * Without ViewChannel nothing is left. Strangers have none.
 */
export function channelPermissions(world: World, channel: Channel, userId: string): bigint {
  switch (channel.kind) {
    case 'dm':
      return [channel.personId, ...(channel.others ?? [world.botId])].includes(userId) ? dmPermissions : 0n;
    case 'text':
      return textChannelPermissions(guildOf(world, channel.guildId), channel, userId);
    case 'thread':
      return threadPermissions(world, channel, userId);
  }
}

/** Whether the user has all of `wanted` in the channel. */
export function may(world: World, channel: Channel, userId: string, permission: bigint): boolean {
  return has(channelPermissions(world, channel, userId), permission);
}

/** Whether the user can view the channel with its messages. */
export function canView(world: World, channel: Channel, userId: string): boolean {
  return may(world, channel, userId, PermissionFlagsBits.ViewChannel);
}

/** Whether a locked thread keeps the user from writing, changing and opening it. */
export function isLockedFor(world: World, channel: Channel, userId: string): boolean {
  return (
    channel.kind === 'thread' &&
    channel.locked &&
    !may(world, channel, userId, PermissionFlagsBits.ManageThreads)
  );
}

/** Whether the user may post: threads have a permission of their own for it. */
export function canSend(world: World, channel: Channel, userId: string): boolean {
  const { SendMessages, SendMessagesInThreads } = PermissionFlagsBits;
  const needed = channel.kind === 'thread' ? SendMessagesInThreads : SendMessages;
  return !isLockedFor(world, channel, userId) && may(world, channel, userId, needed);
}

function textChannelPermissions(guild: Guild, channel: TextChannel, userId: string): bigint {
  const member = guild.members.get(userId);
  if (member === undefined) return 0n;
  let permissions = guildPermissions(guild, member);
  if (permissions === allPermissions) return permissions;

  const everyone = channel.overwrites.get(guild.id);
  permissions = overwritten(permissions, everyone?.allow ?? 0n, everyone?.deny ?? 0n);
  let allow = 0n;
  let deny = 0n;
  for (const roleId of member.roleIds) {
    allow |= channel.overwrites.get(roleId)?.allow ?? 0n;
    deny |= channel.overwrites.get(roleId)?.deny ?? 0n;
  }
  permissions = overwritten(permissions, allow, deny);
  const own = channel.overwrites.get(userId);
  permissions = overwritten(permissions, own?.allow ?? 0n, own?.deny ?? 0n);
  return has(permissions, PermissionFlagsBits.ViewChannel) ? permissions : 0n;
}

function threadPermissions(world: World, thread: ThreadChannel, userId: string): bigint {
  const permissions = channelPermissions(world, channelOf(world, thread.parentId), userId);
  const admitted =
    !thread.isPrivate || thread.members.has(userId) || has(permissions, PermissionFlagsBits.ManageThreads);
  return admitted ? permissions : 0n;
}

function overwritten(permissions: bigint, allow: bigint, deny: bigint): bigint {
  return (permissions & ~deny) | allow;
}

function has(permissions: bigint, permission: bigint): boolean {
  return (permissions & permission) === permission;
}
