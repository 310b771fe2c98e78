import { GatewayDispatchEvents as Events, GatewayIntentBits as Intents } from 'discord-api-types/v10';

import {
  channelType,
  emojiPayload,
  guildChannelPayload,
  guildCreatePayload,
  memberPayload,
  reactionEmoji,
  rolePayload,
  threadMemberPayload,
  threadPayload,
} from '../payloads/guild-payload.ts';
import { interactionPayload } from '../payloads/interaction-payload.ts';
import { messageEventPayload } from '../payloads/message-payload.ts';
import type { Channel, Message, ThreadChannel } from '../world/entities.ts';
import { canView } from '../world/permissions.ts';
import { channelOf, guildIdOf, memberOf, type World, type WorldEvent } from '../world/world.ts';

interface Audience {
  readonly intents: number;
  readonly cdnUrl: string;
}

/** An event for one client, not numbered yet. */
interface ClientEvent {
  readonly type: Events;
  readonly data: unknown;
  /** One of these intents is needed; 0 for none. */
  readonly intent: number;
}

/** What a client receives for an event: nothing if it is not subscribed or the bot may not see it. */
export function dispatchesFor(world: World, event: WorldEvent, audience: Audience): readonly ClientEvent[] {
  return clientEvents(world, event, audience).filter(({ intent }) => subscribes(audience.intents, intent));
}

/** Whether a client with these intents gets an event that needs one; 0 needs none. */
export function subscribes(intents: number, needed: number): boolean {
  return needed === 0 || (intents & needed) !== 0;
}

function clientEvents(world: World, event: WorldEvent, audience: Audience): readonly ClientEvent[] {
  switch (event.type) {
    case 'message-created':
      return messageEvent(world, event.message, Events.MessageCreate, audience);
    case 'message-edited':
    case 'pin-changed':
    case 'thread-attached':
      return messageEvent(world, event.message, Events.MessageUpdate, audience);
    case 'messages-deleted': {
      const ids = event.messages.map(({ id }) => id);
      return event.inBulk
        ? inChannel(world, event.channelId, Events.MessageDeleteBulk, { ids }, ofMessages)
        : inChannel(world, event.channelId, Events.MessageDelete, { id: ids[0] }, ofMessages);
    }
    case 'reaction-added':
      return reactionAdded(world, event);
    case 'channel-created':
      return guildEvent(Events.ChannelCreate, guildChannelPayload(world, event.channel));
    case 'channel-updated':
      return guildEvent(Events.ChannelUpdate, guildChannelPayload(world, event.channel));
    case 'channel-deleted':
      return guildEvent(Events.ChannelDelete, guildChannelPayload(world, event.channel));
    case 'thread-created':
      return threadCreated(world, event.thread, true);
    case 'thread-deleted': {
      const { id, guildId: guild_id, parentId: parent_id } = event.thread;
      return guildEvent(Events.ThreadDelete, { id, guild_id, parent_id, type: channelType(event.thread) });
    }
    case 'thread-updated':
      return ifSeen(
        world,
        event.thread,
        guildEvent(Events.ThreadUpdate, threadPayload(world, event.thread, world.botId)),
      );
    case 'thread-joined':
      return threadJoined(world, event.thread, event.userId);
    case 'thread-left':
      return membersUpdate(world, event.thread, event.userId, { removed_member_ids: [event.userId] });
    case 'role-created':
      return guildEvent(Events.GuildRoleCreate, { guild_id: event.guildId, role: rolePayload(event.role) });
    case 'role-updated':
      return guildEvent(Events.GuildRoleUpdate, { guild_id: event.guildId, role: rolePayload(event.role) });
    case 'role-deleted':
      return guildEvent(Events.GuildRoleDelete, { guild_id: event.guildId, role_id: event.role.id });
    case 'emojis-updated': {
      const { id: guild_id, emojis } = event.guild;
      const data = { guild_id, emojis: Array.from(emojis.values(), emojiPayload) };
      return [{ type: Events.GuildEmojisUpdate, data, intent: Intents.GuildExpressions }];
    }
    case 'guild-created': {
      const withAllMembers = subscribes(audience.intents, Intents.GuildMembers);
      return guildEvent(Events.GuildCreate, guildCreatePayload(world, event.guild, withAllMembers));
    }
    case 'guild-left':
      return guildEvent(Events.GuildDelete, { id: event.guild.id });
    case 'guild-unavailable':
      return guildEvent(Events.GuildDelete, { id: event.guild.id, unavailable: true });
    case 'member-added':
    case 'member-updated':
      return [
        {
          type: event.type === 'member-added' ? Events.GuildMemberAdd : Events.GuildMemberUpdate,
          data: { ...memberPayload(world, event.member), guild_id: event.guildId },
          // The bot hears of changes to itself without the intent.
          intent: event.member.userId === world.botId ? 0 : Intents.GuildMembers,
        },
      ];
    case 'interaction-created': {
      const data = interactionPayload(world, event.interaction, audience.cdnUrl);
      return [{ type: Events.InteractionCreate, data, intent: 0 }];
    }
    // Discord does not tell a bot of its own messages that only one person sees.
    case 'ephemeral-created':
    case 'ephemeral-edited':
    case 'interaction-updated':
    case 'reaction-removed':
    case 'typing-started':
      return [];
  }
}

function guildEvent(type: Events, data: unknown): readonly ClientEvent[] {
  return [{ type, data, intent: Intents.Guilds }];
}

/** The events of a channel, where the bot can view it. */
function ifSeen(world: World, channel: Channel, events: readonly ClientEvent[]): readonly ClientEvent[] {
  return canView(world, channel, world.botId) ? events : [];
}

const ofMessages = { guild: Intents.GuildMessages, dm: Intents.DirectMessages };
const ofReactions = { guild: Intents.GuildMessageReactions, dm: Intents.DirectMessageReactions };

/** An event of a channel that the bot can view; guilds and DMs need different intents. */
function inChannel(
  world: World,
  channelId: string,
  type: Events,
  data: object,
  intents: { readonly guild: number; readonly dm: number },
): readonly ClientEvent[] {
  const channel = channelOf(world, channelId);
  const intent = channel.kind === 'dm' ? intents.dm : intents.guild;
  const located = { ...data, channel_id: channelId, guild_id: guildIdOf(channel) };
  return ifSeen(world, channel, [{ type, data: located, intent }]);
}

function messageEvent(
  world: World,
  message: Message,
  type: Events,
  { intents, cdnUrl }: Audience,
): readonly ClientEvent[] {
  const readsContent = subscribes(intents, Intents.MessageContent);
  const data = messageEventPayload(world, message, { cdnUrl, readsContent });
  return inChannel(world, message.channelId, type, data, ofMessages);
}

function reactionAdded(
  world: World,
  { message, userId, emoji }: Extract<WorldEvent, { type: 'reaction-added' | 'reaction-removed' }>,
): readonly ClientEvent[] {
  const data = {
    user_id: userId,
    message_id: message.id,
    message_author_id: message.authorId,
    emoji: reactionEmoji(emoji),
    burst: false,
    type: 0,
    member: memberIn(world, channelOf(world, message.channelId), userId),
  };
  return inChannel(world, message.channelId, Events.MessageReactionAdd, data, ofReactions);
}

/** In a guild, the member that a user is there. */
function memberIn(world: World, channel: Channel, userId: string): object | undefined {
  const guildId = guildIdOf(channel);
  const member = guildId === undefined ? undefined : memberOf(world, guildId, userId);
  return member && memberPayload(world, member);
}

/** A thread that is not new is shown to the bot when it is added to it. */
function threadCreated(world: World, thread: ThreadChannel, isNew: boolean): readonly ClientEvent[] {
  const data = { ...threadPayload(world, thread, world.botId), newly_created: isNew ? true : undefined };
  return ifSeen(world, thread, guildEvent(Events.ThreadCreate, data));
}

/** The bot is also shown the thread when it is added to it itself. */
function threadJoined(world: World, thread: ThreadChannel, userId: string): readonly ClientEvent[] {
  const member = memberIn(world, thread, userId);
  const added = { ...threadMemberPayload(thread, userId), member, presence: null };
  return [
    ...(userId === world.botId ? threadCreated(world, thread, false) : []),
    ...membersUpdate(world, thread, userId, { added_members: [added] }),
  ];
}

function membersUpdate(
  world: World,
  thread: ThreadChannel,
  userId: string,
  change: object,
): readonly ClientEvent[] {
  const data = { id: thread.id, guild_id: thread.guildId, member_count: thread.members.size, ...change };
  // Without the intent for members Discord tells a bot only of its own membership.
  const intent = userId === world.botId ? Intents.Guilds : Intents.GuildMembers;
  return ifSeen(world, thread, [{ type: Events.ThreadMembersUpdate, data, intent }]);
}
