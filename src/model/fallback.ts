import { ModelError, longestRetryMs, outages, type ModelFailure } from '../core/errors.ts';
import type { Logger } from '../core/logger.ts';
import type {
  ModelCallOptions,
  ModelClient,
  ModelMessage,
  ModelRequest,
  ModelResponse,
} from '../core/model.ts';

/** Milliseconds that a model that failed is not asked again: each person would wait for it first. */
const restMs = 60_000;

export interface FallbackOptions {
  /** A name as in requests; `undefined` where there is none. */
  readonly fallback: string | undefined;
  /** Milliseconds that the main model may say nothing. */
  readonly patienceMs: number;
  /** Milliseconds, monotonic. */
  readonly now: () => number;
  readonly logger: Logger;
}

/** Has another model answer people where the one of the request cannot [M10]; the answer says which and why. */
export function withFallback(client: ModelClient, options: FallbackOptions): ModelClient {
  const { fallback, patienceMs, now, logger } = options;
  /** By model, why it is not asked, and until when. */
  const rests = new Map<string, { readonly failure: ModelFailure; readonly until: number }>();

  /** Makes no call that would only wait [M16]. */
  async function ask(request: ModelRequest, callOptions: ModelCallOptions): Promise<ModelResponse> {
    const { failure = 'unavailable', until = 0 } = rests.get(request.model) ?? {};
    const leftMs = until - now();
    if (leftMs > 0) throw new ModelError('Not asked yet', failure, { retryAfterMs: leftMs });
    return client.complete(request, callOptions).catch((error: unknown) => {
      if (error instanceof ModelError && error.retryAfterMs > longestRetryMs)
        rests.set(request.model, { failure: error.failure, until: now() + error.retryAfterMs });
      throw error;
    });
  }

  return {
    isOffline: client.isOffline,
    get refused() {
      return client.refused ?? [];
    },
    /** Of the model that would answer now, so that a prompt is made to fit it [M13]. */
    limitsOf(model) {
      const isResting = (rests.get(model)?.until ?? 0) > now();
      return client.limitsOf?.(isResting ? (fallback ?? model) : model) ?? {};
    },
    async complete(request, callOptions = {}) {
      const { purpose, model } = request;
      if (purpose !== 'chat' || fallback === undefined || model === fallback)
        return ask(request, callOptions);
      const patience = startPatience(patienceMs, now, callOptions);
      try {
        return await ask(request, patience.options);
      } catch (error) {
        if (!(error instanceof ModelError) || callOptions.signal?.aborted === true) throw error;
        const failure = patience.isOver() ? 'timeout' : error.failure;
        if (!outages.has(failure) && failure !== 'empty') throw error;
        if ((rests.get(model)?.until ?? 0) <= now()) {
          // For the next message it may have words.
          if (failure !== 'empty') rests.set(model, { failure, until: now() + restMs });
          logger.warn('the fallback model answers', { failure, model, fallback });
        }
        if (error.partialText !== '') callOptions.onRestart?.();
        const instead = { ...withoutReasoning(request), model: fallback, isFallback: true } as const;
        const response = await ask(instead, callOptions);
        return { ...response, answeredBy: fallback, insteadFor: failure };
      } finally {
        patience.end();
      }
    },
  };
}

/** Ends a call that says nothing for so long, or only starts over; waiting for a free place does not count. */
function startPatience(patienceMs: number, now: () => number, options: ModelCallOptions) {
  const over = new AbortController();
  const tooSlow = new ModelError(`The model said nothing for ${patienceMs} ms`, 'timeout');
  let since = now();
  let timer: NodeJS.Timeout | undefined;
  const end = (): void => clearTimeout(timer);
  function wait(): void {
    end();
    timer = setTimeout(() => over.abort(tooSlow), patienceMs - (now() - since));
  }
  wait();
  return {
    end,
    isOver: () => over.signal.aborted,
    options: {
      ...options,
      signal: options.signal === undefined ? over.signal : AbortSignal.any([options.signal, over.signal]),
      onText(piece: string): void {
        end();
        options.onText?.(piece);
      },
      onRestart(): void {
        wait();
        options.onRestart?.();
      },
      onQueue(isWaiting: boolean): void {
        since = now();
        if (isWaiting) end();
        else wait();
        options.onQueue?.(isWaiting);
      },
    },
  };
}

/** One model's thinking means nothing to another, and some servers refuse it. */
function withoutReasoning(request: ModelRequest): ModelRequest {
  const messages = request.messages.map((message): ModelMessage => {
    if (message.role === 'user') return message;
    return { ...message, content: message.content.filter(({ type }) => type !== 'reasoning') };
  });
  const hadReasoning = messages.some((message, index) => {
    return message.content.length !== request.messages[index]?.content.length;
  });
  return hadReasoning ? { ...request, messages, thinks: false } : request;
}
