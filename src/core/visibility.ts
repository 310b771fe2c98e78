import type { Audience, Place } from './place.ts';

/** Where a memory may be used: everywhere, in its channel and the owner's DM, or in the owner's DM only. */
export type Visibility = 'everywhere' | 'here' | 'dm';

/** What the rule needs to know of a memory, whatever its layer. */
export interface Remembered {
  readonly ownerId: string;
  readonly visibility: Visibility;
  /** {@link Place.homeId} of the place it comes from. */
  readonly homeId: string;
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

/** The narrower of two visibilities: what is made from both may be used only where both may. */
export function narrower(a: Visibility, b: Visibility): Visibility {
  return width[a] <= width[b] ? a : b;
}

/** Whether `a` is usable in strictly more places than `b`. */
export function isWider(a: Visibility, b: Visibility): boolean {
  return width[a] > width[b];
}

/**
 * The one rule of who may be told what where [V2]: a reply in `place` for `speakerId` may use only that speaker's own
 * memories whose visibility admits the place. A `here` memory stops being used in its channel when that channel
 * becomes public, since it was said before the public could read along.
 */
export function mayUse(memory: Remembered, place: Place, speakerId: string): boolean {
  if (memory.ownerId !== speakerId) return false;
  switch (memory.visibility) {
    case 'everywhere':
      return true;
    case 'here':
      return place.audience === 'dm' || (place.audience === 'private' && coversHome(memory.homeId, place));
    case 'dm':
      return place.audience === 'dm';
  }
}

function coversHome(homeId: string, place: Place): boolean {
  return homeId === place.homeId || homeId === place.parentId;
}
