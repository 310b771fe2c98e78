import type { Place } from '../core/place.ts';
import { dataText } from '../core/section.ts';
import type { TurnMessage } from '../core/turn-context.ts';
import { attachmentNote, label, visible } from './quoted-text.ts';

/** The message that the model is to answer, and what it should know about it. */
export interface PromptMessage {
  readonly speakerName: string;
  /** At least one, oldest first. */
  readonly messages: readonly TurnMessage[];
  readonly place: Place;
  /** Local date and time, such as `2026-01-15 14:03`. */
  readonly localTime: string;
}

/** The current message in its tags: author, place and local time as attributes, the words as they were written, tags escaped [P3]. */
export function renderMessage(message: PromptMessage): string {
  const from = label(message.speakerName);
  const words = message.messages.map(wordsOf).filter((text) => text !== '');
  const body = dataText(words.join('\n'));
  return `<message from="${from}" where="${whereOf(message.place)}" time="${message.localTime}">\n${body}\n</message>`;
}

function wordsOf(message: TurnMessage): string {
  return [visible(message.text).trim(), attachmentNote(message.attachments)]
    .filter((part) => part !== '')
    .join('\n');
}

function whereOf(place: Place): string {
  if (place.audience === 'dm') return 'direct message';
  const channel = `#${label(place.channelName ?? 'channel')}`;
  const inParent = place.parentName === undefined ? '' : `, a thread in #${label(place.parentName)}`;
  return `${channel}${inParent}, ${place.audience === 'private' ? 'private' : 'public'}`;
}
