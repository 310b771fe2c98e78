import { ModelError, passingFailures, type ModelFailure } from '../core/errors.ts';
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

/** The model is down, unknown to its server, over its vendor's rate limit [M10], or without words [M15]; never over our own limits. */
function fallsBack(failure: ModelFailure): boolean {
  return passingFailures.has(failure) || ['timeout', 'unknown-model', 'empty'].includes(failure);
}

export interface FallbackOptions {
  /** A name as in requests. */
  readonly fallback: string | undefined;
  /** Milliseconds that the main model may say nothing. */
  readonly patienceMs: number;
  /** Milliseconds, monotonic. */
  readonly now: () => number;
  readonly logger: Logger;
}

/** Has another model answer people where the one of the request cannot [M10]; the answer says which. */
export function withFallback(client: ModelClient, options: FallbackOptions): ModelClient {
  const { fallback, patienceMs, now, logger } = options;
  if (fallback === undefined) return client;
  let resting: { readonly model: string; readonly until: number } | undefined;

  async function askFallback(
    request: ModelRequest,
    name: string,
    callOptions: ModelCallOptions,
  ): Promise<ModelResponse> {
    const other = { ...withoutReasoning(request), model: name, isFallback: true } as const;
    const response = await client.complete(other, callOptions);
    return { ...response, answeredBy: name };
  }

  return {
    isOffline: client.isOffline,
    get refused() {
      return client.refused ?? [];
    },
    limitsOf: (model) => client.limitsOf?.(model) ?? {},
    async complete(request, callOptions = {}) {
      const { purpose, model } = request;
      if (purpose !== 'chat' || model === fallback) return client.complete(request, callOptions);
      if (resting?.model === model && now() < resting.until)
        return askFallback(request, fallback, callOptions);
      const patience = startPatience(patienceMs, now, callOptions);
      try {
        return await client.complete(request, patience.options);
      } catch (error) {
        if (!(error instanceof ModelError) || callOptions.signal?.aborted === true) throw error;
        if (!patience.isOver() && !fallsBack(error.failure)) throw error;
        // Of the next message it may have words.
        if (error.failure !== 'empty') resting = { model, until: now() + restMs };
        logger.warn('the fallback model answers', { failure: error.failure, model, fallback });
        if (error.partialText !== '') callOptions.onRestart?.();
        return await askFallback(request, fallback, callOptions);
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
