import { MessageFlags, RESTJSONErrorCodes, type APIMessage } from 'discord.js';

import {
  sentMaxChars,
  type FinishedReply,
  type Footer,
  type GrowingReply,
  type ReplyStart,
} from '../../core/reply.ts';
import type { Logger } from '../../core/logger.ts';
import { isSnowflake } from '../../core/snowflake.ts';
import { sleep, type Clock } from '../../core/time.ts';
import { answerRows, type AnswerRow } from '../buttons.ts';
import { mayHaveForgottenNonces, noPings, sentOnce, type DiscordApi } from '../discord-api.ts';
import type { EmojiNamed } from './discord-form.ts';
import { hasErrorCode, isGone, pauseBeforeSending, refusalOf, sendUntilTaken } from '../refusals.ts';
import { splitReply, visiblePart, withFooter, withoutForeignMarks, withSignsShown } from './split-reply.ts';

export interface RepliesOptions {
  readonly api: Pick<
    DiscordApi,
    | 'postMessage'
    | 'editMessage'
    | 'deleteMessage'
    | 'messagesAfter'
    | 'message'
    | 'showTyping'
    | 'openThread'
    | 'openDm'
    | 'react'
  >;
  /** Even from an earlier try; usually before the gateway tells of it. */
  readonly onSent: (message: APIMessage) => void;
  readonly onEdited: (message: APIMessage) => void;
  readonly onRemoved: (channelId: string, messageId: string) => void;
  /** Under the first message as long as the reply grows. */
  readonly growingRows?: AnswerRow[];
  /** A custom emoji that everybody in a channel's server can use. */
  readonly emojiIn?: (channelId: string, name: string) => string | undefined;
  /** Discord has an answer to a message under our nonce that was never sent from here. Must not throw. */
  readonly onForeign?: (messageId: string) => void;
  /** Resolves early when the signal is aborted. */
  readonly sleep?: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  readonly retryDelaysMs?: readonly number[];
  readonly botId: () => string | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
}

type Request = Extract<ReplyStep, { readonly kind: 'post' | 'edit' | 'delete' }>;
type PostRequest = Extract<Request, { readonly kind: 'post' }>;

/** Carries out {@link nextStep}, one request at a time [G3]. Nonces keep anything from being sent twice. */
export function growReply(options: RepliesOptions, start: ReplyStart, emojiNamed?: EmojiNamed): GrowingReply {
  const { api, clock, logger, retryDelaysMs, growingRows } = options;
  const { channelId, nonceBase } = start;
  const present = (start.existingIds ?? []).map((id) => ({ id }));
  const state: ReplyState = { phase: 'growing', text: '', present, emojiNamed };
  let working: Promise<void> | undefined;
  let earlier: readonly APIMessage[] | undefined;
  let hasStarted = state.present.length > 0;
  let failures = 0;
  let lastError: unknown;
  let wasOpened = false;
  let interruption: AbortController | undefined;
  /** Cancels the edit that waits for Discord's limits. */
  let edit: AbortController | undefined;

  const now = (): number => clock().getTime();
  const ids = (): readonly string[] => state.present.map(({ id }) => id);

  const work = (): Promise<void> => (working ??= Promise.resolve().then(workOff));

  async function workOff(): Promise<void> {
    for (let step = nextStep(state, now()); step.kind !== 'rest'; step = nextStep(state, now())) {
      if (step.kind === 'wait') await pause(step.milliseconds);
      else if (step.kind !== 'end') await attempt(step);
      else state.phase = state.phase === 'finishing' ? 'sent' : 'taken-away';
    }
    working = undefined;
  }

  async function attempt(step: Request): Promise<void> {
    const request = step.kind === 'delete' ? step : await latest();
    if (request === undefined) return;
    try {
      await (request.kind === 'post' ? postNext(request) : change(request));
      failures = 0;
    } catch (error) {
      if (!(await isOpened(error))) await failed(request, error);
    }
  }

  /** Whether an archived thread was opened, so that the request can be sent again. */
  async function isOpened(error: unknown): Promise<boolean> {
    if (wasOpened || !hasErrorCode(error, RESTJSONErrorCodes.InvalidActionOnArchivedThread)) return false;
    wasOpened = true;
    try {
      await api.openThread(channelId);
      return true;
    } catch (refused) {
      logger.info('an archived thread could not be opened', { channelId, error: refused });
      return false;
    }
  }

  /** By now there may be more text, or nothing to be shown any more. */
  async function latest(): Promise<Request | undefined> {
    if (!(await start.mayShow())) {
      stop('held');
      return undefined;
    }
    if (earlier === undefined) {
      if (!hasStarted) {
        hasStarted = true;
        await start.onMessages([]);
      }
      earlier = await earlierMessages();
      // That may have taken long.
      return latest();
    }
    const step = nextStep(state, now());
    return step.kind === 'post' || step.kind === 'edit' ? step : undefined;
  }

  /** Oldest first; none while the nonce still protects. Never rejects. */
  async function earlierMessages(): Promise<readonly APIMessage[]> {
    if (!isSnowflake(nonceBase) || !mayHaveForgottenNonces(nonceBase, clock)) return [];
    try {
      const found = await sendUntilTaken(() => api.messagesAfter(channelId, nonceBase), retryDelaysMs, pause);
      const own = found.filter((message) => message.author.id === options.botId());
      const first = own.findIndex((message) => message.message_reference?.message_id === nonceBase);
      return first === -1 ? [] : own.slice(first);
    } catch (error) {
      logger.warn('earlier replies could not be looked for', { channelId, error });
      return [];
    }
  }

  async function change(request: Exclude<Request, PostRequest>): Promise<void> {
    if (request.kind === 'delete') {
      await start.onMessages(ids().filter((id) => id !== request.id));
      await api.deleteMessage(channelId, request.id);
      return removed(request.id);
    }
    edit = new AbortController();
    const { id, content, isLast } = request;
    const hasGrowingRows = growingRows !== undefined && request.index === 0 && isIn('growing');
    const body = {
      content: content.toWellFormed(),
      allowed_mentions: noPings,
      components: rowsUnder(request),
      flags: previews(content),
    };
    const message = await api.editMessage(channelId, id, body, edit.signal);
    stands({ id, content, hasButtons: isLast === true, hasGrowingRows });
    options.onEdited(message);
  }

  function rowsUnder({ index, isLast }: Exclude<Request, { readonly kind: 'delete' }>) {
    const { footer } = state;
    if (isLast === true && hasButtons(footer)) return answerRows(footer.personId, footer);
    if (growingRows === undefined || index > 0) return undefined;
    return isIn('growing') ? growingRows : [];
  }

  const isIn = (...phases: readonly ReplyState['phase'][]): boolean => phases.includes(state.phase);

  /** Does not change what is over already. */
  function stop(phase: 'paused' | 'held' | 'gone'): void {
    if (isIn('growing', 'paused', 'finishing')) state.phase = phase;
  }

  /** A new id is the reply's next message. */
  function stands(message: StandingMessage): void {
    const at = ids().indexOf(message.id);
    state.present = at === -1 ? [...state.present, message] : state.present.with(at, message);
    state.notBefore = now() + editPauseMs;
  }

  function standsNoMore(messageId: string): void {
    state.present = state.present.filter(({ id }) => id !== messageId);
  }

  function removed(messageId: string): void {
    standsNoMore(messageId);
    options.onRemoved(channelId, messageId);
  }

  async function postNext(request: PostRequest): Promise<void> {
    const { index, content, isLast } = request;
    const hasGrowingRows = growingRows !== undefined && index === 0 && isIn('growing');
    const found = earlier?.[index];
    const isEarlier = found !== undefined && (index === 0 || found.content === content.trim());
    const message = isEarlier ? found : await post(request);
    // Under a known nonce Discord returns the earlier message, which may differ.
    const says = message.content.trim() === content.trim() ? content : message.content;
    if (index === 0 && failures === 0 && !isEarlier && says !== content) options.onForeign?.(nonceBase);
    stands({
      id: message.id,
      content: says,
      hasButtons: isLast === true && !isEarlier,
      hasGrowingRows,
    });
    await start.onMessages(ids());
    options.onSent(message);
  }

  /** Without the permission to read history the bot may not reply, only speak. */
  async function post(request: PostRequest): Promise<APIMessage> {
    const { index, content } = request;
    const components = rowsUnder(request);
    const body = {
      content: content.toWellFormed(),
      ...sentOnce(`${nonceBase}-${index}`),
      components,
      flags: previews(content),
    };
    if (index > 0 || !isSnowflake(nonceBase)) return api.postMessage(channelId, body);
    const reference = { message_id: nonceBase, fail_if_not_exists: false };
    try {
      return await api.postMessage(channelId, { ...body, message_reference: reference });
    } catch (error) {
      if (!hasErrorCode(error, RESTJSONErrorCodes.CannotReplyWithoutPermissionToReadMessageHistory))
        throw error;
      return api.postMessage(channelId, body);
    }
  }

  async function failed(request: Request, error: unknown): Promise<void> {
    if (request.kind === 'edit' && edit?.signal.aborted === true) return;
    // Discord also says so of a new message whose nonce a deleted one had.
    const { kind } = request;
    if (kind === 'post' ? hasErrorCode(error, RESTJSONErrorCodes.UnknownMessage) : isGone(error)) {
      if (request.kind !== 'post') removed(request.id);
      if (request.kind === 'delete') return;
      stop('gone');
      return start.onGone();
    }
    const pauseMs =
      request.kind === 'delete' ? undefined : pauseBeforeSending(error, failures + 1, retryDelaysMs);
    // It may stand there, and Discord not know its nonce any more by the next try.
    if (request.kind === 'post') earlier = undefined;
    failures = pauseMs === undefined ? 0 : failures + 1;
    if (pauseMs !== undefined) {
      logger.debug('a part of a reply is sent again', { channelId, pauseMs, error });
      return pause(pauseMs);
    }
    if (request.kind === 'delete') {
      const { id: messageId } = request;
      logger.warn('a part of a reply could not be taken away', { channelId, messageId, error });
      return standsNoMore(messageId);
    }
    lastError = error;
    if (state.phase === 'growing')
      logger.warn('a reply cannot be shown while it grows', { channelId, error });
    stop('paused');
  }

  async function pause(milliseconds: number): Promise<void> {
    interruption = new AbortController();
    await (options.sleep ?? sleep)(milliseconds, interruption.signal);
    interruption = undefined;
  }

  /** With a reason, since creating an error is slow. */
  const hurry = (): void => interruption?.abort('hurry');

  return {
    hasStarted: () => hasStarted,
    show(text) {
      if (!isIn('growing', 'paused')) return;
      if (state.present.length === 0 && text.trim() !== '') state.notBefore ??= now() + firstPauseMs;
      state.text = text;
      void work();
    },
    hold: () => stop('paused'),
    async finish(text, footer) {
      if (isIn('growing', 'paused')) Object.assign(state, { phase: 'finishing', text, footer });
      hurry();
      while (isIn('finishing')) await work();
      return finished();
    },
    async takeAway() {
      if (!isIn('sent', 'taken-away')) state.phase = 'taking-away';
      edit?.abort();
      hurry();
      while (isIn('taking-away')) await work();
    },
  };

  function finished(): FinishedReply {
    if (state.phase === 'sent') return { kind: 'sent', ids: ids() };
    if (state.phase === 'gone') return { kind: 'gone' };
    if (state.phase !== 'paused') return { kind: 'withheld' };
    const reason = refusalOf(lastError);
    logger.warn('a reply could not be sent', { channelId, sent: ids().length, reason, error: lastError });
    if (reason !== undefined) return { kind: 'refused', ids: ids(), reason };
    throw new Error(`A reply in channel ${channelId} could not be sent`, { cause: lastError });
  }
}

/** Cards below an answer with several sources take more room than its words [G9]. */
function previews(content: string): MessageFlags.SuppressEmbeds | undefined {
  return (content.match(/https?:\/\//gu)?.length ?? 0) > 1 ? MessageFlags.SuppressEmbeds : undefined;
}

const editPauseMs = 1200;
const firstPauseMs = 200;
/** What the last part of a split answer leaves free for a footer, in characters. */
const footerRoom = 200;

/** `content` is unknown after a restart. */
interface StandingMessage {
  readonly id: string;
  readonly content?: string;
  readonly hasButtons?: boolean;
  readonly hasGrowingRows?: boolean;
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
interface ReplyState {
  phase: 'growing' | 'paused' | 'finishing' | 'held' | 'gone' | 'taking-away' | 'sent' | 'taken-away';
  text: string;
  present: readonly StandingMessage[];
  /** Set where the words are a model's, none of which may look like a footer. */
  readonly emojiNamed: EmojiNamed | undefined;
  footer?: Footer | undefined;
  /** No edits and no first message before this time; milliseconds since the epoch. */
  notBefore?: number | undefined;
}

interface Chunk {
  readonly content: string;
  readonly isLast?: true;
}

type ReplyStep =
  | { readonly kind: 'rest' }
  | { readonly kind: 'wait'; readonly milliseconds: number }
  | ({ readonly kind: 'post'; readonly index: number } & Chunk)
  | ({ readonly kind: 'edit'; readonly index: number; readonly id: string } & Chunk)
  | { readonly kind: 'delete'; readonly id: string }
  | { readonly kind: 'end' };

/** While a reply grows, superfluous messages stay. */
function nextStep(state: ReplyState, now: number): ReplyStep {
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
  { phase, present, notBefore = 0, footer }: ReplyState,
  chunks: readonly Chunk[],
  now: number,
): ReplyStep | undefined {
  const index = chunks.findIndex(
    ({ content, isLast }, at) =>
      present[at]?.content !== content ||
      (phase === 'finishing' && present[at].hasGrowingRows === true) ||
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

function hasButtons(footer: Footer | undefined): footer is Footer {
  return footer !== undefined && footer.buttons.length > 0;
}
