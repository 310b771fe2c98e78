import { MessageFlags, RESTJSONErrorCodes, type APIMessage } from 'discord.js';

import type { FinishedReply, GrowingReply, ReplyStart } from '../../core/reply.ts';
import type { Logger } from '../../core/logger.ts';
import { isSnowflake } from '../../core/snowflake.ts';
import { sleep, type Clock } from '../../core/time.ts';
import { answerRows } from '../command-buttons.ts';
import { mayHaveForgottenNonces, noPings, sentOnce, type DiscordApi } from '../discord-api.ts';
import type { EmojiNamed } from './discord-form.ts';
import { hasErrorCode, isGone, pauseBeforeSending, refusalOf, sendUntilTaken } from '../refusals.ts';
import {
  finishing,
  hasButtons,
  newReply,
  nextStep,
  stopped,
  takingAway,
  withMessage,
  withoutMessage,
  withText,
  type ReplyState,
  type ReplyStep,
} from './reply-state.ts';

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
  /** A custom emoji that everybody in a channel's server can use. */
  readonly emojiIn?: (channelId: string, name: string) => string | undefined;
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
  const { api, clock, logger, retryDelaysMs } = options;
  const { channelId, nonceBase } = start;
  let state: ReplyState = newReply(start.existingIds ?? [], emojiNamed);
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
      else state = { ...state, phase: state.phase === 'finishing' ? 'sent' : 'taken-away' };
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
      state = stopped(state, 'held');
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
    const body = {
      content: content.toWellFormed(),
      allowed_mentions: noPings,
      components: rowsUnder(isLast),
      flags: previews(content),
    };
    const message = await api.editMessage(channelId, id, body, edit.signal);
    state = withMessage(state, { id, content, hasButtons: isLast === true }, now());
    options.onEdited(message);
  }

  function rowsUnder(isLast: true | undefined) {
    const { footer } = state;
    return isLast === true && hasButtons(footer) ? answerRows(footer.personId, footer) : undefined;
  }

  function removed(messageId: string): void {
    state = withoutMessage(state, messageId);
    options.onRemoved(channelId, messageId);
  }

  async function postNext(request: PostRequest): Promise<void> {
    const { index, content, isLast } = request;
    const found = earlier?.[index];
    const isEarlier = found !== undefined && (index === 0 || found.content === content.trim());
    const message = isEarlier ? found : await post(request);
    // Under a known nonce Discord returns the earlier message, which may differ.
    const says = message.content.trim() === content.trim() ? content : message.content;
    state = withMessage(
      state,
      { id: message.id, content: says, hasButtons: isLast === true && !isEarlier },
      now(),
    );
    await start.onMessages(ids());
    options.onSent(message);
  }

  /** Without the permission to read history the bot may not reply, only speak. */
  async function post({ index, content, isLast }: PostRequest): Promise<APIMessage> {
    const components = rowsUnder(isLast);
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
      state = stopped(state, 'gone');
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
      state = withoutMessage(state, messageId);
      return;
    }
    lastError = error;
    if (state.phase === 'growing')
      logger.warn('a reply cannot be shown while it grows', { channelId, error });
    state = stopped(state, 'paused');
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
      state = withText(state, text, now());
      void work();
    },
    hold() {
      state = stopped(state, 'paused');
    },
    async finish(text, footer) {
      state = finishing(state, text, footer);
      hurry();
      while (state.phase === 'finishing') await work();
      return finished();
    },
    async takeAway() {
      state = takingAway(state);
      edit?.abort();
      hurry();
      while (state.phase === 'taking-away') await work();
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
