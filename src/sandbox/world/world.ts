import type {
  Application,
  Channel,
  Command,
  Guild,
  Interaction,
  Member,
  Message,
  MessageVersion,
  Presence,
  Role,
  TextChannel,
  ThreadChannel,
  User,
} from './entities.ts';
import { createSnowflakeSource, type Clock } from './snowflakes.ts';

/** Everything the sandbox knows. Only the functions of this folder change it, and announce that by `emit`. */
export interface World {
  readonly application: Application;
  /** The bot's user id, which is also its application's id. */
  readonly botId: string;
  /** What changes of the bot itself. */
  readonly bot: { presence: Presence };
  readonly users: Map<string, User>;
  readonly guilds: Map<string, Guild>;
  readonly channels: Map<string, Channel>;
  /** Channel id → its messages, oldest first. */
  readonly messages: Map<string, Message[]>;
  /** By message id. They are in no channel's history. */
  readonly ephemerals: Map<string, Message>;
  /** Message id → what it has said so far, oldest first; kept when the message is deleted. */
  readonly versions: Map<string, MessageVersion[]>;
  /** Nonce → the bot's message that had it last; kept when the message is deleted. */
  readonly nonces: Map<string, Pick<Message, 'id' | 'channelId' | 'createdAt'>>;
  readonly commands: Map<string, Command>;
  readonly interactions: Map<string, Interaction>;
  readonly now: Clock;
  /** A new Discord id, greater than every id made before. */
  nextId(): string;
  emit(event: WorldEvent): void;
  /** Listeners are called synchronously, in order of subscription. Returns how to unsubscribe. */
  subscribe(listener: (event: WorldEvent) => void): () => void;
}

/** What happened in the world, in the order it happened. The gateway turns it into Discord's dispatches. */
export type WorldEvent =
  /** Pins and threads change a message too, but do not edit it. */
  | {
      readonly type: `${'message' | 'ephemeral'}-${'created' | 'edited'}` | 'pin-changed' | 'thread-attached';
      readonly message: Message;
    }
  | { readonly type: 'presence-changed'; readonly presence: Presence }
  | {
      readonly type: 'messages-deleted';
      readonly channelId: string;
      readonly messages: readonly Message[];
      readonly inBulk: boolean;
    }
  | {
      readonly type: 'reaction-added' | 'reaction-removed';
      readonly message: Message;
      readonly userId: string;
      readonly emoji: string;
    }
  | {
      readonly type: 'channel-created' | 'channel-updated' | 'channel-deleted';
      readonly channel: TextChannel;
    }
  | {
      readonly type: 'thread-created' | 'thread-updated' | 'thread-unarchived' | 'thread-deleted';
      readonly thread: ThreadChannel;
    }
  /** The bot can see a channel that it could not see before. */
  | { readonly type: 'access-gained'; readonly channel: TextChannel }
  | {
      readonly type: 'thread-joined' | 'thread-left';
      readonly thread: ThreadChannel;
      readonly userId: string;
    }
  | {
      readonly type: 'role-created' | 'role-updated' | 'role-deleted';
      readonly guildId: string;
      readonly role: Role;
    }
  /** Left: the bot was taken out of it. */
  | { readonly type: 'guild-created' | 'guild-unavailable' | 'guild-left'; readonly guild: Guild }
  | { readonly type: 'member-added' | 'member-updated'; readonly guildId: string; readonly member: Member }
  /** It is the bot who types. */
  | { readonly type: 'typing-started'; readonly channel: Channel; readonly at: Date }
  | { readonly type: 'interaction-created' | 'interaction-updated'; readonly interaction: Interaction };

export const offline: Presence = { status: 'offline', activities: [] };

export function createWorld(application: Application, now: Clock): World {
  const listeners = new Set<(event: WorldEvent) => void>();
  return {
    application,
    botId: application.id,
    bot: { presence: offline },
    users: new Map(),
    guilds: new Map(),
    channels: new Map(),
    messages: new Map(),
    ephemerals: new Map(),
    versions: new Map(),
    nonces: new Map(),
    commands: new Map(),
    interactions: new Map(),
    now,
    nextId: createSnowflakeSource(now),
    emit(event) {
      for (const listener of listeners) listener(event);
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** @throws {Error} for an id that the world itself should know: a fault of the sandbox, not of its user. */
export function userOf(world: World, id: string): User {
  return known(world.users.get(id), 'user', id);
}

/** @throws {Error} as {@link userOf}. */
export function guildOf(world: World, id: string): Guild {
  return known(world.guilds.get(id), 'guild', id);
}

/** @throws {Error} as {@link userOf}. */
export function channelOf(world: World, id: string): Channel {
  return known(world.channels.get(id), 'channel', id);
}

/** The member, or `undefined` when the user is not in the guild. */
export function memberOf(world: World, guildId: string, userId: string): Member | undefined {
  return world.guilds.get(guildId)?.members.get(userId);
}

/** The guild of a channel; `undefined` for a DM. */
export function guildIdOf(channel: Channel): string | undefined {
  return channel.kind === 'dm' ? undefined : channel.guildId;
}

function known<T>(value: T | undefined, kind: string, id: string): T {
  if (value === undefined) throw new Error(`The sandbox has no ${kind} ${id}`);
  return value;
}

export function setPresence(world: World, presence: Presence): void {
  world.bot.presence = presence;
  world.emit({ type: 'presence-changed', presence });
}
