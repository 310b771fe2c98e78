import { type Channel, type GuildTextBasedChannel, type Message, MessageType } from 'discord.js';

import type { MessageChange, RecentChanges } from '../core/changes.ts';
import type { ChannelWish, ReadChannel } from '../core/channels.ts';
import {
  edited,
  hasEnclosures,
  type ChatMessage,
  type ReadReplied,
  type RepliedMessage,
  type ShownPiece,
} from '../core/message.ts';
import { lruCache } from '../core/limits.ts';
import type { Logger } from '../core/logger.ts';
import { isPart, type Shards } from '../core/processes.ts';
import { reminderSign } from '../core/reply.ts';
import { compareSnowflakes, snowflakeTime } from '../core/snowflake.ts';
import { offerHead } from '../core/tool.ts';
import type { AccessSettings } from './access.ts';
import { channelsCalled, permit, succeeds, usableOf } from './actions/action.ts';
import { filesOf, forwardsOf, isSpoken } from './normalise.ts';
import { botMay } from './permissions.ts';
import { type FindChannel, type Places, hasAgesFor, placeOf, readersCanRead } from './place.ts';
import { isGone } from './refusals.ts';

const warmChannels = 250;
/** Twice what a history window holds, as some are left out [H1]. */
const coldLimit = 50;
/** Milliseconds after an answer in which its person may go on without a mention [G2]. */
const conversationMs = 2 * 60_000;

export interface HistoryOptions {
  /** In any order. Rejects as Discord does. */
  readonly fetchNewest: (channelId: string, limit: number) => Promise<readonly ChatMessage[]>;
  /** Commands, their answers and error lines by id [F2]. */
  readonly hiddenIn: (channelId: string) => Promise<(messageId: string) => boolean>;
  /** `hiddenIn` may not know the commands of a cold channel. */
  readonly isCommand: (text: string) => boolean;
  readonly recent: RecentChanges;
  readonly logger: Logger;
}

type WarmChannel = ReturnType<typeof createWarmChannel>;

export type History = ReturnType<typeof createHistory>;

/** A cold channel is fetched once; events keep it current from then on [H2]. */
export function createHistory(options: HistoryOptions) {
  const { fetchNewest, hiddenIn, isCommand, recent, logger } = options;
  const channels = lruCache<string, WarmChannel>(warmChannels);

  function channelOf(channelId: string): WarmChannel {
    const channel = channels.get(channelId) ?? createWarmChannel(recent);
    channels.set(channelId, channel);
    return channel;
  }

  /** A thread's id is that of the message that it was made from. */
  const threadFrom = (messageId: string): WarmChannel | undefined => channels.peek(messageId);

  const saysCommand = ({ author, text }: ChatMessage): boolean => author.kind === 'human' && isCommand(text);

  async function hiddenOrAllIn(channelId: string): Promise<(messageId: string) => boolean> {
    try {
      return await hiddenIn(channelId);
    } catch (error) {
      logger.warn('messages are left out of history, since they may be commands or error lines', {
        channelId,
        error,
      });
      return () => true;
    }
  }

  /** The messages that are part of history [F2]. Never rejects. */
  async function shownOf(
    channelId: string,
    messages: readonly ChatMessage[],
  ): Promise<readonly ChatMessage[]> {
    // After a kill the outbox may not know a command's answer.
    const commands = new Set(messages.filter(saysCommand).map(({ id }) => id));
    const answered = answeredBy(messages);
    const isHidden = await hiddenOrAllIn(channelId);
    return messages.filter(
      (message) =>
        saysSomething(message) &&
        !isOwnLine(message) &&
        !isReminder(message) &&
        !recent.wasDeleted(message.id) &&
        !commands.has(message.id) &&
        !commands.has(answered.get(message.id) ?? '') &&
        !wasDeletedAmong(answered.get(message.id), messages) &&
        !isHidden(message.id),
    );
  }

  recent.subscribe((change) => {
    if (change.kind === 'edited') {
      channels.get(change.channelId)?.edit(change);
      threadFrom(change.messageId)?.edit(change);
      return;
    }
    channels.get(change.channelId)?.remove(change.messageIds);
    for (const id of change.messageIds) threadFrom(id)?.remove([id]);
  });

  return {
    async recent(channelId: string, limit: number): Promise<readonly ChatMessage[]> {
      const channel = channelOf(channelId);
      try {
        await channel.warm(() => fetchNewest(channelId, coldLimit));
      } catch (error) {
        logger.warn('history could not be fetched', { channelId, error });
      }
      const shown = await shownOf(channelId, channel.messages());
      return limit > 0 ? shown.slice(-limit) : [];
    },
    shownOf,
    /** The same message again, or a deleted one, changes nothing. */
    seen(message: ChatMessage): void {
      if (recent.wasDeleted(message.id)) return;
      channelOf(message.channelId).add(edited(message, recent.latest(message.id)));
    },
    /** Not an edit: Discord adds link previews later. */
    showCards: (channelId: string, messageId: string, cards: readonly ShownPiece[]): void =>
      channelOf(channelId).showCards(messageId, cards),
    keeps: (channelId: string): boolean => channels.has(channelId),
    messageOf: (channelId: string, messageId: string): ChatMessage | undefined =>
      channels.peek(channelId)?.messageOf(messageId),
    /**
     * Whether the bot answered the person at most two minutes before a message, and nobody else spoke since they asked
     * [G2]. A command begins no conversation and ends none. From memory: a restart ends all conversations.
     */
    isTalkingWith(userId: string, channelId: string, before: string): boolean {
      let spokeLast: string | undefined;
      const known = channels.peek(channelId)?.messages() ?? [];
      for (const message of known.filter(({ id }) => compareSnowflakes(id, before) < 0).toReversed()) {
        const { id, author, answers } = message;
        if (author.kind !== 'self') {
          if (author.id === userId) continue;
          return false;
        }
        spokeLast ??= id;
        if (snowflakeTime(before).getTime() - snowflakeTime(spokeLast).getTime() > conversationMs)
          return false;
        if (answers === undefined) continue;
        const question = known.find((each) => each.id === answers);
        if (question === undefined || !saysCommand(question)) return question?.author.id === userId;
      }
      return false;
    },
    /** What cannot be known is hidden [F2]. */
    isHidden: async (message: ChatMessage): Promise<boolean> =>
      saysCommand(message) || isOwnLine(message) || (await hiddenOrAllIn(message.channelId))(message.id),
    /** Makes channels cold whose events were missed. */
    forget(isMissed: (channelId: string) => boolean): void {
      for (const channelId of Array.from(channels.keys()))
        if (isMissed(channelId)) channels.delete(channelId);
    },
  };
}

export function saysSomething({ text, attachments, shown }: ChatMessage): boolean {
  return text !== '' || attachments.length > 0 || shown !== undefined;
}

/** By the bot's message, which one it answers: only the first part of an answer names that, the others follow it. */
function answeredBy(messages: readonly ChatMessage[]): ReadonlyMap<string, string> {
  const answered = new Map<string, string>();
  let newest: string | undefined;
  for (const { id, author, answers, shown, hasThirdPartyText } of messages) {
    // A poll, and what was sent for somebody, stand for themselves.
    if (author.kind !== 'self' || shown !== undefined || hasThirdPartyText === true) continue;
    newest = answers ?? newest;
    if (newest !== undefined) answered.set(id, newest);
  }
  return answered;
}

/** Whether a message that would stand among these was deleted [G5]: nobody may know what an answer to it repeats. */
function wasDeletedAmong(answered: string | undefined, among: readonly ChatMessage[]): boolean {
  if (answered === undefined || among.some(({ id }) => id === answered)) return false;
  return among.some(({ id }) => compareSnowflakes(id, answered) < 0);
}

const ownLine = /^(?:-# |⚠️ |⏹️ |⏳ |🔑 |📦 )/u;

/** Offers, small lines and what owners are told: the outbox does not know them yet when they are first seen, nor after a kill. */
function isOwnLine({ author, answers, text }: ChatMessage): boolean {
  if (author.kind !== 'self' || answers !== undefined) return false;
  return text.startsWith(offerHead) || text.split('\n').every((line) => ownLine.test(line));
}

function isReminder({ author, answers, text }: ChatMessage): boolean {
  return author.kind === 'self' && answers === undefined && text.startsWith(reminderSign);
}

/** Three of history's longest windows [H1]. */
const keptMessages = 60;

function createWarmChannel(recent: Pick<RecentChanges, 'position' | 'latest' | 'wasDeleted'>) {
  /** Oldest first. */
  let messages = new Map<string, ChatMessage>();
  let isWarm = false;
  let loading: Promise<void> | undefined;

  function add(message: ChatMessage): void {
    // A copy is known before its account [G2a].
    if (messages.get(message.id)?.author.id === message.author.id) return;
    messages.set(message.id, message);
    messages = new Map([...messages].toSorted(([a], [b]) => compareSnowflakes(a, b)));
    const [oldest = ''] = messages.keys();
    if (messages.size > keptMessages) messages.delete(oldest);
  }

  function showCards(messageId: string, cards: readonly ShownPiece[]): void {
    const message = messages.get(messageId);
    if (message === undefined) return;
    const shown = [...(message.shown ?? []).filter(({ kind }) => kind !== 'card'), ...cards];
    messages.set(messageId, {
      ...message,
      shown: shown.length === 0 ? undefined : shown,
      hasThirdPartyText: cards.length === 0 ? message.hasThirdPartyText : true,
    });
  }

  /** Changes during the fetch win over what it brings. */
  async function load(fetchNewest: () => Promise<readonly ChatMessage[]>): Promise<void> {
    const startPosition = recent.position;
    for (const message of await fetchNewest()) {
      if (recent.wasDeleted(message.id)) continue;
      add(edited(message, recent.latest(message.id, startPosition)));
    }
    isWarm = true;
  }

  return {
    messages: (): readonly ChatMessage[] => [...messages.values()],
    messageOf: (messageId: string): ChatMessage | undefined => messages.get(messageId),
    add,
    showCards,
    edit({ messageId, ...edit }: Extract<MessageChange, { kind: 'edited' }>): void {
      const message = messages.get(messageId);
      if (message !== undefined) messages.set(messageId, edited(message, edit));
    },
    remove(messageIds: readonly string[]): void {
      for (const id of messageIds) messages.delete(id);
    },
    /** Several callers share one fetch. Rejects as the fetch does, and stays cold then. */
    async warm(fetchNewest: () => Promise<readonly ChatMessage[]>): Promise<void> {
      if (isWarm) return;
      await (loading ??= load(fetchNewest).finally(() => (loading = undefined)));
    },
  };
}

export const pageSize = 100;

export type ChannelMessages = ReturnType<typeof createChannelMessages>;

/** All reject as Discord does; where the bot may not read, there are no messages. */
export function createChannelMessages(findChannel: FindChannel) {
  async function readable(channelId: string) {
    const channel = await findChannel(channelId);
    if (channel === undefined || !channel.isTextBased() || !('messages' in channel)) return undefined;
    return botMay('read', channel) ? channel.messages : undefined;
  }

  async function page(
    channelId: string,
    query: { readonly after?: string; readonly before?: string | undefined; readonly limit: number },
  ): Promise<Message[]> {
    const found = await (await readable(channelId))?.fetch({ ...query, cache: false });
    return found === undefined ? [] : [...found.values()];
  }

  return {
    /** At most 100, in any order. */
    newest: (channelId: string, limit: number): Promise<readonly Message[]> =>
      page(channelId, { limit: Math.min(limit, pageSize) }),
    /** `undefined` where the bot may not read it. */
    one: async (channelId: string, messageId: string): Promise<Message | undefined> =>
      (await readable(channelId))?.fetch({ message: messageId, cache: false }),
    /** Oldest first, at most `limit` pages of 100. */
    async after(channelId: string, messageId: string, limit: number): Promise<readonly Message[]> {
      const all: Message[] = [];
      for (let count = 0; count < limit; count += 1) {
        const found = await page(channelId, { after: all.at(-1)?.id ?? messageId, limit: pageSize });
        all.push(...found.toSorted((a, b) => compareSnowflakes(a.id, b.id)));
        if (found.length < pageSize) break;
      }
      return all;
    },
    /** Newest first, at most `limit`, up to the first that is an end, which is not included. */
    async back(channelId: string, limit: number, isEnd: (message: Message) => boolean) {
      const all: Message[] = [];
      while (all.length < limit) {
        const pageLimit = Math.min(pageSize, limit - all.length);
        const found = await page(channelId, { limit: pageLimit, before: all.at(-1)?.id });
        const sorted = found.toSorted((a, b) => compareSnowflakes(b.id, a.id));
        const end = sorted.findIndex(isEnd);
        all.push(...(end === -1 ? sorted : sorted.slice(0, end)));
        const last = sorted[end];
        if (last !== undefined) return { found: all, end: last, isCut: false };
        if (found.length < pageLimit) return { found: all, isCut: false };
      }
      return { found: all, isCut: true };
    },
  };
}

/**
 * `undefined` for a proxy's copy of nobody known: whether they are in a pause, or had it erased, is not known then
 * [K9][K11].
 */
export type ChatOf = (message: Message) => ChatMessage | undefined;

/** The message that a thread was made from; `undefined` where it is gone or not part of history [F2]. */
export async function threadStarter(
  found: readonly Message[],
  readReplied: ReadReplied,
): Promise<ChatMessage | undefined> {
  const pointer = found.find(({ type }) => type === MessageType.ThreadStarterMessage);
  const { channelId, messageId: id } = pointer?.reference ?? {};
  if (pointer === undefined || channelId === undefined || id === undefined) return undefined;
  const starter = await readReplied({ channelId, id });
  if (starter === 'gone' || starter === 'hidden') return undefined;
  const { files: _, forwards: __, ...chat } = starter;
  return { ...chat, channelId: pointer.channelId };
}

/** Memory keeps no addresses of files. */
export function createReadReplied(
  history: Pick<History, 'messageOf' | 'isHidden'>,
  ports: {
    readonly messages: Pick<ChannelMessages, 'one'>;
    readonly chatOf: ChatOf;
    readonly logger: Logger;
  },
): ReadReplied {
  const { messages, chatOf, logger } = ports;
  async function fetched(channelId: string, id: string): Promise<RepliedMessage | 'hidden' | undefined> {
    try {
      const message = await messages.one(channelId, id);
      if (message === undefined) return undefined;
      const chat = chatOf(message);
      if (chat === undefined || (chat.author.kind === 'self' && !isSpoken(message))) return 'hidden';
      return { ...chat, files: filesOf(message), forwards: forwardsOf(message) };
    } catch (error) {
      if (!isGone(error))
        logger.info('a message that is replied to could not be fetched', { channelId, messageId: id, error });
      return undefined;
    }
  }

  return async ({ channelId, id }) => {
    const known = history.messageOf(channelId, id);
    const isComplete = known !== undefined && !hasEnclosures(known);
    const found = isComplete ? { ...known, files: [] } : await fetched(channelId, id);
    if (found === undefined) return 'gone';
    return found === 'hidden' || (await history.isHidden(found)) ? 'hidden' : found;
  };
}

/** The asker and all who read the answer must be able to read the channel, checked before and after [B4]. */
export function createReadChannel(options: {
  readonly places: Places;
  readonly messages: Pick<ChannelMessages, 'back'>;
  readonly history: Pick<History, 'shownOf'>;
  readonly settings: Pick<AccessSettings, 'channelIds'>;
  readonly shards: Shards;
  readonly chatOf: ChatOf;
}): ReadChannel {
  const { places, messages, history, settings, shards, chatOf } = options;

  async function mayRead(
    channel: GuildTextBasedChannel,
    here: Channel,
    { userId, place, isForAskerOnly }: ChannelWish,
  ): Promise<boolean> {
    // Other readers are known only from the caches.
    if (!isForAskerOnly && (here.isDMBased() || !readersCanRead(here, channel))) return false;
    const asker = { speaker: { id: userId, name: '', isOwner: false }, place };
    return succeeds(permit('read', channel, asker, settings));
  }

  return async (wish) => {
    const here = await places.find(wish.place.channelId);
    if (here === undefined) return { kind: 'none' };
    const named = channelsCalled(wish.channel ?? here.id, here);
    const [channel, ...others] = await usableOf(named, (each) => mayRead(each, here, wish));
    if (channel === undefined) return { kind: here.isDMBased() && isPart(shards) ? 'out-of-sight' : 'none' };
    if (others.length > 0) return { kind: 'several' };
    if (!hasAgesFor(here, channel)) return { kind: 'age-restricted' };

    const { userId, since, requestIds } = wish;
    // What they wrote after asking does not count.
    const isEarlier = (id: string): boolean =>
      requestIds.every((asking) => compareSnowflakes(id, asking) < 0);
    const { found, end, isCut } = await messages.back(channel.id, wish.limit, (message) =>
      since === undefined
        ? chatOf(message)?.author.id === userId && isEarlier(message.id)
        : message.createdTimestamp < since.getTime(),
    );
    const chatMessages = found
      .filter((message) => isSpoken(message) && !requestIds.includes(message.id))
      .flatMap((message) => chatOf(message) ?? []);
    const shown = await history.shownOf(channel.id, chatMessages.toReversed());
    const place = await placeOf(channel, places);
    if (place === undefined || !(await mayRead(channel, here, wish))) return { kind: 'none' };
    if (!hasAgesFor(here, channel)) return { kind: 'age-restricted' };
    const ownLastAt = since === undefined ? end?.createdAt.toISOString() : undefined;
    return { kind: 'read', place, messages: shown, isCut, ownLastAt };
  };
}
