import { DiscordSnowflake } from '@sapphire/snowflake';

import type {
  Application,
  Channel,
  Command,
  Guild,
  Interaction,
  Member,
  Message,
  Role,
  TextChannel,
  ThreadChannel,
  User,
} from './entities.ts';

/** The sandbox cannot do what it was asked; the message says why and what there is. */
export class SandboxError extends Error {
  override readonly name = 'SandboxError';
}

/** The present moment, as an input, so that a test can hold time still. */
export type Clock = () => Date;

/** Everything the sandbox knows. Only the functions of this folder change it, and announce that by `emit`. */
export interface World {
  readonly application: Application;
  /** The bot's user id, which is also its application's id. */
  readonly botId: string;
  readonly users: Map<string, User>;
  readonly guilds: Map<string, Guild>;
  readonly channels: Map<string, Channel>;
  /** Channel id → its messages, oldest first. */
  readonly messages: Map<string, Message[]>;
  /** By message id. They are in no channel's history. */
  readonly ephemerals: Map<string, Message>;
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
      readonly type: 'thread-created' | 'thread-updated' | 'thread-deleted';
      readonly thread: ThreadChannel;
    }
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
  | {
      readonly type: 'guild-created' | 'guild-unavailable' | 'guild-left' | 'emojis-updated';
      readonly guild: Guild;
    }
  | { readonly type: 'member-added' | 'member-updated'; readonly guildId: string; readonly member: Member }
  /** It is the bot who types. */
  | { readonly type: 'typing-started'; readonly channel: Channel; readonly at: Date }
  | { readonly type: 'interaction-created' | 'interaction-updated'; readonly interaction: Interaction };

export function createWorld(application: Application, now: Clock): World {
  const listeners = new Set<(event: WorldEvent) => void>();
  return {
    application,
    botId: application.id,
    users: new Map(),
    guilds: new Map(),
    channels: new Map(),
    messages: new Map(),
    ephemerals: new Map(),
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

/**
 * Makes Discord ids from a clock: each greater than the one before, also when the clock stands still or steps back, since
 * clients order messages by their ids.
 */
function createSnowflakeSource(now: Clock): () => string {
  let last = 0n;
  return () => {
    const timestamp = now();
    if (timestamp.getTime() < DiscordSnowflake.epochNumber) {
      throw new RangeError('Discord ids begin with the year 2015');
    }
    const fromClock = DiscordSnowflake.generate({ timestamp, increment: 0n, workerId: 0n, processId: 0n });
    last = fromClock > last ? fromClock : last + 1n;
    return last.toString();
  };
}
