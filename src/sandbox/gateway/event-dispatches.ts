import { GatewayDispatchEvents, GatewayIntentBits } from 'discord-api-types/v10';

import { guildChannelPayload } from '../payloads/channel-payload.ts';
import { guildCreatePayload, memberPayload, rolePayload } from '../payloads/guild-payload.ts';
import { interactionPayload } from '../payloads/interaction-payload.ts';
import type { World, WorldEvent } from '../world/world.ts';
import * as gated from './gated-events.ts';
import type { Audience, ClientEvent, Found } from './gated-events.ts';

/** What a client with these intents is told of an event: nothing where it is not subscribed or the bot may not see it. */
export function dispatchesFor(world: World, event: WorldEvent, audience: Audience): readonly ClientEvent[] {
  return [clientEvents(world, event, audience)]
    .flat()
    .flatMap((found) =>
      found !== undefined && gated.subscribes(audience.intents, found.intent)
        ? [{ type: found.type, data: found.data }]
        : [],
    );
}

function clientEvents(world: World, event: WorldEvent, audience: Audience): Found | readonly Found[] {
  switch (event.type) {
    case 'message-created':
      return gated.messageEvent(world, event.message, GatewayDispatchEvents.MessageCreate, audience);
    case 'message-edited':
    case 'pin-changed':
    case 'thread-attached':
      return gated.messageEvent(world, event.message, GatewayDispatchEvents.MessageUpdate, audience);
    case 'messages-deleted':
      return gated.messagesDeleted(world, event);
    case 'reaction-added':
      return gated.reactionAdded(world, event);
    case 'channel-created':
      return gated.guildEvent(GatewayDispatchEvents.ChannelCreate, guildChannelPayload(world, event.channel));
    case 'channel-updated':
      return gated.guildEvent(GatewayDispatchEvents.ChannelUpdate, guildChannelPayload(world, event.channel));
    case 'channel-deleted':
      return gated.guildEvent(GatewayDispatchEvents.ChannelDelete, guildChannelPayload(world, event.channel));
    case 'thread-created':
      return gated.threadCreated(world, event.thread, 'new');
    case 'thread-deleted':
      return gated.threadDeleted(event.thread);
    case 'thread-updated':
      return gated.threadUpdated(world, event.thread);
    case 'thread-unarchived':
      return gated.ownMembership(world, event.thread);
    case 'access-gained':
      return gated.threadListSync(world, event.channel);
    case 'thread-joined':
      return gated.threadJoined(world, event.thread, event.userId);
    case 'thread-left':
      return gated.threadLeft(world, event.thread, event.userId);
    case 'role-created':
    case 'role-updated':
      return gated.guildEvent(
        event.type === 'role-created'
          ? GatewayDispatchEvents.GuildRoleCreate
          : GatewayDispatchEvents.GuildRoleUpdate,
        { guild_id: event.guildId, role: rolePayload(event.role) },
      );
    case 'role-deleted':
      return gated.guildEvent(GatewayDispatchEvents.GuildRoleDelete, {
        guild_id: event.guildId,
        role_id: event.role.id,
      });
    case 'guild-created':
      return gated.guildEvent(
        GatewayDispatchEvents.GuildCreate,
        guildCreatePayload(
          world,
          event.guild,
          gated.subscribes(audience.intents, GatewayIntentBits.GuildMembers),
        ),
      );
    case 'guild-left':
      return gated.guildEvent(GatewayDispatchEvents.GuildDelete, { id: event.guild.id });
    case 'guild-unavailable':
      return gated.guildEvent(GatewayDispatchEvents.GuildDelete, { id: event.guild.id, unavailable: true });
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
    case 'interaction-created':
      return {
        type: GatewayDispatchEvents.InteractionCreate,
        data: interactionPayload(world, event.interaction, audience.cdnUrl),
        intent: 0,
      };
    // Discord does not tell a bot of its own messages that only one person sees.
    case 'ephemeral-created':
    case 'ephemeral-edited':
    case 'interaction-updated':
    case 'presence-changed':
    case 'reaction-removed':
    case 'typing-started':
      return undefined;
  }
}
