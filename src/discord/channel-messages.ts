import { type Channel, type GuildTextBasedChannel, type Message, MessageType } from 'discord.js';

import type { ChannelWish, ReadChannel } from '../core/channels.ts';
import { type ChatMessage, type ReadReplied, type RepliedMessage, hasEnclosures } from '../core/message.ts';
import type { Logger } from '../core/logger.ts';
import { isPart, type Shards } from '../core/processes.ts';
import { compareSnowflakes } from '../core/snowflake.ts';
import type { History } from './history.ts';
import { filesOf, forwardsOf, isSpoken } from './normalise.ts';
import { botMay } from './permissions.ts';
import { type FindChannel, type Places, hasAgesFor, placeOf, readersCanRead } from './place.ts';
import { isGone } from './refusals.ts';
import type { AccessSettings } from './access.ts';
import { channelsCalled, permit, succeeds } from './actions/action.ts';

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

const maxCandidates = 10;

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
    const named = channelsCalled(wish.channel ?? here.id, here).slice(0, maxCandidates);
    const readable: GuildTextBasedChannel[] = [];
    for (const channel of named) if (await mayRead(channel, here, wish)) readable.push(channel);
    const [channel, ...others] = readable;
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
