import { isDeepStrictEqual } from 'node:util';

import { z } from 'zod';

import { couldRead, readersOfBoth, type Audience, type Place } from './place.ts';

export const visibilitySchema = z.enum(['everywhere', 'server', 'here', 'dm']);

/** Everywhere; in its server, or its channel, and the owner's DM; or only in that DM. */
export type Visibility = z.infer<typeof visibilitySchema>;

export const reachFields = {
  visibility: visibilitySchema,
  /** `Place.homeId` of the place it comes from. */
  homeId: z.string(),
  /** For `server` or `here`; without it, `server` means the DM only. */
  guildId: z.string().optional(),
  /** For `here`, `Place.readers` of then; without it, the DM only [V2a]. */
  readers: z.array(z.string()).readonly().optional(),
};

/** Who may see what comes from a place [V1], in every layer. */
export type Reach = Readonly<z.infer<z.ZodObject<typeof reachFields>>>;

export interface Remembered extends Reach {
  readonly ownerId: string;
}

/** The reach of what is said in a place, and of all that is made of it [V1]. */
export function reachOf({
  audience,
  ...place
}: Pick<Place, 'audience' | 'homeId' | 'guildId' | 'readers'>): Reach {
  return pickReach({ ...place, visibility: visibilityOf(audience) });
}

/** The same of a channel; of an unknown place, the owner's DM [V0]. */
export function reachIn(channelId: string, place: Place | undefined): Reach {
  return place === undefined ? { visibility: 'dm', homeId: channelId } : reachOf(place);
}

/** Drops what its visibility does not need. */
export function pickReach({ visibility, homeId, guildId, readers }: Reach): Reach {
  return {
    visibility,
    homeId,
    ...((visibility === 'server' || visibility === 'here') && guildId !== undefined ? { guildId } : {}),
    ...(visibility === 'here' && readers !== undefined ? { readers } : {}),
  };
}

export function isSameReach(one: Reach, other: Reach): boolean {
  return isDeepStrictEqual(pickReach(one), pickReach(other));
}

/** Of what is said before such an audience [V1]. */
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

/** Of what a person asks for by a command: from public places it is for everywhere [V1]. */
export function explicitVisibilityOf(audience: Audience): Visibility {
  return audience === 'public' ? 'everywhere' : visibilityOf(audience);
}

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

/** What is made from both may be used only where both may; of two homes or servers, in the DM. */
export function narrower(a: Reach, b: Reach): Reach {
  const [wide, narrow] = isWider(b.visibility, a.visibility) ? [b, a] : [a, b];
  if (wide.visibility === 'everywhere' || narrow.visibility === 'dm') return pickReach(narrow);
  const isOfBoth =
    a.visibility === b.visibility && a.visibility === 'here'
      ? a.homeId === b.homeId
      : a.guildId !== undefined && a.guildId === b.guildId;
  if (!isOfBoth) return { visibility: 'dm', homeId: narrow.homeId };
  if (wide.visibility === 'server') return pickReach(narrow);
  return pickReach({ ...narrow, readers: readersOfBoth(a.readers, b.readers) });
}

/** Whether `reach` allows places that `other` does not. */
export function exceeds(reach: Reach, other: Reach): boolean {
  return reach.visibility !== 'dm' && !isSameReach(reach, narrower(reach, other));
}

/** Whether `a` allows strictly more than `b`, both from one place. */
export function isWider(a: Visibility, b: Visibility): boolean {
  return width[a] > width[b];
}

/**
 * The one rule of who may be told what where [V2]: a reply uses only the speaker's own memories whose
 * visibility admits the place. A `here` memory is no longer used in its channel once somebody new can read that
 * [V2a], or once it is public, as answers there may be used in all of its server.
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
