import Anthropic from '@anthropic-ai/sdk';
import pLimit from 'p-limit';

import { ModelError } from '../../core/errors.ts';
import type { Logger } from '../../core/logger.ts';
import type { ModelCallOptions, ModelClient, ModelResponse } from '../../core/model.ts';
import { startDeadline, untilAborted } from '../deadline.ts';
import { attempt } from './attempt.ts';
import { requestBody } from './request-body.ts';
import { attemptError, withRetries } from './retries.ts';

export interface AnthropicClientOptions {
  /** May be absent where `baseUrl` names a server that wants none. */
  readonly apiKey?: string;
  /** Default: the vendor's own. */
  readonly baseUrl?: string;
  /** Calls at a time. */
  readonly concurrency: number;
  /** Calls that may wait for one to end. */
  readonly queueLimit: number;
  /** Milliseconds of silence after which a stream counts as stalled. */
  readonly idleTimeoutMs: number;
  /** Milliseconds for a call in all: waiting for its turn, attempts and backoff. */
  readonly totalTimeoutMs: number;
  readonly logger: Logger;
  /** From 0 up to 1, for the backoff. Default: `Math.random`. */
  readonly random?: () => number;
}

const vendorUrl = 'https://api.anthropic.com';

/** The SDK wants a key, and reads the environment where it gets none; a server that asks for none ignores it. */
const noKey = 'no-key';

/** A model behind the Messages API, Anthropic's or any other server's that speaks it [M1][M7]. */
export function createAnthropicClient(options: AnthropicClientOptions): ModelClient {
  const { logger, random = Math.random } = options;
  const apiKey = options.apiKey ?? noKey;
  const sdk = new Anthropic({
    apiKey,
    baseURL: options.baseUrl ?? vendorUrl,
    maxRetries: 0,
    timeout: options.totalTimeoutMs,
    // The SDK's own log shows events as they came, people's words among them.
    logLevel: 'off',
  });
  const limit = createCallLimit(options.concurrency, options.queueLimit);

  async function attemptOnce(
    body: ReturnType<typeof requestBody>,
    signal: AbortSignal,
    streamed: StreamedText,
  ): Promise<ModelResponse> {
    streamed.restart();
    try {
      const { idleTimeoutMs } = options;
      return await attempt(sdk, body, { signal, idleTimeoutMs, onText: (piece) => streamed.add(piece) });
    } catch (error) {
      throw attemptError(error, apiKey, new Date());
    }
  }

  return {
    isOffline: false,
    async complete(request, callOptions = {}) {
      const deadline = startDeadline(options.totalTimeoutMs, callOptions.signal);
      const { signal } = deadline;
      const streamed = new StreamedText(callOptions);
      try {
        const body = requestBody(request);
        const work = () =>
          withRetries(() => attemptOnce(body, signal, streamed), { deadline, random, logger });
        return await limit(work, signal, callOptions.onQueue);
      } catch (error) {
        throw finalError(signal.aborted ? signal.reason : error, streamed.partialText);
      } finally {
        deadline.end();
      }
    },
  };
}

/**
 * At most `concurrency` calls at a time, and at most `queueLimit` waiting for one to end [M7]. Work that has to wait is told by
 * `onQueue`, and again, with `false`, when its turn came. Rejects with `ModelError` `busy` where too many wait, and at once with the
 * signal's reason when aborted; who gives up leaves the queue.
 */
function createCallLimit(concurrency: number, queueLimit: number) {
  const limit = pLimit(concurrency);
  let open = 0;
  return async <T>(
    work: () => Promise<T>,
    signal: AbortSignal,
    onQueue: ModelCallOptions['onQueue'],
  ): Promise<T> => {
    if (open >= concurrency + queueLimit) throw new ModelError('Too many model calls are waiting', 'busy');
    const hasToWait = open >= concurrency;
    open += 1;
    try {
      if (hasToWait) onQueue?.(true);
      const turn = limit(() => {
        signal.throwIfAborted();
        if (hasToWait) onQueue?.(false);
        return work();
      });
      return await untilAborted(turn, signal);
    } finally {
      open -= 1;
    }
  };
}

/** What the caller was given of the answer's text, attempt by attempt. */
class StreamedText {
  readonly #options: ModelCallOptions;
  #current = '';
  #latest = '';

  constructor(options: ModelCallOptions) {
    this.#options = options;
  }

  /** The text of the latest attempt that had any. */
  get partialText(): string {
    return this.#latest;
  }

  /** Before an attempt: takes back what an earlier one had given. */
  restart(): void {
    if (this.#current === '') return;
    this.#current = '';
    this.#options.onRestart?.();
  }

  add(piece: string): void {
    this.#current += piece;
    this.#latest = this.#current;
    this.#options.onText?.(piece);
  }
}

function finalError(error: unknown, partialText: string): ModelError {
  if (error instanceof ModelError) return new ModelError(error.message, error.failure, { partialText });
  const name = error instanceof Error ? error.name : typeof error;
  return new ModelError(`The model could not be asked (${name})`, 'rejected', { cause: error, partialText });
}
