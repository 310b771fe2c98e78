import type { IncomingMessage } from './message.ts';
import type { Place, SessionKey } from './place.ts';
import { compareSnowflakes, isSnowflake, snowflakeTime } from './snowflake.ts';
import type { SessionWork, Work } from './writes.ts';

/** Who wrote the message. */
export interface Speaker {
  readonly id: string;
  /** Display name; never trusted. */
  readonly name: string;
  /** Has the workspace as notebook [N1]. */
  readonly isOwner: boolean;
  /** Another bot: what it says enters nobody's memory [G2]. */
  readonly isBot?: true;
}

/** Only its text counts as the speaker's words [M5a], and not if it was heard; files, replies and forwards are for this turn only. */
export type TurnMessage = Pick<
  IncomingMessage,
  | 'id'
  | 'text'
  | 'at'
  | 'editedAt'
  | 'attachments'
  | 'shown'
  | 'heard'
  | 'files'
  | 'repliesTo'
  | 'forwards'
  | 'isProxied'
  | 'askedIn'
>;

/** Who speaks where and what was said, for layers and tools; nothing of Discord. */
export interface TurnContext {
  readonly speaker: Speaker;
  /** Its readers decide which memories may be used [V2]. */
  readonly place: Place;
  /** The place when it was said, if somebody joined since: what is stored stays as private [V1]. */
  readonly originalPlace?: Place;
  /** At least one, oldest first; one turn [F3]. */
  readonly messages: readonly TurnMessage[];
  readonly now: Date;
  /** What is written in the turn is part of it. */
  readonly work: Work;
  /** Whether others' text or a file's is in the model's context [M5a]. True while unknown. */
  readonly hasThirdPartyText: boolean;
}

export function sessionOf(context: Pick<TurnContext, 'speaker' | 'place'>): SessionKey {
  return { channelId: context.place.channelId, userId: context.speaker.id };
}

export function sessionWorkOf({ place, work }: Pick<TurnContext, 'place' | 'work'>): SessionWork {
  return { channelId: place.channelId, ...work };
}

/** Whether a proxy posted what the speaker wrote: nothing is removed without a button [G2a]. */
export function isProxied({ messages }: Pick<TurnContext, 'messages'>): boolean {
  return messages.some((message) => message.isProxied === true);
}

/** Whether the speaker is asked by a button before a change of their memory: then, and beside others' text [M5a]. */
export function asksFirst(context: Pick<TurnContext, 'hasThirdPartyText' | 'messages'>): boolean {
  return context.hasThirdPartyText || isProxied(context);
}

export function turnText(context: Pick<TurnContext, 'messages'>): string {
  return context.messages.map((message) => message.text).join('\n');
}

/**
 * The mark of an answer made with others' text or a file in view [M5a]. The log puts the answer's own id in its place; an
 * answer made while only marked answers counted has the newest of their marks.
 */
export const ownMark = 'own';

/** Milliseconds. */
const markCountsMs = 30 * 60_000;

/** Whether an answer with the mark still counts as others' text [M5a]: half an hour from when the message that it names was sent. */
export function markCounts(mark: string, now: Date): boolean {
  return !isSnowflake(mark) || now.getTime() - snowflakeTime(mark).getTime() < markCountsMs;
}

/** The one that counts longest; `undefined` for none. */
export function newestMark(marks: readonly (string | undefined)[]): string | undefined {
  const known = marks.filter((mark) => mark !== undefined);
  return known.find((mark) => mark === ownMark) ?? known.toSorted(compareSnowflakes).at(-1);
}
