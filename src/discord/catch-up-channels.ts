import { ChannelType, type Client, type GuildBasedChannel } from 'discord.js';

import type { Logger } from '../core/logger.ts';
import type { ChannelGuild } from '../core/place.ts';
import { shardOf, type Shards } from '../core/shards.ts';
import { compareSnowflakes } from '../core/snowflake.ts';
import type { Clock } from '../core/time.ts';
import { worksInChannel, type AccessSettings } from './access.ts';
import { botMay } from './permissions.ts';

/** What tells which channels are to be looked at after a gap, and in which order. */
export interface ChannelsOptions {
  readonly client: Client;
  /** Those of this client: channels of others are not looked at, and a new session of one leaves the channels of the others alone. */
  readonly shards: Shards;
  /**
   * Channels that the bot has been active in, DMs above all (Discord lists those to no bot), with when it last was, in milliseconds since the
   * epoch.
   */
  readonly knownChannels: () => Promise<readonly { readonly id: string; readonly activeAt: number }[]>;
  /** The guild that a known channel was in, as far as that is remembered. */
  readonly guildOf: (channelId: string) => Promise<ChannelGuild>;
  readonly settings: Pick<AccessSettings, 'channelIds'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The guild of a channel that the client holds; `undefined` for a DM, and for others. */
function guildIdOf({ channels }: Client, channelId: string): string | undefined {
  const channel = channels.cache.get(channelId);
  return channel === undefined || channel.isDMBased() ? undefined : channel.guildId;
}

/** The shard of a channel that the client holds; of another one the first: Discord tells of threads before what is said there. */
export function shardIn(client: Client, channelId: string, { count }: Shards): number {
  return shardOf(guildIdOf(client, channelId), count);
}

/**
 * The shard of a channel that was known before, which the client need not hold; what is remembered tells its guild. Where nothing does it may be a direct message,
 * and the first shard has it until it knows better.
 */
export async function shardOfKnown(channelId: string, options: ChannelsOptions): Promise<number> {
  const { client, shards } = options;
  if (shards.count === 1) return 0;
  if (client.channels.cache.has(channelId)) return shardIn(client, channelId, shards);
  const guild = await rememberedGuild(channelId, options);
  return shardOf(guild.kind === 'guild' ? guild.guildId : undefined, shards.count);
}

/** Never rejects: what cannot be read is unknown. */
export async function rememberedGuild(
  channelId: string,
  { guildOf, logger }: Pick<ChannelsOptions, 'guildOf' | 'logger'>,
): Promise<ChannelGuild> {
  try {
    return await guildOf(channelId);
  } catch (error) {
    logger.warn('what is remembered of a channel could not be read', { channelId, error });
    return { kind: 'unknown' };
  }
}

/** Has Discord tell what a channel is, where nothing else does; resolves with whether the client holds it now: not one of another process's guilds, nor one that is deleted. Never rejects. */
export async function isFound(
  channelId: string,
  { client, logger }: Pick<ChannelsOptions, 'client' | 'logger'>,
): Promise<boolean> {
  try {
    await client.channels.fetch(channelId);
  } catch (error) {
    logger.info('a channel could not be looked up', { channelId, error });
  }
  return client.channels.cache.has(channelId);
}

/** All channels to be looked at: those where something was said of late, as Discord tells, then those where the bot was active last. */
export async function inOrder(
  open: readonly string[],
  { knownChannels, logger }: Pick<ChannelsOptions, 'knownChannels' | 'logger'>,
): Promise<readonly string[]> {
  const known = await knownChannels().catch((error: unknown) => {
    logger.warn('the channels to catch up with are not known', { error });
    return [];
  });
  const byActivity = known.toSorted((a, b) => b.activeAt - a.activeAt);
  return [...new Set([...open, ...byActivity.map(({ id }) => id)])];
}

/**
 * Channels that this process knows of by itself: DMs, and wherever in a guild something was said since `floor`, as it may have mentioned
 * the bot where it never spoke.
 */
export function openChannels({ client, settings }: ChannelsOptions, floor: string): string[] {
  const open = client.channels.cache.filter((channel) => {
    if (channel.isDMBased()) return channel.type === ChannelType.DM;
    // Discord tells of every channel, also of those that the bot may not read.
    return (
      wasUsedSince(channel, floor) === true && worksInChannel(settings, channel) && botMay('read', channel)
    );
  });
  return [...open.keys()];
}

/** Of a shard's channels those in which nothing was said since `floor`. Each guild channel's newest message is told by the guild's own event, which saves most requests. */
export function quietChannels(
  client: Client,
  { count }: Shards,
  shard: number,
  floor: string,
): ReadonlySet<string> {
  const quiet = new Set<string>();
  for (const guild of client.guilds.cache.values())
    if (shardOf(guild.id, count) === shard)
      for (const channel of guild.channels.cache.values())
        if (wasUsedSince(channel, floor) === false) quiet.add(channel.id);
  return quiet;
}

/** Whether somebody spoke there since; `undefined` where a request tells. */
function wasUsedSince(channel: GuildBasedChannel, floor: string): boolean | undefined {
  if (!('lastMessageId' in channel)) return undefined;
  // The library's types leave out that it may not have been told.
  const lastId: string | null | undefined = channel.lastMessageId;
  if (lastId === undefined) return true;
  // Of a thread it may be unknown; in another channel that has none nobody has ever spoken.
  if (lastId === null) return channel.isThread() ? undefined : false;
  return compareSnowflakes(lastId, floor) >= 0;
}
