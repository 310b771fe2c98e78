import type { Place } from '../../src/core/place.ts';
import type { WorldChannel } from './world.ts';

/** What a person wrote once, told apart from everything else by one made-up word. */
export interface SaidWord {
  readonly word: string;
  readonly ownerId: string;
  /** The message that says it; absent where it came by a slash command. */
  readonly messageId?: string;
  /** Where it was said, as it was then. */
  readonly place: Place;
  readonly at: number;
  /** `here` unless its owner changed that. */
  scope: 'as-said' | 'everywhere' | 'dm';
  /** An answer said that it is remembered. */
  isAcknowledged: boolean;
  /** When its owner was told that it is forgotten, or it was deleted; `isFinal`: nothing can bring it back. */
  gone?: { readonly at: number; readonly isFinal: boolean; readonly how: string };
  /** What happened to it leaves open whether it is kept. */
  isUncertain: boolean;
}

/** A made-up word, and what the scripted model says in its place: so an answer that tells it can be told from a copy of the person's own words. */
export const wordPattern = /zq[0-9a-z]{5}q/gu;
export const echoPattern = /zk[0-9a-z]{5}k/gu;

export function wordOf(index: number): string {
  return `zq${index.toString(36).padStart(5, '0')}q`;
}

export function echoOf(word: string): string {
  return `zk${word.slice(2, -1)}k`;
}

export function unechoed(echo: string): string {
  return `zq${echo.slice(2, -1)}q`;
}

/** Rules [V0] to [V2a] in the words of a person who wants to be able to trust the bot, written apart from the product's own: may this be told to this person in a channel with such readers? */
export function mayBeTold(
  said: Pick<SaidWord, 'ownerId' | 'place' | 'scope'>,
  speakerId: string,
  channel: WorldChannel,
  place: Place,
): boolean {
  if (said.ownerId !== speakerId) return false;
  if (channel.kind === 'dm' || said.scope === 'everywhere') return true;
  if (said.scope === 'dm') return false;
  switch (said.place.audience) {
    case 'public':
      return true;
    case 'dm':
      return false;
    case 'private': {
      const isSameRoom = said.place.homeId === place.homeId || said.place.homeId === place.parentId;
      if (!isSameRoom || place.audience !== 'private') return false;
      const then = said.place.readers ?? [];
      return then.includes('@everyone') || (place.readers ?? []).every((reader) => then.includes(reader));
    }
  }
}
