import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';

import {
  ChannelType,
  PermissionFlagsBits,
  PermissionsBitField,
  RESTJSONErrorCodes,
  type Channel,
  type Client,
  type Guild,
  type GuildBasedChannel,
  type NonThreadGuildBasedChannel,
} from 'discord.js';

import type { PresentPlace } from '../core/channels.ts';
import type { Logger } from '../core/logger.ts';
import { adultsAmong, dmPlace, everyone, hasMoreReaders, type Place } from '../core/place.ts';
import { hasErrorCode } from './refusals.ts';
import { hasKnownOverwrites, neededToRead, watchGoneChannels } from './permissions.ts';

/** `undefined` where the bot may not see it, or cannot now. */
export type FindChannel = (channelId: string) => Promise<Channel | undefined>;

/** `memberRole` lets people into a guild, and never rejects [V0]. */
export interface Places {
  /** `undefined` unless the caches hold all of it. */
  readonly known: (channelId: string) => Channel | undefined;
  readonly find: FindChannel;
  readonly memberRole: (guildId: string) => Promise<string | undefined>;
}

/** Unknown readers make a place private [V0]. `undefined` for a group DM. */
export async function placeOf(channel: Channel, places: Places): Promise<Place | undefined> {
  if (channel.isDMBased()) {
    if (channel.type !== ChannelType.DM) return undefined;
    return dmPlace(channel.id);
  }
  const { id: channelId, guildId } = channel;
  const common = { channelId, guildId, channelName: channel.name.toWellFormed() };
  const memberRole = await places.memberRole(guildId);
  if (!channel.isThread()) {
    const categoryId = channel.parentId ?? undefined;
    return { ...common, ...readersOf(channel, memberRole), homeId: channelId, categoryId };
  }
  const { parentId } = channel;
  if (parentId === null) return { ...common, audience: 'private', homeId: channelId };
  const parent = await places.find(parentId);
  const known = parent === undefined || parent.isDMBased() || parent.isThread() ? undefined : parent;
  const { audience, readers } = known === undefined ? unknownReaders : readersOf(known, memberRole);
  const isPrivate = channel.type === ChannelType.PrivateThread;
  return {
    ...common,
    // Its members take a privileged intent, so its readers are its parent's.
    audience: isPrivate ? 'private' : audience,
    readers,
    homeId: isPrivate ? channelId : parentId,
    parentId,
    parentName: known?.name.toWellFormed(),
    categoryId: known?.parentId ?? undefined,
  };
}

/** Whether everybody who is let into the guild can read a channel [V0]. */
export function isPublic(channel: GuildBasedChannel, memberRole?: string): boolean {
  if (channel.type === ChannelType.PrivateThread) return false;
  const judged = channel.isThread() ? channel.parent : channel;
  return judged !== null && readersOf(judged, memberRole).audience === 'public';
}

const unknownReaders: Pick<Place, 'audience' | 'readers'> = { audience: 'private' };

/** More readers than this become a hash, which no other list has. */
const mostReaders = 24;

/** As far as the caches tell [V0]; an age-restricted channel is private. */
function readersOf(
  channel: NonThreadGuildBasedChannel,
  memberRole: string | undefined,
): Pick<Place, 'audience' | 'readers'> {
  // While a guild is unavailable after a gap, its permissions may be outdated.
  const { available, roles } = channel.guild;
  if (!available || !roles.cache.has(channel.guildId) || !hasKnownOverwrites(channel)) return unknownReaders;
  const known = permittedIn(channel, memberRole);
  return isAgeRestricted(channel) ? { audience: 'private', readers: adultsAmong(known.readers) } : known;
}

function isAgeRestricted(channel: GuildBasedChannel): boolean {
  const judged = channel.isThread() ? channel.parent : channel;
  return judged !== null && 'nsfw' in judged && judged.nsfw;
}

/** Nothing age-restricted is told in a server channel that is not [V0]. */
export function hasAgesFor(here: Channel, there: GuildBasedChannel): boolean {
  return here.isDMBased() || !isAgeRestricted(there) || isAgeRestricted(here);
}

/** Roles, people, and in voice channels pairs of these; neither the guild's owner nor the bot. */
function permittedIn(
  channel: NonThreadGuildBasedChannel,
  memberRole: string | undefined,
): Required<Pick<Place, 'audience' | 'readers'>> {
  const { guild, client } = channel;
  const roles = guild.roles.cache;
  const needed = neededToRead(channel);
  const reads = (...ids: readonly string[]) => grantedTo(ids, channel, needed) === needed;
  if (reads()) return { audience: 'public', readers: [everyone] };
  const roleIds = roles
    .filter(({ id, tags }) => id !== guild.id && tags?.botId !== client.user.id)
    .map(({ id }) => id);
  const people = [...channel.permissionOverwrites.cache.keys()].filter(
    (id) => !roles.has(id) && id !== client.user.id && id !== guild.ownerId,
  );
  const each = [...roleIds, ...people].map((id) => ({ id, bits: grantedTo([id], channel, needed) }));
  const halves = each.filter(({ bits }) => bits !== 0n && bits !== needed);
  const pairs = halves.flatMap((a) =>
    halves.filter((b) => b.bits > a.bits && reads(a.id, b.id)).map((b) => `${a.id}+${b.id}`),
  );
  const ids = [...each.filter(({ bits }) => bits === needed).map(({ id }) => id), ...pairs].toSorted();
  const hash = createHash('sha256').update(ids.join());
  const isForMembers = memberRole !== undefined && roles.has(memberRole) && reads(memberRole);
  return {
    audience: isForMembers ? 'public' : 'private',
    readers: ids.length <= mostReaders ? ids : [`#${hash.digest('hex').slice(0, 16)}`],
  };
}

/** With more overwrites than this, who reads what counts as unknown. */
const mostListed = 60;

/** Whether all readers of one channel can read another [B4]: stricter than being public [V0]. */
export function readersCanRead(here: GuildBasedChannel, there: GuildBasedChannel): boolean {
  if (here.id === there.id) return true;
  if (there.type === ChannelType.PrivateThread || here.guildId !== there.guildId || !here.guild.available)
    return false;
  const [from, to] = [here, there].map((channel) => (channel.isThread() ? channel.parent : channel));
  if (!from || !to) return false;
  if (from.id === to.id) return true;
  if (!hasKnownOverwrites(from) || !hasKnownOverwrites(to)) return false;
  const { guild, client } = from;
  const roles = guild.roles.cache;
  const [neededFrom, neededTo] = [neededToRead(from), neededToRead(to)];
  const reachesBoth = (...ids: readonly string[]): boolean =>
    grantedTo(ids, from, neededFrom) !== neededFrom || grantedTo(ids, to, neededTo) === neededTo;
  const isReader = (id: string): boolean =>
    id !== guild.id &&
    id !== client.user.id &&
    id !== guild.ownerId &&
    roles.get(id)?.tags?.botId !== client.user.id;
  const overwritten = new Set([from, to].flatMap(({ permissionOverwrites: { cache } }) => [...cache.keys()]));
  const listed = [...overwritten].filter(isReader);
  if (listed.length > mostListed) return false;
  // Roles without an overwrite differ only by guild-wide permissions.
  const others = [...roles.keys()].filter((id) => isReader(id) && !overwritten.has(id));
  const base = (id: string): bigint =>
    (roles.get(id)?.permissions.bitfield ?? 0n) & (neededFrom | neededTo | PermissionFlagsBits.Administrator);
  const kinds = [...new Map(others.map((id) => [base(id), id])).values()];
  const all = [...listed, ...kinds];
  return (
    reachesBoth() &&
    all.every((a) => reachesBoth(a)) &&
    listed.every((a) => all.every((b) => reachesBoth(a, b)))
  );
}

/** The needed permissions of somebody with these roles, or of a person, in Discord's order. */
function grantedTo(
  ids: readonly string[],
  { guild, permissionOverwrites }: NonThreadGuildBasedChannel,
  needed: bigint,
): bigint {
  const roles = guild.roles.cache;
  const base = PermissionsBitField.resolve([guild.id, ...ids].map((id) => roles.get(id)?.permissions ?? 0n));
  if ((base & PermissionFlagsBits.Administrator) !== 0n) return needed;
  const levels = [[guild.id], ids.filter((id) => roles.has(id)), ids.filter((id) => !roles.has(id))];
  const granted = levels.reduce((bits, level) => {
    const overwrites = level.flatMap((id) => permissionOverwrites.cache.get(id) ?? []);
    const denied = PermissionsBitField.resolve(overwrites.map(({ deny }) => deny));
    return (bits & ~denied) | PermissionsBitField.resolve(overwrites.map(({ allow }) => allow));
  }, base);
  return granted & needed;
}

/** How long a guild's permissions are awaited; milliseconds. */
const availableWithinMs = 5000;
const lookEveryMs = 50;

/** Otherwise as given, since fewer readers would admit more of memory. */
export function createPresentPlace(places: Places): PresentPlace {
  return async (place) => {
    if (place.audience !== 'private' || place.readers === undefined) return place;
    const channel = await places.find(place.channelId);
    if (channel !== undefined && !channel.isDMBased()) await whenAvailable(channel.guild);
    const unknown = { ...place, readers: undefined };
    const present = (channel === undefined ? undefined : await placeOf(channel, places)) ?? unknown;
    return hasMoreReaders(place, present) ? present : place;
  };
}

async function whenAvailable(guild: Guild): Promise<void> {
  for (let waitedMs = 0; !guild.available && waitedMs < availableWithinMs; waitedMs += lookEveryMs)
    await delay(lookEveryMs);
}

/** Fetches channels that the client's cache holds not at all, or in part. */
export function createPlaces(
  options: Pick<Places, 'memberRole'> & {
    readonly client: Client;
    readonly noteGone: (channelId: string) => void;
    readonly logger: Logger;
  },
): Places {
  const { client, memberRole, noteGone, logger } = options;
  const isGone = watchGoneChannels(client);
  const known: Places['known'] = (channelId) => {
    const cached = client.channels.cache.get(channelId);
    return cached !== undefined && isComplete(cached) ? cached : undefined;
  };
  return {
    memberRole,
    known,
    async find(channelId) {
      if (isGone(channelId)) return undefined;
      const cached = known(channelId);
      if (cached !== undefined) return cached;
      try {
        return (await client.channels.fetch(channelId, { force: true })) ?? undefined;
      } catch (error) {
        logger.warn('a channel could not be fetched', { channelId, error });
        if (hasErrorCode(error, RESTJSONErrorCodes.UnknownChannel)) noteGone(channelId);
        return undefined;
      }
    },
  };
}

function isComplete(channel: Channel): boolean {
  if (channel.isDMBased()) return true;
  // The library's types leave out that it may have no name yet.
  const name: string | undefined = channel.name;
  return name !== undefined && (channel.isThread() ? channel.parentId !== null : hasKnownOverwrites(channel));
}
