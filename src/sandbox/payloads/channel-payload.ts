import { ChannelType, OverwriteType, ThreadAutoArchiveDuration } from 'discord-api-types/v10';
import type {
  APIChannel,
  APIDMChannel,
  APIOverwrite,
  APIPrivateThreadChannel,
  APIPublicThreadChannel,
  APITextChannel,
  APIThreadMember,
} from 'discord-api-types/v10';

import type { Channel, DmChannel, Overwrite, TextChannel, ThreadChannel } from '../world/entities.ts';
import { messagesOf } from '../world/messages.ts';
import { userOf } from '../world/world.ts';
import type { World } from '../world/world.ts';
import { flagBits } from './flag-bits.ts';
import { userPayload } from './user-payload.ts';

export type ThreadPayload = APIPrivateThreadChannel | APIPublicThreadChannel;

export function channelType(
  channel: Channel,
): ChannelType.DM | ChannelType.GuildText | ChannelType.PrivateThread | ChannelType.PublicThread {
  switch (channel.kind) {
    case 'dm':
      return ChannelType.DM;
    case 'text':
      return ChannelType.GuildText;
    case 'thread':
      return channel.isPrivate ? ChannelType.PrivateThread : ChannelType.PublicThread;
  }
}

/** A channel as `viewerId` gets to see it. */
export function channelPayload(world: World, channel: Channel, viewerId: string): APIChannel {
  switch (channel.kind) {
    case 'dm':
      return dmPayload(world, channel);
    case 'text':
      return textChannelPayload(world, channel);
    case 'thread':
      return threadPayload(world, channel, viewerId);
  }
}

export function textChannelPayload(world: World, channel: TextChannel): APITextChannel {
  return {
    id: channel.id,
    type: ChannelType.GuildText,
    guild_id: channel.guildId,
    name: channel.name,
    position: channel.position,
    permission_overwrites: Array.from(channel.overwrites.values(), overwritePayload),
    parent_id: null,
    topic: null,
    nsfw: false,
    rate_limit_per_user: 0,
    last_message_id: lastMessageId(world, channel),
    flags: flagBits(0),
  };
}

/** A thread; with `member` where the viewer has joined it. */
export function threadPayload(world: World, thread: ThreadChannel, viewerId: string): ThreadPayload {
  const messages = messagesOf(world, thread.id);
  const joined = thread.members.get(viewerId);
  const common: Omit<APIPublicThreadChannel, 'type'> = {
    id: thread.id,
    guild_id: thread.guildId,
    parent_id: thread.parentId,
    owner_id: thread.ownerId,
    name: thread.name,
    last_message_id: lastMessageId(world, thread),
    rate_limit_per_user: 0,
    message_count: messages.length,
    total_message_sent: messages.length,
    member_count: thread.members.size,
    thread_metadata: {
      archived: false,
      auto_archive_duration: ThreadAutoArchiveDuration.OneDay,
      archive_timestamp: thread.createdAt,
      create_timestamp: thread.createdAt,
      locked: false,
      ...(thread.isPrivate ? { invitable: true } : {}),
    },
    flags: flagBits(0),
    ...(joined === undefined ? {} : { member: { join_timestamp: joined, flags: flagBits(0) } }),
  };
  return thread.isPrivate
    ? { ...common, type: ChannelType.PrivateThread }
    : { ...common, type: ChannelType.PublicThread };
}

export function threadMemberPayload(thread: ThreadChannel, userId: string): APIThreadMember {
  return {
    id: thread.id,
    user_id: userId,
    join_timestamp: thread.members.get(userId) ?? thread.createdAt,
    flags: flagBits(0),
  };
}

function dmPayload(world: World, channel: DmChannel): APIDMChannel {
  return {
    id: channel.id,
    type: ChannelType.DM,
    name: null,
    recipients: [userPayload(userOf(world, channel.personId))],
    last_message_id: lastMessageId(world, channel),
    flags: flagBits(0),
  };
}

function overwritePayload(overwrite: Overwrite): APIOverwrite {
  return {
    id: overwrite.targetId,
    type: overwrite.kind === 'role' ? OverwriteType.Role : OverwriteType.Member,
    allow: overwrite.allow.toString(),
    deny: overwrite.deny.toString(),
  };
}

function lastMessageId(world: World, channel: Channel): string | null {
  return messagesOf(world, channel.id).at(-1)?.id ?? null;
}
