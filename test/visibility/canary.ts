import type { Audience, Place } from '../../src/core/place.ts';

export type PersonName = 'alice' | 'bob';

/**
 * A word that somebody wrote once: where, who could read it there, and whether its owner had it remembered in
 * public or shared it since.
 */
export interface Canary {
  readonly word: string;
  readonly owner: PersonName;
  readonly audience: Audience;
  readonly homeId: string;
  readonly saidIn: 'hall' | 'office' | 'thread' | 'backroom' | 'lounge' | 'cellar' | 'dm';
  /** The server that it was said in. */
  readonly guildId?: string | undefined;
  /** Said in an age-restricted channel. */
  readonly isAgeRestricted: boolean;
  /** Whatever their age; absent where nobody knew. */
  readonly readers?: readonly string[] | undefined;
  isShared: boolean;
}

const canaryWord = /canary\d+x/gu;

/** The canary words of a text, each once. */
export function canaryWords(text: string): readonly string[] {
  return [...new Set(text.match(canaryWord))];
}

/** Rules [V0], [V1], [V2] and [V2a] in the words of a person who wants to be able to trust the bot; written apart from the product's own. */
export function mayBeTold(canary: Canary, speaker: PersonName, place: Place): boolean {
  if (canary.owner !== speaker) return false;
  if (place.audience === 'dm' || canary.isShared) return true;
  if (canary.guildId !== place.guildId) return false;
  if (canary.audience === 'public') return true;
  const isSameRoom = canary.homeId === place.homeId || canary.homeId === place.parentId;
  const isPrivate = canary.audience === 'private' && place.audience === 'private';
  const isForAges = !canary.isAgeRestricted || isAgeRestricted(place);
  return (
    isPrivate && isSameRoom && isForAges && !isSomebodyNew(canary.readers, whoeverTheirAge(place.readers))
  );
}

export function isAgeRestricted({ readers = [] }: Pick<Place, 'readers'>): boolean {
  return readers.some((reader) => reader.startsWith('18:'));
}

export function whoeverTheirAge(readers: readonly string[] | undefined): readonly string[] | undefined {
  return readers?.map((reader) => reader.replace('18:', '')).filter((reader) => reader !== '');
}

/** Whether somebody reads now who may not have read then; `@everyone` is somebody too. */
export function isSomebodyNew(
  then: readonly string[] | undefined,
  now: readonly string[] = ['anybody'],
): boolean {
  if (then?.includes('@everyone') === true) return now.includes('anybody');
  return now.some((reader) => then?.includes(reader) !== true);
}
