import { GatewayDispatchEvents, GatewayIntentBits } from 'discord-api-types/v10';

import { guildChannelPayload } from '../payloads/channel-payload.ts';
import { reactionEmoji } from '../payloads/emoji-payload.ts';
import { guildCreatePayload, memberPayload, rolePayload } from '../payloads/guild-payload.ts';
import { interactionPayload } from '../payloads/interaction-payload.ts';
import { messageEventPayload } from '../payloads/message-payload.ts';
import type { Channel, Message } from '../world/entities.ts';
import { canView } from '../world/permissions.ts';
import { pinnedMessages } from '../world/pins.ts';
import type { WorldEvent } from '../world/world-event.ts';
import { channelOf, guildIdOf, memberOf } from '../world/world.ts';
import type { World } from '../world/world.ts';
import { guildEvent } from './gated-event.ts';
import type { ClientEvent, Found, GatedEvent } from './gated-event.ts';
import { subscribes } from './intents.ts';
import {
  ownMembership,
  threadCreated,
  threadDeleted,
  threadJoined,
  threadLeft,
  threadListSync,
  threadUpdated,
} from './thread-dispatches.ts';

export interface Audience {
  readonly intents: number;
  readonly cdnUrl: string;
}

/** What a client with these intents is told of an event: nothing where it is not subscribed or the bot may not see it. */
export function dispatchesFor(world: World, event: WorldEvent, audience: Audience): readonly ClientEvent[] {
  return [clientEvents(world, event, audience)]
    .flat()
    .flatMap((found) =>
      found !== undefined && subscribes(audience.intents, found.intent)
        ? [{ type: found.type, data: found.data }]
        : [],
    );
}

function clientEvents(world: World, event: WorldEvent, audience: Audience): Found | readonly Found[] {
  switch (event.type) {
    case 'message-created':
      return messageEvent(world, event.message, GatewayDispatchEvents.MessageCreate, audience);
    case 'message-edited':
    case 'message-touched':
      return messageEvent(world, event.message, GatewayDispatchEvents.MessageUpdate, audience);
    case 'vote-added':
    case 'vote-removed':
      return voteEvent(world, event);
    case 'pins-changed':
      return pinsChanged(world, event.channel);
    case 'presence-changed':
      return undefined;
    case 'message-deleted':
      return inChannel(world, event.channelId, GatewayDispatchEvents.MessageDelete, { id: event.messageId });
    case 'messages-deleted':
      return inChannel(world, event.channelId, GatewayDispatchEvents.MessageDeleteBulk, {
        ids: event.messageIds,
      });
    case 'reaction-added':
    case 'reaction-removed':
      return reactionEvent(world, event);
    case 'reactions-cleared':
      return reactionsCleared(world, event);
    case 'channel-created':
      return guildEvent(GatewayDispatchEvents.ChannelCreate, guildChannelPayload(world, event.channel));
    case 'channel-updated':
      return guildEvent(GatewayDispatchEvents.ChannelUpdate, guildChannelPayload(world, event.channel));
    case 'channel-deleted':
      return guildEvent(GatewayDispatchEvents.ChannelDelete, guildChannelPayload(world, event.channel));
    case 'thread-created':
      return threadCreated(world, event.thread, 'new');
    case 'thread-deleted':
      return threadDeleted(event.thread);
    case 'thread-updated':
      return threadUpdated(world, event.thread);
    case 'thread-unarchived':
      return ownMembership(world, event.thread);
    case 'access-gained':
      return threadListSync(world, event.channel);
    case 'thread-joined':
      return threadJoined(world, event.thread, event.userId);
    case 'thread-left':
      return threadLeft(world, event.thread, event.userId);
    case 'role-created':
    case 'role-updated':
      return guildEvent(
        event.type === 'role-created'
          ? GatewayDispatchEvents.GuildRoleCreate
          : GatewayDispatchEvents.GuildRoleUpdate,
        { guild_id: event.guildId, role: rolePayload(event.role) },
      );
    case 'guild-created':
      return guildEvent(
        GatewayDispatchEvents.GuildCreate,
        guildCreatePayload(world, event.guild, subscribes(audience.intents, GatewayIntentBits.GuildMembers)),
      );
    case 'member-added':
    case 'member-updated':
      return {
        type:
          event.type === 'member-added'
            ? GatewayDispatchEvents.GuildMemberAdd
            : GatewayDispatchEvents.GuildMemberUpdate,
        data: { ...memberPayload(world, event.member), guild_id: event.guildId },
        // The bot hears of changes to itself without the intent.
        intent: event.member.userId === world.botId ? 0 : GatewayIntentBits.GuildMembers,
      };
    case 'typing-started':
      return typingEvent(world, event.channel, event.userId, event.at);
    case 'interaction-created':
      return {
        type: GatewayDispatchEvents.InteractionCreate,
        data: interactionPayload(world, event.interaction, audience.cdnUrl),
        intent: 0,
      };
    // Discord does not tell a bot of its own messages that only one person sees.
    case 'ephemeral-created':
    case 'ephemeral-edited':
    case 'ephemeral-deleted':
    case 'interaction-updated':
      return undefined;
  }
}

function messageEvent(
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

function inChannel(
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

function reactionEvent(
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

function reactionsCleared(
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

function voteEvent(world: World, event: Extract<WorldEvent, { type: 'vote-added' | 'vote-removed' }>): Found {
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
function pinsChanged(world: World, channel: Channel): GatedEvent | undefined {
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

function typingEvent(world: World, channel: Channel, userId: string, at: Date): GatedEvent | undefined {
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
