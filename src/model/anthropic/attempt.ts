import { setTimeout as sleep } from 'node:timers/promises';

import { APIError, type Anthropic, APIConnectionError } from '@anthropic-ai/sdk';
import { Stream, type ServerSentEvent } from '@anthropic-ai/sdk/core/streaming';
import type { MessageCreateParamsStreaming } from '@anthropic-ai/sdk/resources/messages';

import { ModelError, passingFailures, type ModelFailure } from '../../core/errors.ts';
import type { ModelResponse } from '../../core/model.ts';
import { unlessAborted, withTimeout } from '../../core/time.ts';
import { readMessage } from './response.ts';
import type { Logger } from '../../core/logger.ts';
import { clip, toSingleLine } from '../../core/text.ts';
import type { Deadline } from '../../core/deadline.ts';

/** Milliseconds to wait for the end of a stream after its message. */
const streamEndMs = 50;

export interface AttemptOptions {
  readonly signal: AbortSignal;
  /** Milliseconds without a byte after which the attempt counts as stalled. */
  readonly idleTimeoutMs: number;
  readonly onText: (piece: string) => void;
}

/** A watchdog ends a stream without any bytes [M7]. Rejects with the signal's reason, or as the SDK does. */
export async function attempt(
  client: Anthropic,
  body: MessageCreateParamsStreaming,
  { signal, idleTimeoutMs, onText }: AttemptOptions,
): Promise<ModelResponse> {
  signal.throwIfAborted();
  const own = new AbortController();
  const ended = AbortSignal.any([signal, own.signal]);
  const silent = new ModelError(`The model's server was silent for ${idleTimeoutMs} ms`, 'stalled');
  const watchdog = setTimeout(() => own.abort(silent), idleTimeoutMs);

  async function receive(): Promise<ModelResponse> {
    const answer = await client.messages.create(body, { signal: ended }).asResponse();
    watchdog.refresh();
    const watched = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, output) {
        watchdog.refresh();
        output.enqueue(chunk);
      },
    });
    const bytes = answer.body?.pipeThrough(watched, { signal: ended });
    return readAnswer(new Response(bytes, { headers: answer.headers }), (piece) => {
      if (!ended.aborted) onText(piece);
    });
  }

  try {
    return await unlessAborted(ended, receive());
  } finally {
    clearTimeout(watchdog);
    // Closes the connection unless the answer was read to its end.
    own.abort();
  }
}

async function readAnswer(answer: Response, onText: AttemptOptions['onText']): Promise<ModelResponse> {
  const type = answer.headers.get('content-type') ?? '';
  if (/html|xml/iu.test(type)) throw new ModelError("The model's server answered with a web page", 'invalid');
  if (!/json/iu.test(type)) return readStream(answer, onText);
  // Some servers ignore that a stream was requested.
  const whole = readMessage(jsonOf(await answer.text()));
  for (const block of whole.content) if (block.type === 'text') onText(block.text);
  return whole;
}

/** Reads the SDK's raw events: it would drop those without a name, and some servers send no others. */
async function readStream(answer: Response, onText: AttemptOptions['onText']): Promise<ModelResponse> {
  const assembly = createAssembly(onText);
  const events = Stream.rawEvents(answer);
  while (!assembly.isWhole()) {
    const { done, value } = await events.next();
    if (done === true) throw new ModelError("The model's answer broke off", 'broken');
    assembly.take(eventIn(value, answer.headers));
  }
  // Ignores what follows the message.
  const ended = (async () => {
    while ((await events.next()).done !== true);
  })().catch(() => undefined);
  await withTimeout(streamEndMs, ended, undefined);
  return readMessage(assembly.message());
}

/** @throws {APIError} for an error event, `SyntaxError` for broken JSON. */
function eventIn({ event: name, data }: ServerSentEvent, headers: Headers): unknown {
  if (name === 'error')
    throw new APIError(undefined, Object(jsonOf(data) ?? { message: data }), undefined, headers);
  // Other vendors end their streams with words, without a name.
  const mayBeWords = name === null || name === 'ping' || data === '';
  return mayBeWords ? jsonOf(data) : JSON.parse(data);
}

type Fields = Record<string, unknown>;

/** The field of a block that each kind of delta adds to. */
const fieldOf = new Map<unknown, string>([
  ['text_delta', 'text'],
  ['thinking_delta', 'thinking'],
  ['signature_delta', 'signature'],
  ['input_json_delta', 'partial_json'],
]);

/** Unlike the SDK, it tolerates what servers leave out, and does not complete tool input that broke off [M7]. */
function createAssembly(onText: (piece: string) => void) {
  /** By the server's index. */
  const blocks = new Map<unknown, Fields>();
  const usage: Fields = {};
  let beginning: Fields | undefined;
  let stopReason: unknown;
  let isWhole = false;

  function count(counts: unknown): void {
    for (const [name, value] of Object.entries(fieldsOf(counts))) if (value !== null) usage[name] = value;
  }

  function add(block: Fields, field: string, piece: unknown): void {
    if (typeof piece !== 'string' || piece === '') return;
    block[field] = `${typeof block[field] === 'string' ? block[field] : ''}${piece}`;
    if (block['type'] === 'text' && field === 'text') onText(piece);
  }

  function begin(index: unknown, { text, ...block }: Fields): void {
    if (blocks.has(index) || typeof index !== 'number' || block['type'] === undefined) return;
    blocks.set(index, block);
    if (block['type'] === 'text') block['text'] = '';
    if (block['type'] === 'thinking') block['thinking'] ??= '';
    add(block, 'text', text);
  }

  return {
    /** Adds an event, whose parts it may change. */
    take(event: unknown): void {
      const { type, index, message, content_block: block, delta, usage: counts } = fieldsOf(event);
      const { type: kind, stop_reason: stop, ...pieces } = fieldsOf(delta);
      const field = fieldOf.get(kind) ?? '';
      switch (type) {
        case 'message_start':
          beginning ??= fieldsOf(message);
          count(fieldsOf(message)['usage']);
          break;
        case 'content_block_start':
          begin(index, fieldsOf(block));
          break;
        case 'content_block_delta':
          add(blocks.get(index) ?? {}, field, pieces[field]);
          break;
        case 'message_delta':
          stopReason = stop ?? stopReason;
          count(counts);
          break;
        case 'message_stop':
          isWhole = true;
      }
    },
    isWhole: () => isWhole,
    /** The message as it would be without streaming. */
    message(): unknown {
      const content = Array.from(blocks.values(), ({ partial_json: input, ...block }) =>
        typeof input === 'string' ? { ...block, input: jsonOf(input) } : block,
      );
      return { ...beginning, content, usage, stop_reason: stopReason ?? beginning?.['stop_reason'] };
    },
  };
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
}

/** `undefined` for anything that is not JSON. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const maxRetries = 5;
const firstBackoffMs = 500;
const maxBackoffMs = 8_000;

export interface FailedAttempt {
  readonly error: ModelError;
  /** The server did no work, so nothing is billed. */
  readonly isFree?: boolean;
}

/** Waits at least as long as the server asked. @throws the error where a retry does not help or fit the deadline. */
export async function backOff(
  { error }: FailedAttempt,
  retries: number,
  { deadline, random, logger }: { deadline: Deadline; random: () => number; logger: Logger },
): Promise<void> {
  const waitMs = error.retryAfterMs + random() * Math.min(maxBackoffMs, firstBackoffMs * 2 ** retries);
  if (retries === maxRetries || !passingFailures.has(error.failure) || waitMs >= deadline.remainingMs())
    throw error;
  logger.warn('retrying a model call', { failure: error.failure, reason: error.message, waitMs });
  await sleep(waitMs, undefined, { signal: deadline.signal });
}

const neverConnected = /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH/u;

/** Never shows `secret`, nor keeps the SDK's error as a cause, since that carries bodies. */
export function failedAttempt(error: unknown, secret: string): FailedAttempt {
  if (error instanceof ModelError) return { error };
  if (error instanceof APIConnectionError) {
    const code = codeOf(error);
    return {
      error: new ModelError(`The model's server cannot be reached${code}`, 'unavailable'),
      isFree: neverConnected.test(code),
    };
  }
  if (!(error instanceof APIError))
    return { error: new ModelError(`The model's answer broke off${codeOf(error)}`, 'broken') };
  const { apiMessage, type } = error;
  const status = typeof error.status === 'number' ? error.status : undefined;
  const detail = apiMessage === null ? '' : `: ${redact(apiMessage, secret)}`;
  const failure = failureOf(status, type, apiMessage ?? '');
  const what = [status, type].filter(Boolean).join(' ') || 'with an error';
  return {
    error: new ModelError(`The model's server answered ${what}${detail}`, failure, {
      retryAfterMs: passingFailures.has(failure) ? retryAfterIn(error.headers) : 0,
    }),
    isFree: status !== undefined,
  };
}

/** Some servers refuse an unknown model like any other bad request. */
const unknownModel =
  /\bmodel\b.{0,200}\b(?:not found|not exist|unknown)\b|\b(?:not a valid|invalid|unknown|no such) model\b/iu;

/** Of the vendor and of gateways, whose status may be 400, 402, 403 or 429. */
const noCredit =
  /\bcredit balance\b|\binsufficient[_ ](?:quota|credits?|balance|funds)\b|\bexceeded your current quota\b|\bbilling[_ ](?:error|hard[_ ]limit|not[_ ]active)|\bAPI usage limits\b|\bbudget has been exceeded\b|\bkey limit exceeded\b/iu;

/** Fewer tokens would do, or it is a limit of a minute. */
const hasCredit = /\bcan only afford [1-9]|try (?:again )?in \d/iu;

function failureOf(status: number | undefined, type: string | null, message: string): ModelFailure {
  const lacksCredit = status === 402 || noCredit.test(`${type} ${message}`);
  if (lacksCredit && !hasCredit.test(message)) return 'out-of-credit';
  if (status === 401 || type === 'authentication_error') return 'unauthorized';
  // Gateways refuse what people say in the same way.
  if (type === 'permission_error' && !/\bflagged\b|\bmoderation\b/iu.test(message)) return 'unauthorized';
  if (status === 404 || (status === 400 && unknownModel.test(message))) return 'unknown-model';
  if (status === 429 || type === 'rate_limit_error') return 'rate-limited';
  if (status === 529 || type === 'overloaded_error') return 'overloaded';
  if (status !== undefined) return status >= 500 ? 'unavailable' : 'rejected';
  const isRefusal = /^(?:invalid_request|permission)_error$/u.test(type ?? '');
  return isRefusal ? 'rejected' : 'unavailable';
}

/** Seconds, or a date by the server's own clock; a day at most, whatever it says. */
function retryAfterIn(headers: unknown): number {
  if (!(headers instanceof Headers)) return 0;
  const value = headers.get('retry-after') ?? '';
  const ms = /^[\d.]+$/u.test(value)
    ? Number(value) * 1000
    : Date.parse(value) - Date.parse(headers.get('date') ?? '');
  return ms > 0 ? Math.min(ms, 24 * 3_600_000) : 0;
}

function redact(text: string, secret: string): string {
  const known = secret === '' ? text : text.replaceAll(secret, '[key]');
  return clip(toSingleLine(known.replace(/\bsk-[\w-]{8,}/gu, '[key]')), 200);
}

/** Such as ` (ECONNREFUSED)`; the messages of such errors may show headers or addresses. */
function codeOf(error: unknown, depth = 0): string {
  if (!(error instanceof Error) || depth > 4) return '';
  if ('code' in error && typeof error.code === 'string') return ` (${error.code})`;
  return codeOf(error.cause, depth + 1);
}
