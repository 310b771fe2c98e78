import type { Place } from '../../src/core/place.ts';

/** Where somebody said or was told something that one made-up word stands for, and so who may be told it. */
export interface Origin {
  readonly ownerId: string;
  /** The place as it was when it was said, and as it was when the bot came to read it. */
  readonly places: Place[];
  /** `as-said` unless its owner changed that. */
  scope: 'as-said' | 'everywhere' | 'dm';
}

/** What a person wrote once, told apart from everything else by one made-up word. */
export interface SaidWord extends Origin {
  readonly word: string;
  /** The day that it is about, `YYYY-MM-DD`. */
  day?: string;
  /** The message that says it; absent where it came by a slash command. */
  messageId?: string;
  /** When a proxy had moved it to that message. */
  movedAt?: number;
  /** A copy by a proxy says it later. */
  at: number;
  /** Its owner had been told that nothing is stored. */
  isOffRecord: boolean;
  /** Its owner may have been: it is not known whether they had paused before it was answered. */
  mayBeOffRecord: boolean;
  /** When its owner was told that it is for their DM alone. */
  hiddenAt?: number;
  /** Its owner had it forgotten once and took that back. */
  mayHaveLeftNotes?: true;
  /** An answer said that it is remembered. */
  isAcknowledged: boolean;
  /** When its owner was told that it is forgotten, or it was deleted; `isFinal`: nothing can bring it back. */
  gone?: { readonly at: number; readonly isFinal: boolean; readonly how: string };
  /** The bot has answered it, while nothing stood in the way. */
  isAnswered: boolean;
  /** What happened to it leaves open whether it is kept. */
  isUncertain: boolean;
  /** It was forgotten once, and the messages that said it were hidden. */
  wasForgotten?: boolean;
}

/** A made-up word, and what the scripted model says in its place: so an answer that tells it can be told from a copy of the person's own words. */
export const wordPattern = /zq[0-9a-z]{5}q/gu;
export const echoPattern = /zk[0-9a-z]{5}k/gu;

/** What an answer says in place of the word that it answers: no other answer does. */
export const storedPattern = /z([qr])[0-9a-z]{5}\1/gu;

export function answerOf(word: string): string {
  return `zr${word.slice(2, -1)}r`;
}

export function wordOf(index: number): string {
  return `zq${index.toString(36).padStart(5, '0')}q`;
}

export function echoOf(word: string): string {
  return `zk${word.slice(2, -1)}k`;
}

export function unechoed(echo: string): string {
  return `zq${echo.slice(2, -1)}q`;
}

/**
 * Rules [V0] to [V2a] as a person would put them, independent of the product's code: may this be told to this
 * person in this place?
 */
export function mayBeTold({ ownerId, places, scope }: Origin, speakerId: string, now: Place): boolean {
  if (ownerId !== speakerId) return false;
  if (now.audience === 'dm' || scope === 'everywhere') return true;
  return scope !== 'dm' && places.some((then) => admits(then, now));
}

function admits(then: Place, now: Place): boolean {
  switch (then.audience) {
    case 'public':
      return then.guildId === now.guildId;
    case 'dm':
      return false;
    case 'private': {
      const isSameRoom = then.homeId === now.homeId || then.homeId === now.parentId;
      if (!isSameRoom || now.audience !== 'private') return false;
      const readers = then.readers ?? [];
      return readers.includes('@everyone') || (now.readers ?? []).every((reader) => readers.includes(reader));
    }
  }
}
