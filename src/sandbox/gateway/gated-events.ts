import { GatewayDispatchEvents, GatewayIntentBits } from 'discord-api-types/v10';

import { channelType, threadList, threadMemberPayload, threadPayload } from '../payloads/channel-payload.ts';
import { memberPayload } from '../payloads/guild-payload.ts';
import { messageEventPayload } from '../payloads/message-payload.ts';
import { reactionEmoji } from '../payloads/user-payload.ts';
import { activeThreads } from '../world/channels.ts';
import type { Channel, Message, TextChannel, ThreadChannel } from '../world/entities.ts';
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

/** An event of a channel that the bot can view, which comes with one intent in guilds and with another in DMs. */
function inChannel(
  world: World,
  channel: Channel,
  type: GatewayDispatchEvents,
  data: object,
  intents: { readonly guild: number; readonly dm: number },
): Found {
  if (!canView(world, channel, world.botId)) return undefined;
  return {
    type,
    data: { ...data, channel_id: channel.id, guild_id: guildIdOf(channel) },
    intent: channel.kind === 'dm' ? intents.dm : intents.guild,
  };
}

const ofMessages = { guild: GatewayIntentBits.GuildMessages, dm: GatewayIntentBits.DirectMessages };
const ofReactions = {
  guild: GatewayIntentBits.GuildMessageReactions,
  dm: GatewayIntentBits.DirectMessageReactions,
};
export function messageEvent(
  world: World,
  message: Message,
  type: GatewayDispatchEvents,
  { intents, cdnUrl }: Audience,
): Found {
  const readsContent = subscribes(intents, GatewayIntentBits.MessageContent);
  const data = messageEventPayload(world, message, { cdnUrl, readsContent });
  return inChannel(world, channelOf(world, message.channelId), type, data, ofMessages);
}

export function messagesDeleted(
  world: World,
  { channelId, messages, inBulk }: Extract<WorldEvent, { type: 'messages-deleted' }>,
): Found {
  const { MessageDelete, MessageDeleteBulk } = GatewayDispatchEvents;
  const ids = messages.map(({ id }) => id);
  const data = inBulk ? { ids } : { id: ids[0] };
  const type = inBulk ? MessageDeleteBulk : MessageDelete;
  return inChannel(world, channelOf(world, channelId), type, data, ofMessages);
}

export function reactionAdded(
  world: World,
  { message, userId, emoji }: Extract<WorldEvent, { type: 'reaction-added' | 'reaction-removed' }>,
): Found {
  const channel = channelOf(world, message.channelId);
  const data = {
    user_id: userId,
    message_id: message.id,
    message_author_id: message.authorId,
    emoji: reactionEmoji(emoji),
    burst: false,
    type: 0,
    member: memberIn(world, channel, userId),
  };
  return inChannel(world, channel, GatewayDispatchEvents.MessageReactionAdd, data, ofReactions);
}

/** In a guild, the member that a user is there. */
function memberIn(world: World, channel: Channel, userId: string): object | undefined {
  const guildId = guildIdOf(channel);
  const member = guildId === undefined ? undefined : memberOf(world, guildId, userId);
  return member && memberPayload(world, member);
}

/** `known`: not created now, but shown to the bot, which was added to it. */
export function threadCreated(world: World, thread: ThreadChannel, kind: 'known' | 'new'): Found {
  if (!canView(world, thread, world.botId)) return undefined;
  const data = threadPayload(world, thread, world.botId);
  const newly_created = kind === 'new' ? true : undefined;
  return guildEvent(GatewayDispatchEvents.ThreadCreate, { ...data, newly_created });
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
    ...threadList(world, threads),
  });
}

/** Being added to a thread also shows the bot the thread; others joining one that it sees is only a change of members. */
export function threadJoined(world: World, thread: ThreadChannel, userId: string): readonly Found[] {
  const member = memberIn(world, thread, userId);
  const added = { ...threadMemberPayload(thread, userId), member, presence: null };
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
