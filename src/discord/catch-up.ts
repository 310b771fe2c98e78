import {
  ChannelType,
  MessageType,
  type Channel,
  type Client,
  type GuildBasedChannel,
  type Message,
} from 'discord.js';
import pLimit from 'p-limit';

import { catchUpWindowMs, type RememberedMessage } from '../core/chat.ts';
import type { Logger } from '../core/logger.ts';
import { compareSnowflakes, snowflakeAt } from '../core/snowflake.ts';
import type { Clock } from '../core/time.ts';
import { worksIn, type AccessSettings } from './access.ts';
import { pageSize, type ChannelMessages } from './channel-messages.ts';
import type { MessageChanges, MissedChanges } from './message-changes.ts';
import { botMay, memberMay } from './permissions.ts';

/** Channels that are fetched at the same time, so that replies need not wait behind all of them. */
const atOnce = 8;
/** Five hundred messages of a channel at most. */
const pages = 5;

export interface CatchUpOptions {
  readonly client: Client;
  readonly botId: string;
  readonly messages: Pick<ChannelMessages, 'after' | 'newest'>;
  /** Channels that the bot has been active in, DMs above all: Discord lists those to no bot. */
  readonly knownChannels: () => Promise<readonly string[]>;
  /** What is remembered of a channel from a message id on: the log as it is before anything is fetched. */
  readonly remembered: (channelId: string, messageId: string) => Promise<readonly RememberedMessage[]>;
  readonly changes: Pick<MessageChanges, 'missed'>;
  readonly settings: Pick<AccessSettings, 'channelIds'>;
  /** Whether the reply that a message has was only begun. */
  readonly isUnfinished: (channelId: string, messageId: string) => Promise<boolean>;
  /** The way that live messages go. */
  readonly received: (message: Message) => Promise<void>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Fetches what was written while the bot was away, and gives it to intake as if it had just come in, oldest first [G3a]. Messages
 * that were handled without a reply are among them; the handlers know them. What is remembered of the same time and was deleted or edited
 * meanwhile is told first [G5]. Never throws.
 */
export async function fetchMissedMessages(options: CatchUpOptions): Promise<void> {
  const { client, logger } = options;
  const floor = snowflakeAt(new Date(options.clock().getTime() - catchUpWindowMs));
  const known = await options.knownChannels().catch((error: unknown) => {
    logger.warn('the channels to catch up with are not known', { error });
    return [];
  });
  const channelIds = new Set([...known, ...openChannels(options, floor)]);
  const possible = [...channelIds].filter((channelId) => mayHaveNews(client, channelId, floor));
  await pLimit(atOnce).map(possible, (channelId) => fetchMissedIn(channelId, floor, options));
}

async function fetchMissedIn(channelId: string, floor: string, options: CatchUpOptions): Promise<void> {
  const { logger } = options;
  try {
    const remembered = await rememberedSince(channelId, floor, options);
    const missed = await options.messages.after(channelId, floor, pages);
    const isWhole = missed.length < pages * pageSize;
    await applyMissedChanges(channelId, remembered, { messages: missed, isWhole }, options);
    const answered = await answeredIn(channelId, missed, options);
    for (const message of missed) if (!answered.has(message.id)) await options.received(message);
    if (missed.length > 0)
      logger.info('messages were fetched after a gap', { channelId, count: missed.length });
  } catch (error) {
    logger.warn('missed messages could not be fetched', { channelId, error });
  }
}

/** Without it nothing is known to be gone. */
async function rememberedSince(
  channelId: string,
  floor: string,
  { remembered, logger }: CatchUpOptions,
): Promise<readonly RememberedMessage[]> {
  try {
    return await remembered(channelId, floor);
  } catch (error) {
    logger.warn('what is remembered of a channel could not be read', { channelId, error });
    return [];
  }
}

/**
 * What has its whole reply is handled [G3], also where a full disk has kept the bot from noting it: a command is not carried out again.
 */
async function answeredIn(
  channelId: string,
  messages: readonly Message[],
  { botId, isUnfinished }: CatchUpOptions,
): Promise<ReadonlySet<string>> {
  const replies = messages.filter(({ author, type }) => author.id === botId && type === MessageType.Reply);
  const answered = new Set<string>();
  for (const { reference } of replies) {
    const id = reference?.messageId;
    if (id !== undefined && !(await isUnfinished(channelId, id))) answered.add(id);
  }
  return answered;
}

/**
 * Channels that this process knows of by itself: DMs, and wherever in a guild something was said since `floor`, as it may have mentioned
 * the bot where it never spoke.
 */
function openChannels({ client, settings }: CatchUpOptions, floor: string): string[] {
  const open = client.channels.cache.filter((channel) => {
    if (channel.isDMBased()) return channel.type === ChannelType.DM;
    const parentId = channel.isThread() ? (channel.parentId ?? undefined) : undefined;
    return (
      isNewer(channel, floor) &&
      worksIn(settings, { channelId: channel.id, isDm: false, parentId }) &&
      // Discord tells of every channel, also of those that the bot may not read.
      botMay('read', channel)
    );
  });
  return [...open.keys()];
}

function isNewer(channel: GuildBasedChannel, floor: string): boolean {
  if (!('lastMessageId' in channel) || channel.lastMessageId === null) return false;
  return compareSnowflakes(channel.lastMessageId, floor) >= 0;
}

/** The guild's own event tells each channel's newest message, which saves most requests. */
function mayHaveNews(client: Client, channelId: string, floor: string): boolean {
  const channel = client.channels.cache.get(channelId);
  if (channel === undefined || channel.isDMBased() || !('lastMessageId' in channel)) return true;
  return channel.lastMessageId === null || compareSnowflakes(channel.lastMessageId, floor) >= 0;
}

/**
 * Compares what is remembered of each channel with its newest hundred messages, one channel after the other: for what was edited or
 * deleted in a gap, though it was said long before [G5]. What is older than those is not looked at. Never throws. `isStopped` is asked
 * before each channel: there may be many.
 */
export async function reconcileMissedChanges(
  options: CatchUpOptions,
  isStopped: () => boolean,
): Promise<void> {
  try {
    for (const channelId of await options.knownChannels()) {
      if (isStopped()) return;
      await reconcileChannel(channelId, options);
    }
  } catch (error) {
    options.logger.warn('missed edits and deletions could not be looked for', { error });
  }
}

async function reconcileChannel(channelId: string, options: CatchUpOptions): Promise<void> {
  try {
    const found = await options.messages.newest(channelId, pageSize);
    const messages = found.toSorted((a, b) => compareSnowflakes(a.id, b.id));
    const oldest = messages[0]?.id;
    if (oldest === undefined) return;
    // Where these are all, whatever is remembered from before them is gone.
    const remembered = await options.remembered(channelId, messages.length < pageSize ? '0' : oldest);
    // What was said since the fetch is not in it.
    await applyMissedChanges(channelId, remembered, { messages, isWhole: false }, options);
  } catch (error) {
    options.logger.debug('a channel could not be compared with what is remembered of it', {
      channelId,
      error,
    });
  }
}

/** What of a channel was fetched, oldest first. */
interface FetchedMessages {
  readonly messages: readonly Message[];
  /** All of the time in question; otherwise there are more after the last. */
  readonly isWhole: boolean;
}

/** Tells what became of remembered messages of a channel in a gap [G5]; resolves when memory has followed. */
async function applyMissedChanges(
  channelId: string,
  remembered: readonly RememberedMessage[],
  fetched: FetchedMessages,
  { client, changes, logger }: CatchUpOptions,
): Promise<void> {
  const channel = client.channels.cache.get(channelId);
  if (channel === undefined || !isSurelyReadable(channel)) return;
  const missed = missedChanges(remembered, fetched);
  if (missed.deleted.length > 0)
    logger.info('messages were deleted in a gap', { channelId, count: missed.deleted.length });
  await changes.missed(channelId, missed);
}

/** To a bot that may not read the history of a channel Discord shows an empty one, so it must be certain. */
function isSurelyReadable(channel: Channel): boolean {
  if (channel.isDMBased()) return true;
  const { me } = channel.guild.members;
  return me !== null && memberMay('read', channel, me) === true;
}

/** Compares what was remembered before the fetch with what stands in the channel. */
export function missedChanges(
  remembered: readonly RememberedMessage[],
  { messages, isWhole }: FetchedMessages,
): MissedChanges {
  const standing = new Map(messages.map((message) => [message.id, message]));
  const last = messages.at(-1)?.id;
  const isCovered = (id: string): boolean =>
    isWhole || (last !== undefined && compareSnowflakes(id, last) <= 0);
  const ids = remembered.flatMap((message) => message.ids);
  const edited = remembered.flatMap((message) => {
    const present = message.isOwn ? undefined : standing.get(message.ids[0] ?? '');
    // Discord keeps the words back from a bot that may not read them.
    return present === undefined || present.editedTimestamp === null || present.content === ''
      ? []
      : [present];
  });
  return { deleted: ids.filter((id) => isCovered(id) && !standing.has(id)), edited };
}
