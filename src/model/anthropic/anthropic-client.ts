import Anthropic from '@anthropic-ai/sdk';
import type { MessageCreateParamsStreaming } from '@anthropic-ai/sdk/resources/messages';
import { ModelError } from '../../core/errors.ts';
import { growingCache } from '../../core/limits.ts';
import type { Logger } from '../../core/logger.ts';
import {
  addUsage,
  noUsage,
  textOf,
  type CallBudget,
  type ModelCallOptions,
  type ModelClient,
  type ModelRequest,
  type ModelResponse,
  type ModelUsage,
} from '../../core/model.ts';
import { jsonIn } from '../../core/text.ts';
import { startDeadline } from '../deadline.ts';
import { mediaBytes, withoutMedia } from '../media.ts';
import { createModelPlaces } from '../places.ts';
import { attempt } from './attempt.ts';
import { createRefusals, type AppliedRequest } from './features.ts';
import { callCost, type OwnPrices } from './models.ts';
import { largestUsage, requestBody } from './request-body.ts';
import { AttemptError, attemptError, withRetries } from './retries.ts';

export interface AnthropicClientOptions {
  /** May be absent where `baseUrl` names a server that wants none. */
  readonly apiKey?: string | undefined;
  /** Default: the vendor's own. */
  readonly baseUrl?: string | undefined;
  /** Calls at a time. */
  readonly concurrency: number;
  /** Calls that may wait for one to end. */
  readonly queueLimit: number;
  /** Milliseconds of silence after which a stream counts as stalled. */
  readonly idleTimeoutMs: number;
  /** Milliseconds for a call in all: waiting for its turn, attempts and backoff. */
  readonly totalTimeoutMs: number;
  /** Whether the server is to tell why its cache missed what a conversation's request before had. Default: no. */
  readonly asksForCacheMisses?: boolean;
  /** What calls may cost [L2]; every attempt is set aside before it goes out. Default: anything. */
  readonly budget?: CallBudget | undefined;
  /** By which that is reckoned. Default: list prices. */
  readonly prices?: OwnPrices;
  readonly logger: Logger;
  /** From 0 up to 1, for the backoff. Default: `Math.random`. */
  readonly random?: () => number;
  /** How requests go out. Default: over the network. */
  readonly fetch?: typeof fetch;
}

/** Conversations that a reason for a miss can be asked for. */
const keptConversations = 1000;

const mediaLeftOut =
  'left out of this request: as much of files has been sent as may be; say so where it matters';

const vendorUrl = 'https://api.anthropic.com';

/** The SDK wants a key, and reads the environment where it gets none; a server that asks for none ignores it. */
export const noKey = 'no-key';

/** The vendor's own library for a server. */
export function createSdk({
  apiKey = noKey,
  baseUrl = vendorUrl,
  totalTimeoutMs,
  fetch,
}: {
  readonly apiKey?: string | undefined;
  readonly baseUrl?: string | undefined;
  readonly totalTimeoutMs: number;
  readonly fetch?: typeof globalThis.fetch | undefined;
}): Anthropic {
  return new Anthropic({
    apiKey,
    baseURL: baseUrl,
    maxRetries: 0,
    timeout: totalTimeoutMs,
    ...(fetch && { fetch }),
    // The SDK's own log shows events as they came, people's words among them.
    logLevel: 'off',
    // Nothing reads its traces, which may show the same and are made for every call.
    openTelemetry: false,
    defaultHeaders: {
      // Compressed, pieces of a stream are held up.
      'accept-encoding': 'identity',
      // The SDK sends it as a bearer's; of other servers, some look here.
      ...(baseUrl !== vendorUrl && { 'x-api-key': apiKey }),
    },
  });
}

/** A model behind the Messages API, Anthropic's or any other server's that speaks it [M1][M7]. */
export function createAnthropicClient(options: AnthropicClientOptions): ModelClient {
  const { logger, idleTimeoutMs, random = Math.random, apiKey = noKey } = options;
  const sdk = createSdk(options);
  const refusals = createRefusals(logger);
  const withPlace = createModelPlaces(options.concurrency, options.queueLimit);
  /** The id of each conversation's latest answer, by which the vendor knows its request. */
  const latest = growingCache<string, string>(keptConversations);

  /** With the pictures and documents that may be sent by now. */
  function bodyFor(request: ModelRequest, { takeMedia }: ModelCallOptions): MessageCreateParamsStreaming {
    const bytes = mediaBytes(request);
    const mayAttach = bytes === 0 || takeMedia === undefined || takeMedia(bytes);
    const body = requestBody(mayAttach ? request : withoutMedia(request, mediaLeftOut));
    const { conversation } = request;
    if (options.asksForCacheMisses !== true || conversation === undefined) return body;
    return { ...body, diagnostics: { previous_message_id: latest.get(conversation) ?? null } };
  }

  /** `refused`: the server refuses a feature of the request, and that is learnt. */
  async function attemptOnce(
    sent: AppliedRequest,
    callOptions: ModelCallOptions,
    signal: AbortSignal,
    streamed: StreamedText,
  ): Promise<ModelResponse | 'refused'> {
    streamed.restart();
    const { request } = sent;
    const body = bodyFor(request, callOptions);
    const costOf = (usage: ModelUsage): number => callCost(request.model, usage, options.prices) ?? 0;
    const reserved = await options.budget?.reserve(request, costOf(largestUsage(body)));
    if (signal.aborted) reserved?.settle(0);
    signal.throwIfAborted();
    try {
      const { id, response } = await attempt(sdk, body, {
        signal,
        after: callOptions.after,
        idleTimeoutMs,
        onText: (piece) => streamed.add(piece),
      });
      reserved?.settle(costOf(response.usage));
      if (request.conversation !== undefined && id !== undefined) latest.set(request.conversation, id);
      return response;
    } catch (error) {
      const failed = attemptError(error, apiKey, new Date());
      reserved?.settle(failed instanceof AttemptError && failed.isFree ? 0 : undefined);
      if (refusals.learn(sent, error)) return 'refused';
      throw failed;
    }
  }

  /** Sends the request again at once, as long as the server refuses another of its features: each leaves it with one less [M9]. */
  async function attemptWithLess(
    request: ModelRequest,
    ...rest: [ModelCallOptions, AbortSignal, StreamedText]
  ): Promise<ModelResponse> {
    let ignoredUsage = noUsage;
    for (;;) {
      const sent = refusals.applied(request);
      const response = await attemptOnce(sent, ...rest);
      if (response === 'refused') continue;
      const usage = addUsage(ignoredUsage, response.usage);
      if (!ignoresSchema(sent.request, response))
        return { ...response, usage, ...(sent.leftOut.length > 0 ? { leftOut: sent.leftOut } : {}) };
      refusals.learnIgnoredSchema(sent);
      ignoredUsage = usage;
    }
  }

  /** Other servers may take the schema and let the model answer in prose. */
  function ignoresSchema({ outputSchema }: ModelRequest, { stop, content }: ModelResponse): boolean {
    return options.baseUrl !== undefined && outputSchema !== undefined && stop === 'end' && !isJson(content);
  }

  return {
    isOffline: false,
    refused: refusals.found,
    async complete(request, callOptions = {}) {
      const deadline = startDeadline(options.totalTimeoutMs, callOptions.signal);
      const { signal } = deadline;
      const streamed = new StreamedText(callOptions);
      try {
        const work = () =>
          withRetries(() => attemptWithLess(request, callOptions, signal, streamed), {
            deadline,
            random,
            logger,
          });
        const { userId, purpose } = request;
        const isBackground = purpose !== 'chat' && purpose !== 'catch-up';
        return await withPlace(work, { userId, isBackground, signal, onQueue: callOptions.onQueue });
      } catch (error) {
        throw finalError(signal.aborted ? signal.reason : error, streamed.partialText);
      } finally {
        deadline.end();
      }
    },
  };
}

function isJson(content: ModelResponse['content']): boolean {
  try {
    jsonIn(textOf(content));
    return true;
  } catch {
    return false;
  }
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
