import { GatewayDispatchEvents, GatewayIntentBits } from 'discord-api-types/v10';

import { channelType, threadMemberPayload, threadPayload } from '../payloads/channel-payload.ts';
import { memberPayload } from '../payloads/guild-payload.ts';
import { messageEventPayload } from '../payloads/message-payload.ts';
import { reactionEmoji } from '../payloads/user-payload.ts';
import { activeThreads } from '../world/channels.ts';
import type { Channel, Message, TextChannel, ThreadChannel } from '../world/entities.ts';
import { pinnedMessages } from '../world/messages.ts';
import { canView } from '../world/permissions.ts';
import { channelOf, guildIdOf, memberOf, type World, type WorldEvent } from '../world/world.ts';

/** An event for one client, not numbered yet. */
export interface ClientEvent {
  readonly type: GatewayDispatchEvents;
  readonly data: unknown;
}

interface GatedEvent extends ClientEvent {
  /** One of these intents is needed; 0 for none. */
  readonly intent: number;
}

/** `undefined` where the bot may not know of it. */
export type Found = GatedEvent | undefined;

export function guildEvent(type: GatewayDispatchEvents, data: unknown): GatedEvent {
  return { type, data, intent: GatewayIntentBits.Guilds };
}

/** Whether a client with these intents gets an event that needs one; 0 needs none. */
export function subscribes(intents: number, needed: number): boolean {
  return needed === 0 || (intents & needed) !== 0;
}

export interface Audience {
  readonly intents: number;
  readonly cdnUrl: string;
}

export function messageEvent(
  world: World,
  message: Message,
  type: GatewayDispatchEvents,
  audience: Audience,
): GatedEvent | undefined {
  const channel = channelOf(world, message.channelId);
  if (!canView(world, channel, world.botId)) return undefined;
  const readsContent = subscribes(audience.intents, GatewayIntentBits.MessageContent);
  return {
    type,
    data: messageEventPayload(world, message, { cdnUrl: audience.cdnUrl, readsContent }),
    intent: messageIntent(channel),
  };
}

export function channelEvent(
  world: World,
  channelId: string,
  type: GatewayDispatchEvents,
  data: object,
): GatedEvent | undefined {
  const channel = channelOf(world, channelId);
  if (!canView(world, channel, world.botId)) return undefined;
  return {
    type,
    data: { ...data, channel_id: channelId, ...guildPart(channel) },
    intent: messageIntent(channel),
  };
}

export function reactionEvent(
  world: World,
  event: Extract<WorldEvent, { type: 'reaction-added' | 'reaction-removed' }>,
): GatedEvent | undefined {
  const channel = channelOf(world, event.message.channelId);
  if (!canView(world, channel, world.botId)) return undefined;
  const added = event.type === 'reaction-added';
  return {
    type: added ? GatewayDispatchEvents.MessageReactionAdd : GatewayDispatchEvents.MessageReactionRemove,
    data: {
      user_id: event.userId,
      channel_id: channel.id,
      message_id: event.message.id,
      emoji: reactionEmoji(event.emoji),
      burst: false,
      type: 0,
      ...(added
        ? { message_author_id: event.message.authorId, ...memberPart(world, channel, event.userId) }
        : {}),
      ...guildPart(channel),
    },
    intent: reactionIntent(channel),
  };
}

export function reactionsCleared(
  world: World,
  { message, emoji }: Extract<WorldEvent, { type: 'reactions-cleared' }>,
): GatedEvent | undefined {
  const channel = channelOf(world, message.channelId);
  if (!canView(world, channel, world.botId)) return undefined;
  return {
    type:
      emoji === undefined
        ? GatewayDispatchEvents.MessageReactionRemoveAll
        : GatewayDispatchEvents.MessageReactionRemoveEmoji,
    data: {
      channel_id: channel.id,
      message_id: message.id,
      ...(emoji === undefined ? {} : { emoji: reactionEmoji(emoji) }),
      ...guildPart(channel),
    },
    intent: reactionIntent(channel),
  };
}

function reactionIntent(channel: Channel): number {
  return channel.kind === 'dm'
    ? GatewayIntentBits.DirectMessageReactions
    : GatewayIntentBits.GuildMessageReactions;
}

export function voteEvent(
  world: World,
  event: Extract<WorldEvent, { type: 'vote-added' | 'vote-removed' }>,
): Found {
  const channel = channelOf(world, event.message.channelId);
  if (!canView(world, channel, world.botId)) return undefined;
  return {
    type:
      event.type === 'vote-added'
        ? GatewayDispatchEvents.MessagePollVoteAdd
        : GatewayDispatchEvents.MessagePollVoteRemove,
    data: {
      user_id: event.userId,
      channel_id: channel.id,
      message_id: event.message.id,
      answer_id: event.answerId,
      ...guildPart(channel),
    },
    intent:
      channel.kind === 'dm' ? GatewayIntentBits.DirectMessagePolls : GatewayIntentBits.GuildMessagePolls,
  };
}

/** Unlike other events of a channel, those of its pins come with the intent for guilds. */
export function pinsChanged(world: World, channel: Channel): GatedEvent | undefined {
  if (!canView(world, channel, world.botId)) return undefined;
  return {
    type: GatewayDispatchEvents.ChannelPinsUpdate,
    data: {
      channel_id: channel.id,
      last_pin_timestamp: pinnedMessages(world, channel.id)[0]?.pinnedAt ?? null,
      ...guildPart(channel),
    },
    intent: channel.kind === 'dm' ? GatewayIntentBits.DirectMessages : GatewayIntentBits.Guilds,
  };
}

export function typingEvent(
  world: World,
  channel: Channel,
  userId: string,
  at: Date,
): GatedEvent | undefined {
  if (userId === world.botId || !canView(world, channel, world.botId)) return undefined;
  return {
    type: GatewayDispatchEvents.TypingStart,
    data: {
      channel_id: channel.id,
      user_id: userId,
      timestamp: Math.floor(at.getTime() / 1000),
      ...guildPart(channel),
      ...memberPart(world, channel, userId),
    },
    intent:
      channel.kind === 'dm' ? GatewayIntentBits.DirectMessageTyping : GatewayIntentBits.GuildMessageTyping,
  };
}

function messageIntent(channel: Channel): number {
  return channel.kind === 'dm' ? GatewayIntentBits.DirectMessages : GatewayIntentBits.GuildMessages;
}

/** In a guild, the member that a user is there. */
function memberPart(world: World, channel: Channel, userId: string): { readonly member?: object } {
  const guildId = guildIdOf(channel);
  const member = guildId === undefined ? undefined : memberOf(world, guildId, userId);
  return member === undefined ? {} : { member: memberPayload(world, member) };
}

function guildPart(channel: Channel): { readonly guild_id?: string } {
  const guildId = guildIdOf(channel);
  return guildId === undefined ? {} : { guild_id: guildId };
}

/** `known`: not created now, but shown to the bot, which was added to it. */
export function threadCreated(world: World, thread: ThreadChannel, kind: 'known' | 'new'): Found {
  if (!canView(world, thread, world.botId)) return undefined;
  const data = threadPayload(world, thread, world.botId);
  return guildEvent(
    GatewayDispatchEvents.ThreadCreate,
    kind === 'new' ? { ...data, newly_created: true } : data,
  );
}

export function threadDeleted(thread: ThreadChannel): GatedEvent {
  return guildEvent(GatewayDispatchEvents.ThreadDelete, {
    id: thread.id,
    guild_id: thread.guildId,
    parent_id: thread.parentId,
    type: channelType(thread),
  });
}

export function threadUpdated(world: World, thread: ThreadChannel): Found {
  if (!canView(world, thread, world.botId)) return undefined;
  return guildEvent(GatewayDispatchEvents.ThreadUpdate, threadPayload(world, thread, world.botId));
}

/** A thread that is opened again reminds its members that they are in it. */
export function ownMembership(world: World, thread: ThreadChannel): Found {
  if (!thread.members.has(world.botId) || !canView(world, thread, world.botId)) return undefined;
  const data = { ...threadMemberPayload(thread, world.botId), guild_id: thread.guildId };
  return guildEvent(GatewayDispatchEvents.ThreadMemberUpdate, data);
}

/** The active threads of a channel that the bot did not see until now. */
export function threadListSync(world: World, channel: TextChannel): GatedEvent {
  const threads = activeThreads(world, channel.guildId).filter(({ parentId }) => parentId === channel.id);
  return guildEvent(GatewayDispatchEvents.ThreadListSync, {
    guild_id: channel.guildId,
    channel_ids: [channel.id],
    threads: threads.map((thread) => threadPayload(world, thread, world.botId)),
    members: threads
      .filter(({ members }) => members.has(world.botId))
      .map((thread) => threadMemberPayload(thread, world.botId)),
  });
}

/** Being added to a thread also shows the bot the thread; others joining one that it sees is only a change of members. */
export function threadJoined(world: World, thread: ThreadChannel, userId: string): readonly Found[] {
  const member = memberOf(world, thread.guildId, userId);
  const added = {
    ...threadMemberPayload(thread, userId),
    ...(member === undefined ? {} : { member: memberPayload(world, member) }),
    presence: null,
  };
  return [
    userId === world.botId ? threadCreated(world, thread, 'known') : undefined,
    threadMembersUpdate(world, thread, userId, { added_members: [added] }),
  ];
}

export function threadLeft(world: World, thread: ThreadChannel, userId: string): Found {
  return threadMembersUpdate(world, thread, userId, { removed_member_ids: [userId] });
}

function threadMembersUpdate(world: World, thread: ThreadChannel, userId: string, change: object): Found {
  if (!canView(world, thread, world.botId)) return undefined;
  return {
    type: GatewayDispatchEvents.ThreadMembersUpdate,
    data: { id: thread.id, guild_id: thread.guildId, member_count: thread.members.size, ...change },
    // Without the intent for members Discord tells a bot only of its own membership.
    intent: userId === world.botId ? GatewayIntentBits.Guilds : GatewayIntentBits.GuildMembers,
  };
}
