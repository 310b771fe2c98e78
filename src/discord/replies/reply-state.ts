import { sentMaxChars, type Footer } from '../../core/reply.ts';
import type { EmojiNamed } from './discord-form.ts';
import { withFooter, splitReply, visiblePart, withoutForeignMarks, withSignsShown } from './split-reply.ts';

const editPauseMs = 1200;
const firstPauseMs = 200;
/** What the last part of a split answer leaves free for a footer, in characters. */
const footerRoom = 200;

/** `content` is unknown after a restart. */
export interface StandingMessage {
  readonly id: string;
  readonly content?: string;
  readonly hasButtons?: boolean;
}

/**
 * A reply on its way:
 *
 *     growing ──── finish ────► finishing ── all is there ──► sent
 *      │  ▲ │                    │   │  │
 *      │  │ └─ may not be shown ─┼──►│ held
 *      │  │                      │   └─ a message was deleted ──► gone
 *      │  └─ (a refusal only pauses it: finishing tries again) ── paused
 *      └──────── take away, from anywhere but `sent` ──► taking-away ── nothing is left ──► taken-away
 */
export interface ReplyState {
  readonly phase:
    | 'growing'
    | 'paused'
    | 'finishing'
    | 'held'
    | 'gone'
    | 'taking-away'
    | 'sent'
    | 'taken-away';
  readonly text: string;
  readonly present: readonly StandingMessage[];
  /** Set where the words are a model's, none of which may look like a footer. */
  readonly emojiNamed: EmojiNamed | undefined;
  readonly footer?: Footer | undefined;
  /** No edits and no first message before this time; milliseconds since the epoch. */
  readonly notBefore?: number | undefined;
}

export interface Chunk {
  readonly content: string;
  readonly isLast?: true;
}

export type ReplyStep =
  | { readonly kind: 'rest' }
  | { readonly kind: 'wait'; readonly milliseconds: number }
  | ({ readonly kind: 'post'; readonly index: number } & Chunk)
  | ({ readonly kind: 'edit'; readonly index: number; readonly id: string } & Chunk)
  | { readonly kind: 'delete'; readonly id: string }
  | { readonly kind: 'end' };

export function newReply(present: readonly string[], emojiNamed?: EmojiNamed): ReplyState {
  return { phase: 'growing', text: '', present: present.map((id) => ({ id })), emojiNamed };
}

export function withText(state: ReplyState, text: string, now: number): ReplyState {
  if (state.phase !== 'growing' && state.phase !== 'paused') return state;
  const isFirst = state.notBefore === undefined && state.present.length === 0 && text.trim() !== '';
  return { ...state, text, notBefore: isFirst ? now + firstPauseMs : state.notBefore };
}

export function finishing(state: ReplyState, text: string, footer?: Footer): ReplyState {
  if (state.phase !== 'growing' && state.phase !== 'paused') return state;
  return { ...state, phase: 'finishing', text, footer };
}

export function takingAway(state: ReplyState): ReplyState {
  return state.phase === 'sent' || state.phase === 'taken-away' ? state : { ...state, phase: 'taking-away' };
}

/** Does not change what is over already. */
export function stopped(state: ReplyState, phase: 'paused' | 'held' | 'gone'): ReplyState {
  return state.phase === 'growing' || state.phase === 'paused' || state.phase === 'finishing'
    ? { ...state, phase }
    : state;
}

/** A new id is the reply's next message. */
export function withMessage(state: ReplyState, message: StandingMessage, now: number): ReplyState {
  const isKnown = state.present.some(({ id }) => id === message.id);
  const present = isKnown
    ? state.present.map((each) => (each.id === message.id ? message : each))
    : [...state.present, message];
  return { ...state, present: present, notBefore: now + editPauseMs };
}

export function withoutMessage(state: ReplyState, messageId: string): ReplyState {
  return { ...state, present: state.present.filter(({ id }) => id !== messageId) };
}

/** While a reply grows, superfluous messages stay. */
export function nextStep(state: ReplyState, now: number): ReplyStep {
  switch (state.phase) {
    case 'growing':
      // Until then the text need not be split.
      if (state.present.length === 0 && state.notBefore !== undefined && state.notBefore > now)
        return { kind: 'wait', milliseconds: state.notBefore - now };
      return (
        nextChange(state, chunksOf({ ...state, text: visiblePart(state.text) }), now) ?? { kind: 'rest' }
      );
    case 'finishing': {
      const chunks = finalChunks(state);
      // Nothing more is awaited before the first message.
      const notBefore = state.present.length === 0 ? 0 : state.notBefore;
      const change = nextChange({ ...state, notBefore }, chunks, now);
      if (change !== undefined) return change;
      const superfluous = state.present.slice(chunks.length).at(-1);
      return superfluous === undefined ? { kind: 'end' } : { kind: 'delete', id: superfluous.id };
    }
    case 'taking-away': {
      const last = state.present.at(-1);
      return last === undefined ? { kind: 'end' } : { kind: 'delete', id: last.id };
    }
    case 'paused':
    case 'held':
    case 'gone':
    case 'sent':
    case 'taken-away':
      return { kind: 'rest' };
  }
}

/** The whole reply: the last of its messages has the footer, and room for more of it. */
function finalChunks(state: ReplyState): readonly Chunk[] {
  const lines = state.footer?.lines ?? [];
  const isSplit = state.emojiNamed !== undefined && chunksOf(state).length > 1;
  const room = Math.max(isSplit ? footerRoom : 0, withFooter('', lines).length);
  return chunksOf(state, sentMaxChars - room).map((chunk, index, { length }) =>
    index < length - 1 ? chunk : { content: withFooter(chunk.content, lines), isLast: true },
  );
}

function chunksOf(
  { text, emojiNamed }: Pick<ReplyState, 'text' | 'emojiNamed'>,
  lastMax?: number,
): readonly Chunk[] {
  const shown = emojiNamed === undefined ? text : withSignsShown(withoutForeignMarks(text, emojiNamed));
  return splitReply(shown, sentMaxChars, lastMax).map((content) => ({ content }));
}

function nextChange(
  { present, notBefore = 0, footer }: ReplyState,
  chunks: readonly Chunk[],
  now: number,
): ReplyStep | undefined {
  const index = chunks.findIndex(
    ({ content, isLast }, at) =>
      present[at]?.content !== content ||
      (isLast === true && hasButtons(footer) && present[at].hasButtons !== true),
  );
  const chunk = chunks[index];
  if (chunk === undefined) return undefined;
  const message = present[index];
  if (notBefore > now && (message !== undefined || present.length === 0))
    return { kind: 'wait', milliseconds: notBefore - now };
  return message === undefined
    ? { kind: 'post', index, ...chunk }
    : { kind: 'edit', index, id: message.id, ...chunk };
}

export function hasButtons(footer: Footer | undefined): footer is Footer {
  return footer !== undefined && footer.buttons.length > 0;
}
