import {
  ChannelType,
  MessageType,
  type Channel,
  type Client,
  type GuildBasedChannel,
  type Message,
} from 'discord.js';
import pLimit from 'p-limit';

import { catchUpWindowMs, type RememberedMessage } from '../core/message.ts';
import type { AskedMessage } from '../core/reply.ts';
import type { Logger } from '../core/logger.ts';
import type { ChannelGuild } from '../core/place.ts';
import { hasGuild, isPart, shardOf, type Shards } from '../core/processes.ts';
import { compareSnowflakes, snowflakeAt } from '../core/snowflake.ts';
import { sleep, type Clock } from '../core/time.ts';
import { worksInChannel, type AccessSettings } from './access.ts';
import { pageSize, type ChannelMessages } from './history.ts';
import type { MessageChanges, MissedChanges } from './intake.ts';
import { botMay, memberMay } from './permissions.ts';
import type { Places } from './place.ts';
import type { RunInBackground } from './gateway-error.ts';

const pages = 5;
/** Most of Discord's rate limit is kept for people. */
const atOnce = 2;
const pauseMs = 200;

/** What is known of channels, and left undone in them. */
export interface ChannelMemory {
  /** Channels that the bot has been active in, and when it last was; milliseconds since the epoch. */
  readonly knownChannels: () => Promise<readonly { readonly id: string; readonly activeAt: number }[]>;
  readonly guildOf: (channelId: string) => Promise<ChannelGuild>;
  /** What the log holds of a channel from a message id on. */
  readonly remembered: (channelId: string, messageId: string) => Promise<readonly RememberedMessage[]>;
  readonly isGone: (channelId: string) => Promise<boolean>;
  /** Whether a message's reply was only begun, or is to be made again. */
  readonly isUnfinished: (message: AskedMessage) => Promise<boolean>;
  /** Finishes what an earlier process left undone in a channel, once. Must not reject. */
  readonly recover: (channelId: string) => Promise<void>;
  /** Continues background work on a channel's messages; ends early with the signal. Must not reject. */
  readonly resume: (channelId: string, signal: AbortSignal) => Promise<void>;
}

interface CatchUpOptions extends ChannelMemory {
  readonly client: Client;
  readonly shards: Shards;
  readonly places: Pick<Places, 'find'>;
  readonly settings: Pick<AccessSettings, 'channelIds'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly botId: string;
  readonly messages: Pick<ChannelMessages, 'after' | 'newest'>;
  readonly changes: Pick<MessageChanges, 'missed'>;
  readonly received: (message: Message) => Promise<void>;
  readonly runInBackground: RunInBackground;
}

/** The gap before one shard's gateway session. */
function createGap(now: number) {
  return {
    /** Older messages are not answered any more. */
    floor: snowflakeAt(new Date(now - catchUpWindowMs)),
    /** Channels made since then have missed nothing. */
    startedAt: snowflakeAt(new Date(now)),
    quiet: new Set<string>(),
    caughtUp: new Map<string, Promise<void>>(),
    /** By channel, the first message that came as an event; those after it do too. */
    firstLive: new Map<string, string>(),
  };
}

type Gap = ReturnType<typeof createGap>;

export type CatchUp = ReturnType<typeof createCatchUp>;

/** Fetches what the bot missed and hands it on as if it were new [G3a], edits and deletions first [G5]. Never rejects. */
export function createCatchUp(options: CatchUpOptions, stopping: AbortSignal) {
  const { client, shards, settings, messages, recover, clock, logger } = options;
  const newGap = () => createGap(clock().getTime());
  const gaps = new Map(shards.ids.map((id) => [id, newGap()]));
  /** Shared by all shards, as Discord's rate limit is. */
  const oneOfTwo = pLimit(atOnce);

  function gapOf(shard: number): Gap {
    const gap = gaps.get(shard) ?? newGap();
    gaps.set(shard, gap);
    return gap;
  }

  function catchUp(channelId: string, gap: Gap): Promise<void> {
    const work = gap.caughtUp.get(channelId) ?? catchUpWith(channelId, gap);
    gap.caughtUp.set(channelId, work);
    return work;
  }

  async function catchUpWith(channelId: string, { floor, firstLive }: Gap): Promise<void> {
    if (await isOutOfReach(channelId)) return;
    let missed: readonly Message[] = [];
    try {
      const before = await read(options.remembered(channelId, floor), [], channelId);
      const { found, since } = await fetchNewest(channelId, floor);
      // The log may hold messages written after the fetch began.
      const all = since === undefined ? [] : await options.remembered(channelId, since);
      const changes = [missedChanges(before, found), missedChanges(all, { ...found, isWhole: false })];
      await applyMissedChanges(channelId, changes);
      missed = found.messages.filter(({ id }) => compareSnowflakes(id, floor) > 0);
    } catch (error) {
      logger.warn('missed messages could not be fetched', { channelId, error });
    }
    await recover(channelId);
    try {
      for (const message of await unanswered(channelId, missed)) {
        const live = firstLive.get(channelId);
        if (live !== undefined && compareSnowflakes(message.id, live) >= 0) break;
        await options.received(message);
      }
    } catch (error) {
      logger.warn('missed messages could not be handed on', { channelId, error });
    }
    if (missed.length > 0)
      logger.info('messages were fetched after a gap', { channelId, count: missed.length });
  }

  async function read<Told>(remembered: Promise<Told>, otherwise: Told, channelId: string): Promise<Told> {
    return remembered.catch((error: unknown) => {
      logger.warn('what is remembered of a channel could not be read', { channelId, error });
      return otherwise;
    });
  }

  const guildOf = (channelId: string) => read(options.guildOf(channelId), { kind: 'unknown' }, channelId);

  /** Whether a channel is deleted, another process's, or not to be worked in: no request is sent for it [G3d]. */
  async function isOutOfReach(channelId: string): Promise<boolean> {
    if (!client.channels.cache.has(channelId)) {
      const guild = await guildOf(channelId);
      const isOurs =
        guild.kind === 'guild' ? client.guilds.cache.has(guild.guildId) : hasGuild(shards, undefined);
      if (!isOurs || (await read(options.isGone(channelId), false, channelId))) return true;
      // What another process began there, only that one may finish: it knows who reads along.
      if (guild.kind === 'unknown' && isPart(shards) && !(await options.places.find(channelId))) return true;
    }
    const channel = client.channels.cache.get(channelId);
    return channel !== undefined && !worksInChannel(settings, channel);
  }

  /** The newest hundred messages, or else all since `floor`, oldest first. `since`: how far they reach back. */
  async function fetchNewest(channelId: string, floor: string) {
    const page = await messages.newest(channelId, pageSize);
    const newest = page.toSorted((a, b) => compareSnowflakes(a.id, b.id));
    const oldest = newest[0]?.id;
    const isAll = newest.length < pageSize;
    if (oldest === undefined || isAll || compareSnowflakes(oldest, floor) <= 0)
      return { found: { messages: newest, isWhole: true }, since: isAll ? oldest && '0' : oldest };
    const after = await messages.after(channelId, floor, pages);
    return { found: { messages: after, isWhole: after.length < pages * pageSize }, since: after[0]?.id };
  }

  /** A message with its whole reply is handled [G3], even if a full disk kept the bot from noting it. */
  async function unanswered(channelId: string, missed: readonly Message[]): Promise<readonly Message[]> {
    const replied = new Set(
      missed
        .filter(({ author, type }) => author.id === options.botId && type === MessageType.Reply)
        .map(({ reference }) => reference?.messageId),
    );
    const open: Message[] = [];
    for (const message of missed) {
      const { id, author } = message;
      if (!replied.has(id) || (await options.isUnfinished({ id, channelId, userId: author.id })))
        open.push(message);
    }
    return open;
  }

  /** Resolves when memory has followed [G5]. */
  async function applyMissedChanges(channelId: string, found: readonly MissedChanges[]): Promise<void> {
    const channel = client.channels.cache.get(channelId);
    if (channel === undefined || !isSurelyReadable(channel)) return;
    const deleted = [...new Set(found.flatMap((each) => each.deleted))];
    const edited = [...new Set(found.flatMap((each) => each.edited))];
    if (deleted.length > 0)
      logger.info('messages were deleted in a gap', { channelId, count: deleted.length });
    await options.changes.missed(channelId, { deleted, edited });
  }

  /** Where the bot was active, the last first. */
  async function knownChannels(): Promise<readonly string[]> {
    const known = await options.knownChannels().catch((error: unknown) => {
      logger.warn('the channels to catch up with could not be listed', { error });
      return [];
    });
    return known.toSorted((a, b) => b.activeAt - a.activeAt).map(({ id }) => id);
  }

  /** Somebody may have mentioned the bot where it never spoke. Discord lists channels that it may not read, too. */
  function mayHaveNews(channel: Channel, floor: string): boolean {
    if (channel.isDMBased()) return channel.type === ChannelType.DM;
    const wasUsed = wasUsedSince(channel, floor) === true;
    return wasUsed && worksInChannel(settings, channel) && botMay('read', channel);
  }

  /** A channel of an unknown guild may be a direct message, which the first shard has. */
  async function shardOfKnown(channelId: string): Promise<number> {
    if (shards.count === 1 || client.channels.cache.has(channelId)) return shardIn(client, channelId, shards);
    const guild = await guildOf(channelId);
    return shardOf(guild.kind === 'guild' ? guild.guildId : undefined, shards.count);
  }

  return {
    /** What was said on a shard since the end of its last session is lost until it is fetched. */
    begin(shard: number): void {
      gaps.set(shard, newGap());
    },
    /** The first message of a channel starts fetching what was missed there. */
    heard(channelId: string, messageId: string): void {
      const gap = gapOf(shardIn(client, channelId, shards));
      if (gap.firstLive.has(channelId)) return;
      gap.firstLive.set(channelId, messageId);
      if (!isQuiet(channelId, gap)) options.runInBackground('catching up', () => catchUp(channelId, gap));
    },
    before(channelId: string): Promise<void> {
      const gap = gapOf(shardIn(client, channelId, shards));
      return isQuiet(channelId, gap) ? recover(channelId) : catchUp(channelId, gap);
    },
    /** Resolves when catching up that has begun in a channel is done; otherwise at once. */
    settled(channelId: string): Promise<void> {
      const gap = gapOf(shardIn(client, channelId, shards));
      if (isQuiet(channelId, gap)) return recover(channelId);
      return gap.caughtUp.get(channelId) ?? Promise.resolve();
    },
    /** Catches up with a shard's channels once its guilds are known. Ends early with the session or the bot. */
    async everywhere(shard: number): Promise<void> {
      const gap = gapOf(shard);
      gap.quiet = quietChannels(client, shards, shard, gap.floor);
      const isOver = (): boolean => stopping.aborted || gaps.get(shard) !== gap;
      const caughtUp: string[] = [];
      const visit = async (channelId: string): Promise<void> => {
        if (isOver() || (await shardOfKnown(channelId)) !== shard) return;
        if (caughtUp.length >= atOnce) await sleep(pauseMs, stopping);
        if (isOver()) return;
        await catchUp(channelId, gap);
        caughtUp.push(channelId);
      };
      const open = client.channels.cache.filter((channel) => mayHaveNews(channel, gap.floor));
      // Where something was said lately, before all others are listed.
      await oneOfTwo.map(open.keys(), visit);
      await oneOfTwo.map(
        (await knownChannels()).filter((id) => !open.has(id)),
        visit,
      );
      // Each `/ask` stands with its person's direct messages, and is finished by the process that took it [EW2].
      if (!hasGuild(shards, undefined))
        for (const channelId of await knownChannels())
          if (!isOver() && (await guildOf(channelId)).kind === 'dm') await recover(channelId);
      for (const channelId of caughtUp) if (!isOver()) await options.resume(channelId, stopping);
      if (!isOver()) logger.info('caught up with all channels');
    },
  };
}

function isQuiet(channelId: string, { caughtUp, quiet, startedAt }: Gap): boolean {
  return !caughtUp.has(channelId) && (quiet.has(channelId) || compareSnowflakes(channelId, startedAt) > 0);
}

/** Discord shows an empty channel to a bot that may not read its history. */
function isSurelyReadable(channel: Channel): boolean {
  if (channel.isDMBased()) return true;
  const { me } = channel.guild.members;
  return me !== null && memberMay('read', channel, me) === true;
}

/** `messages` are oldest first; unless they are whole, there are more after the last. */
export function missedChanges(
  remembered: readonly RememberedMessage[],
  { messages, isWhole }: { readonly messages: readonly Message[]; readonly isWhole: boolean },
): MissedChanges {
  const presentById = new Map(messages.map((message) => [message.id, message]));
  const last = messages.at(-1)?.id;
  const isCovered = (id: string): boolean =>
    isWhole || (last !== undefined && compareSnowflakes(id, last) <= 0);
  const ids = remembered.flatMap((message) => message.ids);
  const edited = remembered.flatMap((message) => {
    const present = message.isOwn ? undefined : presentById.get(message.ids[0] ?? '');
    // Discord withholds the text from a bot that may not read it.
    return present === undefined || present.editedTimestamp === null || present.content === ''
      ? []
      : [present];
  });
  return { deleted: ids.filter((id) => isCovered(id) && !presentById.has(id)), edited };
}

/** The first shard for an unknown channel: Discord tells of threads before what is said there. */
export function shardIn({ channels }: Client, channelId: string, { count }: Shards): number {
  const channel = channels.cache.get(channelId);
  return shardOf(channel === undefined || channel.isDMBased() ? undefined : channel.guildId, count);
}

/** A shard's channels in which nothing was said since `floor`: that saves most requests. */
function quietChannels(client: Client, { count }: Shards, shard: number, floor: string): Set<string> {
  const quiet = new Set<string>();
  for (const guild of client.guilds.cache.values())
    if (shardOf(guild.id, count) === shard)
      for (const channel of guild.channels.cache.values())
        if (wasUsedSince(channel, floor) === false) quiet.add(channel.id);
  return quiet;
}

/** `undefined` where only a request tells. */
function wasUsedSince(channel: GuildBasedChannel, floor: string): boolean | undefined {
  if (!('lastMessageId' in channel)) return undefined;
  // The library's types leave out that it may be unknown.
  const lastId: string | null | undefined = channel.lastMessageId;
  if (lastId === undefined) return true;
  // In a channel without one, nobody has ever spoken; of a thread it may be unknown.
  if (lastId === null) return channel.isThread() ? undefined : false;
  return compareSnowflakes(lastId, floor) >= 0;
}
