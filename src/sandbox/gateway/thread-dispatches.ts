import { GatewayDispatchEvents, GatewayIntentBits } from 'discord-api-types/v10';

import { channelType, threadMemberPayload, threadPayload } from '../payloads/channel-payload.ts';
import { memberPayload } from '../payloads/guild-payload.ts';
import { activeThreads } from '../world/active-threads.ts';
import type { TextChannel, ThreadChannel } from '../world/entities.ts';
import { canView } from '../world/permissions.ts';
import { memberOf } from '../world/world.ts';
import type { World } from '../world/world.ts';
import { guildEvent } from './gated-event.ts';
import type { Found, GatedEvent } from './gated-event.ts';

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
