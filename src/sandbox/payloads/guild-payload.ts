import {
  ApplicationFlags,
  ChannelType,
  OverwriteType,
  ThreadAutoArchiveDuration,
} from 'discord-api-types/v10';

import { activeThreads } from '../world/guilds.ts';
import type {
  Channel,
  Guild,
  GuildEmoji,
  Member,
  Role,
  TextChannel,
  ThreadChannel,
  User,
} from '../world/entities.ts';
import { messagesOf } from '../world/messages.ts';
import { guildPermissions } from '../world/permissions.ts';
import { memberOf, userOf, type World } from '../world/world.ts';

// As Discord shows things, with the fields that bots have a use for.

/** A user; `bot` is left out for people. */
export function userPayload({ id, username, bot }: User): object {
  return { id, username, discriminator: '0', global_name: null, avatar: null, bot: bot ? true : undefined };
}

/** The bot's application with its owner. */
export function applicationPayload(world: World): object {
  const { id, name, ownerId } = world.application;
  const flags = applicationFlags(world);
  const owner = userPayload(userOf(world, ownerId));
  const bot = userPayload(userOf(world, world.botId));
  return { id, name, description: '', bot_public: false, bot, flags, owner, team: null };
}

/** Which privileged intents the application may ask for, as flags of a bot in fewer than 100 guilds. */
export function applicationFlags({ application: { privileged } }: World): number {
  return (
    (privileged.messageContent ? ApplicationFlags.GatewayMessageContentLimited : 0) |
    (privileged.guildMembers ? ApplicationFlags.GatewayGuildMembersLimited : 0) |
    (privileged.presences ? ApplicationFlags.GatewayPresenceLimited : 0)
  );
}

export function rolePayload({ id, name, position, permissions, managed, botId }: Role): object {
  return {
    id,
    name,
    color: 0,
    position,
    permissions: permissions.toString(),
    managed,
    tags: botId === undefined ? undefined : { bot_id: botId },
    flags: 0,
  };
}

/** A member without its user, as messages carry it. */
export function memberPayloadWithoutUser({ roleIds, joinedAt }: Member): object {
  return { nick: null, roles: [...roleIds], joined_at: joinedAt, deaf: false, mute: false, flags: 0 };
}

export function memberPayload(world: World, member: Member): object {
  return { ...memberPayloadWithoutUser(member), user: userPayload(userOf(world, member.userId)) };
}

/** A guild in the list of those that a user is in, with what they may do there at large. */
export function ownGuildPayload(guild: Guild, userId: string): object {
  const member = guild.members.get(userId);
  const permissions = member === undefined ? 0n : guildPermissions(guild, member);
  const { id, name, ownerId } = guild;
  return { id, name, icon: null, owner: ownerId === userId, permissions: permissions.toString() };
}

/**
 * GUILD_CREATE for the bot: every channel, the active threads that it can view, and the members, which Discord cuts down
 * to the bot itself where the intent for members is missing.
 */
export function guildCreatePayload(world: World, guild: Guild, withAllMembers: boolean): object {
  const members = [...guild.members.values()].filter(
    ({ userId }) => withAllMembers || userId === world.botId,
  );
  return {
    id: guild.id,
    name: guild.name,
    icon: null,
    owner_id: guild.ownerId,
    roles: Array.from(guild.roles.values(), rolePayload),
    emojis: Array.from(guild.emojis.values(), emojiPayload),
    features: [],
    joined_at: memberOf(world, guild.id, world.botId)?.joinedAt ?? guild.createdAt,
    unavailable: false,
    member_count: guild.members.size,
    members: members.map((member) => memberPayload(world, member)),
    channels: [...world.channels.values()].flatMap((channel) =>
      channel.kind === 'text' && channel.guildId === guild.id ? [guildChannelPayload(world, channel)] : [],
    ),
    threads: activeThreads(world, guild.id).map((thread) => threadPayload(world, thread, world.botId)),
  };
}

/** An emoji of a guild's own. */
export function emojiPayload({ id, name }: GuildEmoji): object {
  return { id, name, roles: [], managed: false, animated: false, available: true };
}

/** The emoji of a reaction, from the key under which it is kept: itself, or `name:id`. */
export function reactionEmoji(key: string): object {
  const { name, id } = /^(?<name>\w+):(?<id>\d+)$/u.exec(key)?.groups ?? {};
  return name === undefined ? { id: null, name: key } : { id, name };
}

export function channelType(channel: Channel): ChannelType {
  switch (channel.kind) {
    case 'dm':
      return (channel.others?.length ?? 0) > 1 ? ChannelType.GroupDM : ChannelType.DM;
    case 'text':
      return channel.type;
    case 'thread':
      return channel.isPrivate ? ChannelType.PrivateThread : ChannelType.PublicThread;
  }
}

/** A channel as `viewerId` gets to see it. */
export function channelPayload(world: World, channel: Channel, viewerId: string): object {
  switch (channel.kind) {
    case 'dm': {
      const people = [channel.personId, ...(channel.others ?? [])].filter((id) => id !== viewerId);
      const recipients = people.map((id) => userPayload(userOf(world, id)));
      return { ...commonPayload(world, channel), recipients };
    }
    case 'text':
      return guildChannelPayload(world, channel);
    case 'thread':
      return threadPayload(world, channel, viewerId);
  }
}

export function guildChannelPayload(world: World, channel: TextChannel): object {
  return {
    ...commonPayload(world, channel),
    guild_id: channel.guildId,
    name: channel.name,
    position: channel.position,
    permission_overwrites: Array.from(channel.overwrites.values(), ({ targetId, kind, allow, deny }) => ({
      id: targetId,
      type: kind === 'role' ? OverwriteType.Role : OverwriteType.Member,
      allow: allow.toString(),
      deny: deny.toString(),
    })),
    parent_id: null,
    nsfw: channel.ageRestricted,
  };
}

/** A thread; with `member` where the viewer has joined it. */
export function threadPayload(world: World, thread: ThreadChannel, viewerId: string): object {
  const joined = thread.members.get(viewerId);
  return {
    ...commonPayload(world, thread),
    guild_id: thread.guildId,
    parent_id: thread.parentId,
    owner_id: thread.ownerId,
    name: thread.name,
    message_count: messagesOf(world, thread.id).length,
    member_count: thread.members.size,
    thread_metadata: {
      archived: thread.archived,
      auto_archive_duration: ThreadAutoArchiveDuration.OneDay,
      archive_timestamp: thread.archiveChangedAt,
      create_timestamp: thread.createdAt,
      locked: thread.locked,
    },
    member: joined === undefined ? undefined : { join_timestamp: joined, flags: 0 },
  };
}

function commonPayload(world: World, channel: Channel): object {
  const last = messagesOf(world, channel.id).at(-1)?.id ?? null;
  return { id: channel.id, type: channelType(channel), last_message_id: last, flags: 0 };
}

export function threadMemberPayload(thread: ThreadChannel, userId: string): object {
  const joined = thread.members.get(userId) ?? thread.createdAt;
  return { id: thread.id, user_id: userId, join_timestamp: joined, flags: 0 };
}
