import Anthropic, { APIError } from '@anthropic-ai/sdk';

import { ModelError } from '../../core/errors.ts';
import type { Logger } from '../../core/logger.ts';
import {
  addUsage,
  inputOf,
  noUsage,
  textOf,
  type CallBudget,
  type ModelCallOptions,
  type ModelClient,
  type ModelRequest,
  type ModelResponse,
  type ModelUsage,
  type Reservation,
} from '../../core/model.ts';
import { jsonIn } from '../../core/lenient-json.ts';
import { startDeadline, type Deadline } from '../../core/time.ts';
import { cleanAnswer, cleanResponse, type AnswerFrame } from '../clean-answer.ts';
import { withoutMedia } from '../media.ts';
import { createModelPlaces } from '../places.ts';
import { attempt, backOff, failedAttempt, unlessError } from './attempt.ts';
import { createRefusals, type SentRequest, createLimits } from './learnt.ts';
import { callCost, type OwnPrices, resolveModel } from './models.ts';
import { largestUsage, mediaBytes, requestBody } from './request-body.ts';
import { isEmpty, readMessage } from './response.ts';

export interface AnthropicClientOptions {
  /** Not needed for some servers at `baseUrl`. */
  readonly apiKey?: string;
  /** Default: the vendor's own. */
  readonly baseUrl?: string;
  readonly concurrency: number;
  readonly queueLimit: number;
  /** Milliseconds of silence after which a stream counts as stalled. */
  readonly idleTimeoutMs: number;
  /** Milliseconds for a call with waiting, attempts and backoff. */
  readonly totalTimeoutMs: number;
  /** Limits the cost [L2]; the most that an attempt can cost is reserved before it. */
  readonly budget?: CallBudget;
  /** Of prompt and answer together [M13]. Default: as many as the server takes. */
  readonly contextTokens?: number | undefined;
  /** Default: list prices. */
  readonly prices?: OwnPrices;
  readonly logger: Logger;
  readonly random?: () => number;
  readonly fetch?: typeof fetch;
}

const mediaLeftOut =
  'left out of this request: as much of files has been sent as may be; say so where it matters';

const vendorUrl = 'https://api.anthropic.com';

/** Without a key, the SDK would read one from the environment. */
const noKey = 'no-key';

function createSdk({
  apiKey = noKey,
  baseUrl = vendorUrl,
  totalTimeoutMs,
  fetch,
}: Pick<AnthropicClientOptions, 'apiKey' | 'baseUrl' | 'totalTimeoutMs' | 'fetch'>): Anthropic {
  return new Anthropic({
    apiKey,
    baseURL: baseUrl,
    maxRetries: 0,
    timeout: totalTimeoutMs,
    fetch,
    // Its log would show people's words.
    logLevel: 'off',
    // Its traces may show people's words.
    openTelemetry: false,
    defaultHeaders: {
      // Compression delays pieces of a stream.
      'accept-encoding': 'identity',
      // Some other servers look for the key here.
      'x-api-key': baseUrl === vendorUrl ? undefined : apiKey,
    },
  });
}

/** Leaves out pictures and documents where the budget is used up. */
function bodyFor({ request, leftOut }: SentRequest, takeMedia: ModelCallOptions['takeMedia']) {
  const whole = requestBody(request, leftOut);
  const bytes = mediaBytes(whole);
  const mayAttach = bytes === 0 || takeMedia === undefined || takeMedia(bytes);
  return mayAttach ? whole : requestBody(withoutMedia(request, mediaLeftOut), leftOut);
}

/** A model behind the Messages API, of Anthropic or any other server [M1][M7]. */
export function createAnthropicClient(options: AnthropicClientOptions): ModelClient {
  const { logger, idleTimeoutMs, random = Math.random, apiKey = noKey } = options;
  const sdk = createSdk(options);
  const refusals = createRefusals(logger);
  const limits = createLimits(logger, options.contextTokens);
  const withPlace = createModelPlaces(options.concurrency, options.queueLimit);

  /** Retries [M7]: at once without a feature that the server refused [M9] or with a shorter answer [M13], else after a wait. */
  async function ask(
    request: ModelRequest,
    callOptions: ModelCallOptions,
    deadline: Deadline,
    streamed: StreamedText,
  ): Promise<ModelResponse> {
    const { signal } = deadline;
    const costOf = (usage: ModelUsage): number => callCost(request.model, usage, options.prices) ?? 0;
    let ignoredUsage = noUsage;
    let wasEmpty = false;
    for (let retries = 0; ;) {
      const sent = { request, leftOut: refusals.leftOut(request) };
      const frame = frameOf(sent, options.baseUrl);
      const body = limits.capped(request.model, bodyFor(sent, callOptions.takeMedia));
      let reserved: Reservation | undefined;
      streamed.restart(frame);
      try {
        reserved = await options.budget?.reserve(request, costOf(largestUsage(body)));
        if (signal.aborted) reserved?.charge(0);
        const response = await attempt(sdk, body, {
          signal,
          idleTimeoutMs,
          onText: (piece) => streamed.add(piece),
          onThought: () => streamed.noteThought(),
        });
        reserved?.charge(costOf(response.usage));
        if (options.baseUrl !== undefined) limits.noteCount(request.model, body, inputOf(response.usage));
        const usage = addUsage(ignoredUsage, response.usage);
        const clean = cleanResponse(response, frame);
        ignoredUsage = usage;
        if (isEmpty(clean) && request.mayBeEmpty !== true) {
          if (wasEmpty) throw emptyAnswer();
          wasEmpty = true;
        } else if (ignoresSchema(sent, clean)) refusals.learnIgnoredSchema(request.model);
        else {
          streamed.end(textOf(clean.content));
          return { ...clean, usage, leftOut: sent.leftOut };
        }
      } catch (error) {
        const failed = failedAttempt(error, apiKey);
        reserved?.charge(failed.isFree === true ? 0 : undefined);
        const limit = limits.learn(request.model, body, error);
        if (limit === 'contextTokens') throw new ModelError(failed.error.message, 'too-large');
        if (limit === 'answerTokens' || refusals.learn(sent, error)) continue;
        await backOff(failed, retries, { deadline, random, logger });
        retries += 1;
      }
    }
  }

  /** Other servers may accept a schema and still answer in prose. */
  function ignoresSchema({ request, leftOut }: SentRequest, { stop, content }: ModelResponse): boolean {
    if (request.outputSchema === undefined || leftOut.includes('structured output')) return false;
    return options.baseUrl !== undefined && stop === 'end' && jsonIn(textOf(content)) === undefined;
  }

  return {
    isOffline: false,
    get refused() {
      return refusals.found;
    },
    limitsOf: limits.limitsOf,
    async complete(request, callOptions = {}) {
      const { userId, purpose } = request;
      const isBackground = purpose !== 'chat' && purpose !== 'catch-up';
      const deadline = startDeadline(options.totalTimeoutMs, callOptions.signal);
      const { signal } = deadline;
      const streamed = followText(callOptions);
      try {
        const work = () => ask(request, callOptions, deadline, streamed);
        return await withPlace(work, { userId, isBackground, signal, onQueue: callOptions.onQueue });
      } catch (error) {
        throw finalError(signal.aborted ? signal.reason : error, streamed.partialText());
      } finally {
        deadline.end();
      }
    },
  };
}

function emptyAnswer(): ModelError {
  return new ModelError("The model's answer is empty", 'empty');
}

type StreamedText = ReturnType<typeof followText>;

/** Passes on what of an answer is meant for people, over several attempts. */
function followText({ onText, onRestart }: ModelCallOptions) {
  let frame: AnswerFrame = { tools: [] };
  let raw = '';
  let lastRead = 0;
  let shown = '';
  let latest = '';

  function show(text: string): void {
    if (!text.startsWith(shown)) {
      onRestart?.();
      shown = '';
    }
    const piece = text.slice(shown.length);
    if (piece === '') return;
    latest = shown = text;
    onText?.(piece);
  }

  return {
    /** The text of the latest attempt that had any. */
    partialText: () => latest,
    restart(next: AnswerFrame): void {
      if (shown !== '') onRestart?.();
      frame = next;
      raw = shown = '';
      lastRead = 0;
    },
    /** Thoughts come apart from the text, so none are in it. */
    noteThought: (): void => void (frame = { ...frame, mayThinkAloud: false }),
    add(piece: string): void {
      raw += piece;
      // All of it is read again, so the longer it is, the less often.
      if (raw.length - lastRead < raw.length / 64) return;
      lastRead = raw.length;
      show(cleanAnswer(raw, frame, false).text);
    },
    /** The whole text. */
    end: show,
  };
}

/** What an answer to a request is read by. Models of the vendor's kind give their thoughts apart. */
function frameOf({ request, leftOut }: SentRequest, baseUrl: string | undefined): AnswerFrame {
  const { tools = [], messages, names, model } = request;
  return {
    tools: leftOut.includes('tools') ? [] : tools.map(({ name }) => name),
    names,
    mayQuote: messages.some(({ content }) =>
      content.some((block) => block.type === 'tool_use' && block.name === 'read_channel'),
    ),
    mayThinkAloud: baseUrl !== undefined && !/claude/iu.test(resolveModel(model)),
  };
}

function finalError(error: unknown, partialText: string): ModelError {
  if (error instanceof ModelError) {
    const { message, failure, retryAfterMs } = error;
    return new ModelError(message, failure, { partialText, retryAfterMs });
  }
  const name = error instanceof Error ? error.name : typeof error;
  return new ModelError(`The model could not be asked (${name})`, 'rejected', { cause: error, partialText });
}

export interface ProbeOptions {
  readonly apiKey?: string;
  readonly baseUrl?: string;
  /** An alias or an id. */
  readonly model: string;
  readonly timeoutMs: number;
}

/** Models that a server is asked for at once; the vendor's most. */
const mostModels = 1000;

/** The ids of the models that a server lists [M10], none where it has no list; `key`: it wants another key. Never rejects. */
export async function listModels(options: Omit<ProbeOptions, 'model'>): Promise<readonly string[] | 'key'> {
  const { timeoutMs } = options;
  const sdk = createSdk({ ...options, totalTimeoutMs: timeoutMs });
  try {
    const signal = AbortSignal.timeout(timeoutMs);
    const { data }: { readonly data?: unknown } = await sdk.models.list({ limit: mostModels }, { signal });
    if (!Array.isArray(data)) return [];
    return data.flatMap(({ id }: { readonly id?: unknown }) => (typeof id === 'string' ? [id] : []));
  } catch (error) {
    return error instanceof APIError && error.status === 401 ? 'key' : [];
  }
}

/** Asks a model for one token [O1]; `text` says what went wrong, without secrets. Never rejects. */
export async function probeModel({ apiKey, baseUrl, model, timeoutMs }: ProbeOptions) {
  const sdk = createSdk({ apiKey, baseUrl, totalTimeoutMs: timeoutMs });
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const answer = await sdk.messages.create(
      { model: resolveModel(model), max_tokens: 1, messages: [{ role: 'user', content: 'Hello' }] },
      { signal },
    );
    // A model that thinks first may have no text yet.
    if (answer.stop_reason !== 'max_tokens' && isEmpty(readMessage(unlessError(answer)))) throw emptyAnswer();
    return { failure: undefined, text: '' };
  } catch (error) {
    const silent = `The model's server did not answer within ${timeoutMs / 1000} seconds`;
    if (signal.aborted) return { failure: 'timeout' as const, text: silent };
    const { failure, message: text } = failedAttempt(error, apiKey ?? noKey).error;
    return { failure, text };
  }
}
