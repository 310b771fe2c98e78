import type { Place } from '../../core/place.ts';
import { mayUse } from '../../core/visibility.ts';
import type { Visibility } from '../../core/visibility.ts';

/** Where passages come from; `scope` of a search names one of them or all [C1]. */
export const sourceNames = ['detail', 'messages', 'notebook', 'items'] as const;

export type SourceName = (typeof sourceNames)[number];

/** Who may be told a passage where [V2]. Passages of one origin share one object. */
export interface Reach {
  readonly visibility: Visibility;
  readonly homeId: string;
}

/** What a passage is cited by. */
export type Reference =
  | {
      readonly kind: 'message';
      readonly channelId: string;
      /** Absent in DMs. */
      readonly guildId?: string;
      readonly messageId: string;
      /** The number of its line in `messages.jsonl`. */
      readonly line: number;
    }
  | {
      readonly kind: 'line';
      /** As the memory tools name the file: `detail/auth-design.md`. */
      readonly path: string;
      /** From 1. */
      readonly line: number;
      /** The session that a file belongs to, where it belongs to one. */
      readonly channelId?: string;
    }
  | { readonly kind: 'item'; readonly id: string };

/** What is found as one: a message, a line of a file, an item. */
export interface RecallUnit {
  readonly text: string;
  /** Empty where nobody is named. */
  readonly author: string;
  /** ISO 8601; absent where it is not known. */
  readonly at?: string;
  /** Said by the bot, whose words count less. */
  readonly isBot: boolean;
  readonly reach: Reach;
  /** Neighbours in a file are neighbours in meaning only within one stretch: a sitting of a conversation, a file, an item. */
  readonly stretch: number;
  readonly reference: Reference;
}

/** Whether a passage of `ownerId` may be used in a reply to `speakerId` in `place` [V2]. */
export function mayRecall(reach: Reach, ownerId: string, place: Place, speakerId: string): boolean {
  return mayUse({ ownerId, visibility: reach.visibility, homeId: reach.homeId }, place, speakerId);
}
