import { RESTJSONErrorCodes, type APIMessage, type RawFile } from 'discord.js';

import type { FinishedReply, GrowingReply, ReplyStart } from '../../core/chat.ts';
import type { Logger } from '../../core/logger.ts';
import { isSnowflake } from '../../core/snowflake.ts';
import { sleep, type Clock } from '../../core/time.ts';
import { answerRows } from '../command-buttons.ts';
import { hasErrorCode, noPings, sentOnce, type DiscordApi } from '../discord-api.ts';
import { isGone, mayHaveForgottenNonces, mayPass, refusalOf } from './refusals.ts';
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
  type ReplyKind,
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
  /** Default: nowhere. */
  readonly takesFiles?: (channelId: string) => boolean;
  /** Even from an earlier try; usually before the gateway tells of it. */
  readonly onSent: (message: APIMessage) => void;
  readonly onEdited: (message: APIMessage) => void;
  readonly onRemoved: (channelId: string, messageId: string) => void;
  /** Resolves early when the signal is aborted. */
  readonly sleep?: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  readonly retryDelaysMs?: readonly number[];
  readonly botId: () => string | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
}

type Request = Extract<ReplyStep, { readonly kind: 'post' | 'edit' | 'delete' }>;
type PostRequest = Extract<Request, { readonly kind: 'post' }>;

function rawFiles(files: PostRequest['files']): readonly RawFile[] {
  const contentType = 'text/plain; charset=utf-8';
  return files.map(({ name, text }) => ({ name, data: Buffer.from(text), contentType }));
}

/** Carries out {@link nextStep}, one request at a time [G3]. Nonces keep anything from being sent twice. */
export function growReply(options: RepliesOptions, start: ReplyStart, kind: ReplyKind = {}): GrowingReply {
  const { api, clock, logger, retryDelaysMs = [500, 2000, 5000] } = options;
  const { channelId, nonceBase } = start;
  let state: ReplyState = newReply(start.standing ?? [], {
    takesFiles: options.takesFiles?.(channelId),
    ...kind,
  });
  let working: Promise<void> | undefined;
  let earlier: readonly APIMessage[] | undefined;
  let hasBegun = state.standing.length > 0;
  let failures = 0;
  let lastError: unknown;
  let wasOpened = false;
  let interruption: AbortController | undefined;
  /** Cancels the edit that waits for Discord's limits. */
  let edit: AbortController | undefined;

  const now = (): number => clock().getTime();
  const ids = (): readonly string[] => state.standing.map(({ id }) => id);

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
      if (!hasBegun) {
        hasBegun = true;
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
    for (let looks = 0; ; looks += 1) {
      try {
        const found = await api.messagesAfter(channelId, nonceBase);
        const own = found.filter((message) => message.author.id === options.botId());
        const first = own.findIndex((message) => message.message_reference?.message_id === nonceBase);
        return first === -1 ? [] : own.slice(first);
      } catch (error) {
        const pauseMs = mayPass(error) ? retryDelaysMs[looks] : undefined;
        if (pauseMs === undefined) {
          logger.warn('earlier replies could not be looked for', { channelId, error });
          return [];
        }
        await pause(pauseMs);
      }
    }
  }

  async function change(request: Exclude<Request, PostRequest>): Promise<void> {
    if (request.kind === 'delete') {
      await start.onMessages(ids().filter((id) => id !== request.id));
      await api.deleteMessage(channelId, request.id);
      return removed(request.id);
    }
    edit = new AbortController();
    const { id, content, files, isLast } = request;
    const body = {
      content: content.toWellFormed(),
      allowed_mentions: noPings,
      components: rowsUnder(isLast),
    };
    const message = await api.editMessage(channelId, id, body, edit.signal, rawFiles(files));
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
  async function post({ index, content, files, isLast }: PostRequest): Promise<APIMessage> {
    const raw = rawFiles(files);
    const components = rowsUnder(isLast);
    const body = { content: content.toWellFormed(), ...sentOnce(`${nonceBase}-${index}`), components };
    if (index > 0 || !isSnowflake(nonceBase)) return api.postMessage(channelId, body, raw);
    const reference = { message_id: nonceBase, fail_if_not_exists: false };
    try {
      return await api.postMessage(channelId, { ...body, message_reference: reference }, raw);
    } catch (error) {
      if (!hasErrorCode(error, RESTJSONErrorCodes.CannotReplyWithoutPermissionToReadMessageHistory))
        throw error;
      return api.postMessage(channelId, body, raw);
    }
  }

  async function failed(request: Request, error: unknown): Promise<void> {
    if (request.kind === 'edit' && edit?.signal.aborted === true) return;
    if (isGone(error)) {
      // Discord also says so of a new message whose nonce a deleted one had.
      if (request.kind !== 'post') removed(request.id);
      if (request.kind === 'delete') return;
      state = stopped(state, 'gone');
      return start.onGone();
    }
    const pauseMs = mayPass(error) ? retryDelaysMs[failures] : undefined;
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
    hasBegun: () => hasBegun,
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
