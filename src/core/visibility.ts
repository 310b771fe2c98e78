import { z } from 'zod';

import { couldRead, everyone, type Audience, type Place } from './place.ts';

export const visibilitySchema = z.enum(['everywhere', 'here', 'dm']);

/** Where a memory may be used: everywhere, in its channel and the owner's DM, or in the owner's DM only. */
export type Visibility = z.infer<typeof visibilitySchema>;

/** Who may see what comes from a place [V1]: of every layer, in memory and in what documents and logs keep. */
export interface Reach {
  readonly visibility: Visibility;
  /** {@link Place.homeId} of the place it comes from. */
  readonly homeId: string;
  /** Of what is for `here`, {@link Place.readers} of then; without a record it is used in the DM only [V2a]. */
  readonly readers?: readonly string[];
}

/** A reach as it is stored: fields of whatever has one. */
export const reachFields = {
  visibility: visibilitySchema,
  homeId: z.string(),
  readers: z.array(z.string()).readonly().exactOptional(),
};

/** What the rule needs to know of a memory, whatever its layer. */
export interface Remembered extends Reach {
  readonly ownerId: string;
}

/** The reach that what is remembered from a place starts with [V1]. */
export function reachOf({
  audience,
  homeId,
  readers,
}: Pick<Place, 'audience' | 'homeId' | 'readers'>): Reach {
  return reach(visibilityOf(audience), homeId, readers);
}

/** The reach alone, of whatever has one. */
export function pickReach({ visibility, homeId, readers }: Reach): Reach {
  return reach(visibility, homeId, readers);
}

function reach(visibility: Visibility, homeId: string, readers: Reach['readers']): Reach {
  return { visibility, homeId, ...(visibility === 'here' && readers !== undefined ? { readers } : {}) };
}

export function isSameReach(a: Reach, b: Reach): boolean {
  return a.visibility === b.visibility && a.homeId === b.homeId && a.readers?.join() === b.readers?.join();
}

/** What is remembered from a place with this audience starts with this visibility [V1]. */
export function visibilityOf(audience: Audience): Visibility {
  switch (audience) {
    case 'public':
      return 'everywhere';
    case 'private':
      return 'here';
    case 'dm':
      return 'dm';
  }
}

const width: Readonly<Record<Visibility, number>> = { dm: 0, here: 1, everywhere: 2 };

/**
 * The narrower of two reaches: what is made from both may be used only where both may. Of two homes that are as narrow as each other neither
 * admits what was said in the other: that leaves the DM. In one home it is for those who could read both.
 */
export function narrower(a: Reach, b: Reach): Reach {
  if (a.visibility !== 'here' || b.visibility !== 'here')
    return pickReach(isWider(a.visibility, b.visibility) ? b : a);
  if (a.homeId !== b.homeId) return { visibility: 'dm', homeId: a.homeId };
  return reach('here', a.homeId, inBoth(a.readers, b.readers));
}

function inBoth(a: Reach['readers'], b: Reach['readers']): Reach['readers'] {
  if (a === undefined || b === undefined) return undefined;
  if (a.includes(everyone)) return b;
  return b.includes(everyone) ? a : a.filter((reader) => b.includes(reader));
}

/** Whether `a` is usable in strictly more places than `b`. */
export function isWider(a: Visibility, b: Visibility): boolean {
  return width[a] > width[b];
}

/**
 * The one rule of who may be told what where [V2]: a reply in `place` for `speakerId` may use only that speaker's own
 * memories whose visibility admits the place. A `here` memory stops being used in its channel when somebody can read that
 * channel who could not when it was said [V2a], and when the channel counts as public, since an answer there may be used everywhere.
 */
export function mayUse(memory: Remembered, place: Place, speakerId: string): boolean {
  if (memory.ownerId !== speakerId) return false;
  switch (memory.visibility) {
    case 'everywhere':
      return true;
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
export function readersKey({ audience, homeId, parentId, readers }: Place): string {
  return audience === 'private' ? JSON.stringify([homeId, parentId, readers]) : audience;
}
