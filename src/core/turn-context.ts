import type { IncomingMessage } from './chat.ts';
import type { Place, SessionKey } from './place.ts';

/** The Discord user who wrote the message. */
export interface Speaker {
  readonly id: string;
  /** Display name; data, never trusted. */
  readonly name: string;
  /** The bot's owner: has the workspace as notebook [N1]. */
  readonly isOwner: boolean;
  /** Another bot that is answered here: what it says enters nobody's memory, nor one of its own [G2]. */
  readonly isBot?: true;
}

/**
 * One of the speaker's own messages that make up a turn. Its text is all that counts as the speaker's words [M5a]; files and what it
 * replies to or passes on are for this turn only.
 */
export type TurnMessage = Pick<
  IncomingMessage,
  'id' | 'text' | 'at' | 'attachments' | 'shown' | 'files' | 'repliesTo' | 'forwards'
>;

/** What a turn is about: who speaks where and what was said. Layers and tools are given this and nothing of Discord. */
export interface TurnContext {
  readonly speaker: Speaker;
  /** With those who can read the answer: whatever is used of memory is judged by it [V2]. */
  readonly place: Place;
  /** Where it was said, in case somebody was let into the channel since: what is stored of it stays as private as it was said [V1]. */
  readonly saidIn?: Place;
  /** At least one, oldest first; taken together as one turn [F3]. */
  readonly messages: readonly TurnMessage[];
  readonly now: Date;
  /**
   * Whether the model's context holds text of other people or an attachment's content, or what may repeat these, such as an answer that was made
   * with them; then what it writes to memory, and its answer, may be theirs [M5a]. True as long as nothing is known.
   */
  readonly hasThirdPartyText: boolean;
}

export function sessionOf(context: Pick<TurnContext, 'speaker' | 'place'>): SessionKey {
  return { channelId: context.place.channelId, userId: context.speaker.id };
}

/** The texts of the turn as one, for matching. */
export function turnText(context: Pick<TurnContext, 'messages'>): string {
  return context.messages.map((message) => message.text).join('\n');
}

/** Milliseconds. */
const answerCountsMs = 30 * 60_000;

/**
 * Whether an answer that may repeat others' words or a file still counts as these [M5a]: `at` is when they were last in view themselves (ISO 8601, UTC). An
 * answer made with nothing but such an answer in view has the same time as that one, so that the half hour ends in a conversation that goes on, too.
 */
export function answerCounts(at: string, now: Date): boolean {
  return now.getTime() - Date.parse(at) < answerCountsMs;
}
