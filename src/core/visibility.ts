import { z } from 'zod';

import { couldRead, readersOfBoth, type Audience, type Place } from './place.ts';

export const visibilitySchema = z.enum(['everywhere', 'server', 'here', 'dm']);

/** Where a memory may be used: everywhere, in its server or its channel and the owner's DM, or in the owner's DM only. */
export type Visibility = z.infer<typeof visibilitySchema>;

/** Who may see what comes from a place [V1]: of every layer, in memory and in what documents and logs keep. */
export interface Reach {
  readonly visibility: Visibility;
  /** {@link Place.homeId} of the place it comes from. */
  readonly homeId: string;
  /** The server of what is for `server` or `here`; without a record, what is for `server` is used in the DM only. */
  readonly guildId?: string;
  /** Of what is for `here`, {@link Place.readers} of then; without a record it is used in the DM only [V2a]. */
  readonly readers?: readonly string[];
}

/** A reach as it is stored: fields of whatever has one. */
export const reachFields = {
  visibility: visibilitySchema,
  homeId: z.string(),
  guildId: z.string().exactOptional(),
  readers: z.array(z.string()).readonly().exactOptional(),
};

/** What the rule needs to know of a memory, whatever its layer. */
export interface Remembered extends Reach {
  readonly ownerId: string;
}

/** The reach of what is said in a place, and of what is logged, noticed or made of it [V1]. */
export function reachOf({
  audience,
  ...place
}: Pick<Place, 'audience' | 'homeId' | 'guildId' | 'readers'>): Reach {
  return pickReach({ ...place, visibility: visibilityOf(audience) });
}

/** The same of a channel, where nobody may know its place: then it is for its owner's DM [V0]. */
export function reachIn(channelId: string, place: Place | undefined): Reach {
  return place === undefined ? { visibility: 'dm', homeId: channelId } : reachOf(place);
}

/** The reach alone, of whatever has one: without what its visibility does not ask for. */
export function pickReach({ visibility, homeId, guildId, readers }: Reach): Reach {
  return {
    visibility,
    homeId,
    ...((visibility === 'server' || visibility === 'here') && guildId !== undefined ? { guildId } : {}),
    ...(visibility === 'here' && readers !== undefined ? { readers } : {}),
  };
}

export function isSameReach(one: Reach, other: Reach): boolean {
  const [a, b] = [pickReach(one), pickReach(other)];
  return (
    a.visibility === b.visibility &&
    a.homeId === b.homeId &&
    a.guildId === b.guildId &&
    a.readers?.join() === b.readers?.join()
  );
}

/** What is said where such an audience reads along starts with this visibility [V1]. */
export function visibilityOf(audience: Audience): Visibility {
  switch (audience) {
    case 'public':
      return 'server';
    case 'private':
      return 'here';
    case 'dm':
      return 'dm';
  }
}

/** What a person asks for by a command starts with this one: what they have remembered in public is for everywhere [V1]. */
export function askedVisibilityOf(audience: Audience): Visibility {
  return audience === 'public' ? 'everywhere' : visibilityOf(audience);
}

/** Who read along where something was said that has this visibility. */
export function audienceOf(visibility: Visibility): Audience {
  switch (visibility) {
    case 'everywhere':
    case 'server':
      return 'public';
    case 'here':
      return 'private';
    case 'dm':
      return 'dm';
  }
}

const width: Readonly<Record<Visibility, number>> = { dm: 0, here: 1, server: 2, everywhere: 3 };

/**
 * The narrower of two reaches: what is made from both may be used only where both may. Of two homes, or servers, neither admits what was said in the
 * other: that leaves the DM. In one home it is for those who could read both.
 */
export function narrower(a: Reach, b: Reach): Reach {
  const [wide, narrow] = isWider(b.visibility, a.visibility) ? [b, a] : [a, b];
  if (wide.visibility === 'everywhere' || narrow.visibility === 'dm') return pickReach(narrow);
  const isOfBoth =
    a.visibility === b.visibility && a.visibility === 'here'
      ? a.homeId === b.homeId
      : a.guildId !== undefined && a.guildId === b.guildId;
  if (!isOfBoth) return { visibility: 'dm', homeId: narrow.homeId };
  if (wide.visibility === 'server') return pickReach(narrow);
  const { readers: _, ...home } = pickReach(narrow);
  const readers = readersOfBoth(a.readers, b.readers);
  return { ...home, ...(readers === undefined ? {} : { readers }) };
}

/** Whether what has this reach may be told where what has the other one may not. */
export function exceeds(reach: Reach, other: Reach): boolean {
  return reach.visibility !== 'dm' && !isSameReach(reach, narrower(reach, other));
}

/** Whether `a` is usable in strictly more places than `b`, where both come from one place. */
export function isWider(a: Visibility, b: Visibility): boolean {
  return width[a] > width[b];
}

/**
 * The one rule of who may be told what where [V2]: a reply in `place` for `speakerId` may use only that speaker's own
 * memories whose visibility admits the place. A `here` memory stops being used in its channel when somebody can read that
 * channel who could not when it was said [V2a], and when the channel counts as public, since an answer there may be used in all of its server.
 */
export function mayUse(memory: Remembered, place: Place, speakerId: string): boolean {
  if (memory.ownerId !== speakerId) return false;
  switch (memory.visibility) {
    case 'everywhere':
      return true;
    case 'server':
      return place.audience === 'dm' || (memory.guildId !== undefined && memory.guildId === place.guildId);
    case 'here':
      return (
        place.audience === 'dm' ||
        (place.audience === 'private' &&
          (memory.homeId === place.homeId || memory.homeId === place.parentId) &&
          couldRead(memory.readers, place.readers))
      );
    case 'dm':
      return place.audience === 'dm';
  }
}

/**
 * Whether a channel's note may be used in an answer [B2]: everybody who reads the answer can read that channel now. `channel` is the channel, or thread, as
 * it is now; in a DM the asker reads alone, and `canAskerRead` says whether they can read it.
 */
export function mayUseNote(channel: Place, place: Place, canAskerRead: boolean): boolean {
  if (place.audience === 'dm') return canAskerRead;
  if (channel.guildId === undefined || channel.guildId !== place.guildId) return false;
  if (channel.homeId === place.homeId || channel.homeId === place.parentId) return true;
  return channel.audience === 'public' && couldRead(channel.readers, place.readers);
}

/** What {@link mayUse} asks of a place: where two have the same, the same memories may be used. */
export function readersKey({ audience, guildId, homeId, parentId, readers }: Place): string {
  return JSON.stringify([audience, guildId, ...(audience === 'private' ? [homeId, parentId, readers] : [])]);
}
