import { DiscordAPIError, type APIAllowedMentions, type APIMessage } from 'discord.js';

import type { ChatMessage } from '../../src/core/message.ts';
import type { Place } from '../../src/core/place.ts';
import { snowflakeAt } from '../../src/core/snowflake.ts';
import { splitFooter } from '../../src/discord/replies/split-reply.ts';
import type { RepliesOptions } from '../../src/discord/replies/growing-reply.ts';
import type { VirtualClock } from './clock.ts';
import type { ProcessLife } from './disk.ts';
import type { Random } from './random.ts';

/** Who can read a channel: everybody of the server, or some roles. */
export type Door = 'everyone' | readonly string[];

export interface WorldChannel {
  readonly id: string;
  readonly name: string;
  readonly kind: 'text' | 'thread' | 'private-thread' | 'dm';
  /** Absent for a DM. */
  readonly guildId?: string;
  readonly parent?: WorldChannel;
  /** Of a DM, whose it is. */
  readonly personId?: string;
  /** Of a text channel. */
  door: Door;
  /** What it was before, until when. */
  readonly formerDoors: { readonly door: Door; readonly until: number }[];
  /** It was deleted. */
  isGone: boolean;
  readonly messages: WorldMessage[];
}

export interface WorldMessage {
  readonly id: string;
  readonly channelId: string;
  /** Of a copy, whose words it is. */
  readonly authorId: string;
  /** Empty for a voice message. */
  text: string;
  /** What is said in a voice message. */
  readonly spoken?: string | undefined;
  /** That posted it as a copy of somebody's message. */
  readonly proxy?: Proxy | undefined;
  readonly at: number;
  isDeleted: boolean;
  /** Of an answer that somebody has deleted. */
  deletedAt?: number;
  isEdited: boolean;
  /** Of the bot's own: the message that it answers. */
  readonly answers?: string | undefined;
  components: readonly object[];
  /** Of the bot's own: whom it notifies, `@everyone` for all. */
  readonly notifies?: readonly string[] | undefined;
}

/** A webhook of an application. */
export interface Proxy {
  /** What PluralKit's public record says of the copy; absent where there is none. */
  readonly record?: { readonly originalId: string; readonly accountId: string } | undefined;
}

export interface WorldPerson {
  readonly id: string;
  readonly name: string;
  readonly roles: Set<string>;
  readonly guildIds: ReadonlySet<string>;
  /** When a role that lets people talk with the bot was given to them or taken away last. */
  accessChangedAt: number;
  /** When one of the others was. */
  rolesChangedAt?: number;
}

export const homeGuild = '700000000000000001';
export const awayGuild = '700000000000000002';

/** The roles that let people talk with the bot, each in its server and in DMs. */
export const accessRoles: Readonly<Record<string, string>> = {
  [homeGuild]: 'regular',
  [awayGuild]: 'patron',
};

export const botId = '100000000000000001';
const webhookId = '100000000000000002';

/** How Discord behaves for now. */
export interface DiscordMood {
  /** Milliseconds that a request takes, at least and at most. */
  readonly slowMs: readonly [number, number];
  /** How many of a hundred requests fail with status 500. */
  readonly failsPercent: number;
  /** How many of a hundred requests that fail were carried out all the same. */
  readonly failsLatePercent: number;
}

export const calmDiscord: DiscordMood = { slowMs: [20, 120], failsPercent: 0, failsLatePercent: 0 };

const nonceHoldsMs = 3 * 60_000;
const never = (): Promise<never> => new Promise(() => {});

/** Reports the bot's own messages to an observer when they change what people can read. */
export type Shown = (message: WorldMessage, channel: WorldChannel) => void;

/** Servers, channels, people and all that was ever written; what Discord is to the bot's edge. */
export class World {
  readonly channels = new Map<string, WorldChannel>();
  readonly people: WorldPerson[] = [];
  mood: DiscordMood = calmDiscord;
  /** When a request of the bot's failed last, through no fault of the request. */
  failedAt = 0;
  /** The bot's reactions, as `<messageId> <emoji>`. */
  readonly reactions = new Set<string>();
  readonly #messages = new Map<string, WorldMessage>();
  readonly #nonces = new Map<string, { readonly message: WorldMessage; readonly at: number }>();
  readonly #clock: VirtualClock;
  readonly #random: () => Random;
  readonly #shown: Shown;
  #lastId = 0n;

  constructor(clock: VirtualClock, random: () => Random, shown: Shown) {
    this.#clock = clock;
    this.#random = random;
    this.#shown = shown;
  }

  nextId(): string {
    const now = BigInt(snowflakeAt(new Date(this.#clock.now)));
    this.#lastId = now > this.#lastId ? now : this.#lastId + 1n;
    return String(this.#lastId);
  }

  channel(id: string): WorldChannel {
    const found = this.channels.get(id);
    if (found === undefined) throw new RangeError(`No channel ${id}`);
    return found;
  }

  person(id: string): WorldPerson {
    const found = this.people.find((each) => each.id === id);
    if (found === undefined) throw new RangeError(`No person ${id}`);
    return found;
  }

  message(id: string): WorldMessage | undefined {
    return this.#messages.get(id);
  }

  /** A channel, thread or DM comes to be. */
  open(channel: Pick<WorldChannel, 'id' | 'name' | 'kind'> & Partial<WorldChannel>): WorldChannel {
    const whole = {
      door: [],
      formerDoors: [],
      isGone: false,
      messages: [],
      ...channel,
    };
    this.channels.set(whole.id, whole);
    return whole;
  }

  /** Somebody changes who can read a channel. */
  turnDoor(room: WorldChannel, door: Door): void {
    room.formerDoors.push({ door: room.door, until: this.#clock.now });
    room.door = door;
  }

  /** Whether a person can read a channel now, and the bot too. */
  canRead(personId: string, channel: WorldChannel): boolean {
    if (channel.isGone) return false;
    if (channel.kind === 'dm') return channel.personId === personId;
    const person = this.person(personId);
    if (!person.guildIds.has(channel.guildId ?? '')) return false;
    const { door } = channel.parent ?? channel;
    return door === 'everyone' || door.some((role) => person.roles.has(role));
  }

  /** The same at any moment since then. */
  couldReadSince(personId: string, channel: WorldChannel, since: number): boolean {
    const { formerDoors } = channel.parent ?? channel;
    const { rolesChangedAt = 0 } = this.person(personId);
    if (rolesChangedAt > since || formerDoors.some(({ until }) => until > since)) return true;
    return this.canRead(personId, channel);
  }

  /** A person's roles in a server; `undefined` for no member. */
  rolesIn(guildId: string, personId: string): readonly string[] | undefined {
    const { guildIds, roles } = this.person(personId);
    if (!guildIds.has(guildId)) return undefined;
    return [...roles].filter((role) => role === accessRoles[guildId] || !isAccessRole(role));
  }

  /** Whether a person is let in now [G1]: the first is the bot's owner. */
  mayTalk(personId: string, { guildId }: WorldChannel): boolean {
    if (personId === this.people[0]?.id) return true;
    const guildIds = guildId === undefined ? Object.keys(accessRoles) : [guildId];
    return guildIds.some((id) => this.rolesIn(id, personId)?.includes(accessRoles[id] ?? '') === true);
  }

  /** The place as the bot's edge would tell of it now [V0]. */
  placeOf(channelId: string): Place {
    const channel = this.channel(channelId);
    return placeWith(channel, (channel.parent ?? channel).door);
  }

  /** The same of now and of every change since a moment. */
  placesSince(channelId: string, since: number): Place[] {
    const channel = this.channel(channelId);
    const { door, formerDoors } = channel.parent ?? channel;
    const doors = formerDoors.filter(({ until }) => until > since).map((former) => former.door);
    return [...doors, door].map((each) => placeWith(channel, each));
  }

  /** A person writes something. */
  write(
    channelId: string,
    authorId: string,
    text: string,
    more: Pick<WorldMessage, 'spoken' | 'proxy'> = {},
  ): WorldMessage {
    return this.#add({ channelId, authorId, text, ...more });
  }

  edit(message: WorldMessage, text: string): void {
    message.text = text;
    message.isEdited = true;
  }

  /** The newest messages that stand in a channel, oldest first. */
  standing(channelId: string, limit = 300): readonly WorldMessage[] {
    const { messages } = this.channel(channelId);
    return messages.slice(-limit).filter(({ isDeleted }) => !isDeleted);
  }

  /** `accountOf`: whom the bot takes for the author of a copy. */
  chatMessage(message: WorldMessage, accountOf?: (copyId: string) => string | undefined): ChatMessage {
    const { id, channelId, authorId, text, spoken, proxy, at, answers } = message;
    const isOwn = authorId === botId;
    return {
      id,
      channelId,
      author: {
        id: proxy === undefined ? authorId : (accountOf?.(id) ?? webhookId),
        name: isOwn ? 'Discoclaw' : proxy === undefined ? this.person(authorId).name : 'Luna',
        kind: isOwn ? 'self' : 'human',
      },
      text: isOwn ? splitFooter(text).text : text,
      at: new Date(at).toISOString(),
      attachments: [],
      shown: spoken === undefined ? undefined : [{ kind: 'voice message', text: 'voice-message.ogg' }],
      ...(answers !== undefined && { answers }),
    };
  }

  /** Discord's REST interface as a process uses it, as long as that lives. */
  api({ isAlive }: ProcessLife) {
    const request = async <T>(work: () => T): Promise<T> => {
      if (!isAlive()) return never();
      const random = this.#random();
      const { slowMs, failsPercent, failsLatePercent } = this.mood;
      const ms = slowMs[0] + random.next() * (slowMs[1] - slowMs[0]);
      const there = random.pick([0, 0.5, 1]) * ms;
      const fails = failsPercent > 0 && random.chance(failsPercent / 100);
      const isDone = !fails || random.chance(failsLatePercent / 100);
      if (there > 0) await this.#clock.delay(there);
      // What has left the process arrives, even if the process is dead by then.
      let outcome: { readonly value: T } | { readonly error: unknown } | undefined;
      try {
        if (isDone) outcome = { value: work() };
      } catch (error) {
        outcome = { error };
      }
      if (there < ms) await this.#clock.delay(ms - there);
      if (!isAlive()) return never();
      if (fails || outcome === undefined) {
        this.failedAt = this.#clock.now;
        throw apiError(500, 0, 'Internal Server Error');
      }
      if ('error' in outcome) throw outcome.error;
      return outcome.value;
    };
    const replies: RepliesOptions['api'] = {
      postMessage: (channelId, body) => {
        const nonce =
          body.nonce === undefined || body.enforce_nonce !== true ? undefined : `${channelId} ${body.nonce}`;
        return request(() => {
          this.#assertThere(channelId);
          const known = nonce === undefined ? undefined : this.#nonces.get(nonce);
          if (known !== undefined && this.#clock.now - known.at < nonceHoldsMs) {
            if (known.message.isDeleted) throw apiError(404, 10008, 'Unknown Message');
            return apiMessage(known.message);
          }
          const message = this.#add({
            channelId,
            authorId: botId,
            text: body.content ?? '',
            answers: body.message_reference?.message_id,
            components: body.components ?? [],
            notifies: notifiedBy(body.content ?? '', body.allowed_mentions),
          });
          if (nonce !== undefined) this.#nonces.set(nonce, { message, at: this.#clock.now });
          this.#shown(message, this.channel(channelId));
          return apiMessage(message);
        });
      },
      editMessage: (channelId, messageId, body, signal) =>
        request(() => {
          if (signal?.aborted === true) throw new DOMException('Aborted', 'AbortError');
          const message = this.#own(channelId, messageId);
          if (typeof body.content === 'string') message.text = body.content;
          if (body.components) message.components = body.components;
          this.#shown(message, this.channel(channelId));
          return apiMessage(message);
        }),
      deleteMessage: (channelId, messageId) =>
        request(() => {
          this.#own(channelId, messageId).isDeleted = true;
        }),
      message: (channelId, messageId) => request(() => apiMessage(this.#own(channelId, messageId))),
      messagesAfter: (channelId, messageId) =>
        request(() => {
          this.#assertThere(channelId);
          const after = this.standing(channelId).filter(({ id }) => isLater(id, messageId));
          return after.slice(0, 100).map(apiMessage);
        }),
      showTyping: (channelId) => request(() => this.#assertThere(channelId)),
      openThread: (channelId) => request(() => this.#assertThere(channelId)),
      openDm: (userId) =>
        request(() => {
          for (const { id, personId } of this.channels.values()) if (personId === userId) return id;
          throw apiError(400, 50007, 'Cannot send messages to this user');
        }),
      react: (channelId, messageId, emoji) =>
        request(() => {
          this.#assertThere(channelId);
          this.reactions.add(`${messageId} ${emoji}`);
        }),
    };
    return { ...replies, request };
  }

  #assertThere(channelId: string): void {
    if (this.channels.get(channelId)?.isGone !== false) throw apiError(404, 10003, 'Unknown Channel');
  }

  #own(channelId: string, messageId: string): WorldMessage {
    this.#assertThere(channelId);
    const message = this.#messages.get(messageId);
    if (message === undefined || message.isDeleted) throw apiError(404, 10008, 'Unknown Message');
    return message;
  }

  #add({
    channelId,
    authorId,
    text,
    answers,
    spoken,
    proxy,
    components = [],
    notifies,
  }: Pick<WorldMessage, 'channelId' | 'authorId' | 'text'> & Partial<WorldMessage>): WorldMessage {
    const message: WorldMessage = {
      id: this.nextId(),
      channelId,
      authorId,
      text,
      at: this.#clock.now,
      isDeleted: false,
      isEdited: false,
      answers,
      spoken,
      proxy,
      components,
      notifies,
    };
    this.#messages.set(message.id, message);
    this.channel(channelId).messages.push(message);
    return message;
  }
}

function notifiedBy(text: string, allowed?: APIAllowedMentions | null): readonly string[] {
  const mentioned = [...text.matchAll(/<@(\d+)>/gu)].flatMap(([, id]) => id ?? []);
  const { parse = ['users', 'everyone'], users = [] } = allowed ?? {};
  return [
    ...mentioned.filter((id) => users.includes(id) || parse.some((kind) => kind === 'users')),
    ...(text.includes('@everyone') && parse.some((kind) => kind === 'everyone') ? ['@everyone'] : []),
  ];
}

function isAccessRole(role: string): boolean {
  return Object.values(accessRoles).includes(role);
}

/** By their ids, which are numbers that grow with time. */
function isLater(one: string, other: string): boolean {
  return one.length === other.length ? one > other : one.length > other.length;
}

function placeWith({ id, name, kind, guildId, parent }: WorldChannel, door: Door): Place {
  if (kind === 'dm' || guildId === undefined) return { audience: 'dm', channelId: id, homeId: id };
  const isPublic = door === 'everyone' && kind !== 'private-thread';
  return {
    audience: isPublic ? 'public' : 'private',
    readers: door === 'everyone' ? ['@everyone'] : [...door].toSorted(),
    channelId: id,
    homeId: kind === 'thread' && parent !== undefined ? parent.id : id,
    guildId,
    channelName: name,
    ...(parent !== undefined && { parentId: parent.id, parentName: parent.name }),
  };
}

export function apiError(status: number, code: number, message: string): DiscordAPIError {
  return new DiscordAPIError({ code, message }, code, status, 'POST', 'https://discord.invalid', {});
}

/** What the bot's edge reads of a message that Discord answers with. */
function apiMessage({ id, channelId, authorId, text, at, answers, components }: WorldMessage): APIMessage {
  const message = {
    id,
    channel_id: channelId,
    author: { id: authorId, bot: authorId === botId },
    content: text,
    components,
    timestamp: new Date(at).toISOString(),
    ...(answers !== undefined && { message_reference: { message_id: answers } }),
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- all that replies look at
  return message as unknown as APIMessage;
}
