import type { Message, Presence, ThreadChannel } from '../world/entities.ts';

/** Something that people see in Discord. Messages are the sandbox's own, so they show their newest wording. */
export type Happening =
  | Said
  | { readonly kind: 'deleted'; readonly message: Message; readonly onlyFor?: string }
  | {
      readonly kind: 'reacted' | 'unreacted';
      readonly message: Message;
      readonly userId: string;
      readonly emoji: string;
    }
  | {
      readonly kind: 'voted' | 'unvoted';
      readonly message: Message;
      readonly userId: string;
      readonly answerId: number;
    }
  | { readonly kind: 'pinned' | 'unpinned' | 'cleared of reactions'; readonly message: Message }
  | { readonly kind: 'thread'; readonly thread: ThreadChannel }
  | { readonly kind: 'presence'; readonly presence: Presence };

export interface Said {
  readonly kind: 'said';
  readonly message: Message;
  /** It was seen before, with other words. */
  readonly isCorrection: boolean;
  /** The id of the one person who can see it; absent for a message of the channel. */
  readonly onlyFor?: string;
}

/**
 * What is left to see when all of it has happened, in order: a message once, in its last wording; nothing of a message that
 * came and went, or of a reaction that did.
 */
export function leftInTheEnd(happenings: readonly Happening[]): readonly Happening[] {
  return happenings.reduce<readonly Happening[]>((left, happening) => {
    switch (happening.kind) {
      case 'said': {
        const isKnown = left.some((earlier) => earlier.kind === 'said' && isSameMessage(earlier, happening));
        return isKnown ? left : [...left, happening];
      }
      case 'deleted': {
        const cameNow = left.some(
          (earlier) => earlier.kind === 'said' && !earlier.isCorrection && isSameMessage(earlier, happening),
        );
        const others = left.filter((earlier) => !isSameMessage(earlier, happening));
        return cameNow ? others : [...others, happening];
      }
      case 'reacted':
      case 'unreacted': {
        const opposite = happening.kind === 'reacted' ? 'unreacted' : 'reacted';
        const others = left.filter(
          (earlier) =>
            !(
              earlier.kind === opposite &&
              isSameMessage(earlier, happening) &&
              earlier.userId === happening.userId &&
              earlier.emoji === happening.emoji
            ),
        );
        return others.length < left.length ? others : [...left, happening];
      }
      case 'presence':
        return [...left.filter(({ kind }) => kind !== 'presence'), happening];
      case 'voted':
      case 'unvoted':
      case 'pinned':
      case 'unpinned':
      case 'cleared of reactions':
      case 'thread':
        return [...left, happening];
    }
  }, []);
}

function isSameMessage(a: Happening, b: Happening): boolean {
  return 'message' in a && 'message' in b && a.message.id === b.message.id;
}
