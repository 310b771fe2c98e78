import {
  ChannelType,
  ForumLayoutType,
  OverwriteType,
  VideoQualityMode,
  type APIChannel,
  type APIDMChannel,
  type APIGuildForumChannel,
  type APIGuildStageVoiceChannel,
  type APIGuildVoiceChannel,
  type APIOverwrite,
  type APIPrivateThreadChannel,
  type APIPublicThreadChannel,
  type APITextChannel,
  type APIThreadMember,
  type TextChannelType,
} from 'discord-api-types/v10';

import type { Channel, DmChannel, Overwrite, TextChannel, ThreadChannel } from '../world/entities.ts';
import { beginsThread, messagesOf } from '../world/messages.ts';
import { userOf, type World } from '../world/world.ts';
import { flagBits, userPayload } from './user-payload.ts';

type ThreadPayload = APIPrivateThreadChannel | APIPublicThreadChannel;

/** The type of a channel; a forum's stands in its own payload, since only its posts have messages. */
export function channelType(channel: Channel): TextChannelType {
  switch (channel.kind) {
    case 'dm':
      return ChannelType.DM;
    case 'text':
      return textTypes[channel.form === 'forum' ? 'text' : channel.form];
    case 'thread':
      return channel.isPrivate ? ChannelType.PrivateThread : ChannelType.PublicThread;
  }
}

const textTypes = {
  text: ChannelType.GuildText,
  voice: ChannelType.GuildVoice,
  stage: ChannelType.GuildStageVoice,
} as const;

/** A channel as `viewerId` gets to see it. */
export function channelPayload(world: World, channel: Channel, viewerId: string): APIChannel {
  switch (channel.kind) {
    case 'dm':
      return dmPayload(world, channel);
    case 'text':
      return guildChannelPayload(world, channel);
    case 'thread':
      return threadPayload(world, channel, viewerId);
  }
}

export function guildChannelPayload(
  world: World,
  channel: TextChannel,
): APIGuildForumChannel | APIGuildStageVoiceChannel | APIGuildVoiceChannel | APITextChannel {
  const common: Omit<APITextChannel, 'type'> = {
    id: channel.id,
    guild_id: channel.guildId,
    name: channel.name,
    position: channel.position,
    permission_overwrites: Array.from(channel.overwrites.values(), overwritePayload),
    parent_id: null,
    topic: null,
    nsfw: channel.ageRestricted,
    rate_limit_per_user: 0,
    last_message_id: lastMessageId(world, channel),
    flags: flagBits(0),
  };
  switch (channel.form) {
    case 'text':
      return { ...common, type: ChannelType.GuildText };
    case 'voice':
      return { ...common, ...voiceFields, type: ChannelType.GuildVoice };
    case 'stage':
      return { ...common, ...voiceFields, type: ChannelType.GuildStageVoice };
    case 'forum':
  }
  return {
    ...common,
    type: ChannelType.GuildForum,
    last_message_id: lastPostId(world, channel),
    available_tags: [],
    default_reaction_emoji: null,
    default_sort_order: null,
    default_forum_layout: ForumLayoutType.NotSet,
  };
}

const voiceFields = {
  bitrate: 64_000,
  user_limit: 0,
  rtc_region: null,
  video_quality_mode: VideoQualityMode.Auto,
};

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
    message_count: messages.filter((message) => !beginsThread(message, thread)).length,
    total_message_sent: thread.sent,
    member_count: thread.members.size,
    thread_metadata: {
      archived: thread.archived,
      auto_archive_duration: thread.autoArchiveMinutes,
      archive_timestamp: thread.archiveChangedAt,
      create_timestamp: thread.createdAt,
      locked: thread.locked,
      invitable: thread.isPrivate ? true : undefined,
    },
    flags: flagBits(0),
    member: joined === undefined ? undefined : { join_timestamp: joined, flags: flagBits(0) },
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

/** Threads as lists of them come: with the bot's own membership of each. */
export function threadList(world: World, threads: readonly ThreadChannel[]) {
  const joined = threads.filter(({ members }) => members.has(world.botId));
  return {
    threads: threads.map((thread) => threadPayload(world, thread, world.botId)),
    members: joined.map((thread) => threadMemberPayload(thread, world.botId)),
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

function lastPostId(world: World, forum: TextChannel): string | null {
  const isPost = (channel: Channel) => channel.kind === 'thread' && channel.parentId === forum.id;
  return [...world.channels.values()].findLast(isPost)?.id ?? null;
}

function lastMessageId(world: World, channel: Channel): string | null {
  return messagesOf(world, channel.id).at(-1)?.id ?? null;
}
