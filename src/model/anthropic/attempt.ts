import { setTimeout as sleep } from 'node:timers/promises';

import { APIError, type Anthropic, APIConnectionError } from '@anthropic-ai/sdk';
import { Stream, type ServerSentEvent } from '@anthropic-ai/sdk/core/streaming';
import type { MessageCreateParamsStreaming } from '@anthropic-ai/sdk/resources/messages';

import { ModelError, passingFailures, type ModelFailure } from '../../core/errors.ts';
import { jsonOf } from '../../core/lenient-json.ts';
import type { ModelResponse } from '../../core/model.ts';
import { unlessAborted, withTimeout, type Deadline } from '../../core/time.ts';
import { statementsIn } from './learnt.ts';
import { readMessage, stops } from './response.ts';
import type { Logger } from '../../core/logger.ts';
import { clip, toSingleLine } from '../../core/text.ts';

/** Milliseconds to wait for the rest of a message after its stop reason, and for the end of a stream after its message. */
const messageEndMs = 1_000;
const streamEndMs = 50;

export interface AttemptOptions {
  readonly signal: AbortSignal;
  /** Milliseconds without a byte after which the attempt counts as stalled. */
  readonly idleTimeoutMs: number;
  readonly onText: (piece: string) => void;
  /** Called where the server tells thoughts apart from the text. */
  readonly onThought: () => void;
}

/** A watchdog ends a stream without any bytes [M7]. Rejects with the signal's reason, or as the SDK does. */
export async function attempt(
  client: Anthropic,
  body: MessageCreateParamsStreaming,
  { signal, idleTimeoutMs, onText, onThought }: AttemptOptions,
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
    const unlessEnded = (piece: string): void => (ended.aborted ? undefined : onText(piece));
    return readAnswer(new Response(bytes, { headers: answer.headers }), { onText: unlessEnded, onThought });
  }

  try {
    return await unlessAborted(ended, receive());
  } finally {
    clearTimeout(watchdog);
    // Closes the connection unless the answer was read to its end.
    own.abort();
  }
}

type Listener = Pick<AttemptOptions, 'onText' | 'onThought'>;

async function readAnswer(answer: Response, listener: Listener): Promise<ModelResponse> {
  const type = answer.headers.get('content-type') ?? '';
  if (/html|xml/iu.test(type)) throw new ModelError("The model's server answered with a web page", 'invalid');
  if (!/json/iu.test(type)) return readStream(answer, listener);
  // Some servers ignore that a stream was requested.
  const whole = readMessage(unlessError(jsonOf(await answer.text())));
  for (const block of whole.content) if (block.type === 'text') listener.onText(block.text);
  return whole;
}

/** Reads the SDK's raw events: it would drop those without a name, and some servers send no others. */
async function readStream(answer: Response, listener: Listener): Promise<ModelResponse> {
  const assembly = createAssembly(listener);
  const copy = answer.clone();
  const events = Stream.rawEvents(answer);
  const readUntil = async (isEnough: () => boolean): Promise<void> => {
    while (!isEnough()) {
      const { done, value } = await events.next();
      if (done === true) return;
      assembly.take(eventIn(value));
    }
  };
  const rest = (isEnough: () => boolean) => readUntil(isEnough).catch(() => undefined);
  await readUntil(assembly.hasStopped);
  if (!assembly.hasStopped()) {
    // Some servers send an error as JSON all the same.
    unlessError(jsonOf(await copy.text()));
    throw new ModelError("The model's answer broke off", 'broken');
  }
  // Its counts may follow; some servers end, break or hold the stream before its last event [M15].
  await withTimeout(messageEndMs, rest(assembly.isWhole), undefined);
  const ended = rest(() => false);
  await withTimeout(streamEndMs, ended, undefined);
  return readMessage(assembly.message());
}

/** @throws {APIError} for an error, `SyntaxError` for broken JSON. */
function eventIn({ event: name, data }: ServerSentEvent): unknown {
  if (name === 'error') return unlessError({ error: { message: data }, ...fieldsOf(jsonOf(data)) });
  // Other vendors end their streams with words, without a name.
  const mayBeWords = name === null || name === 'ping' || data === '';
  return unlessError(mayBeWords ? jsonOf(data) : JSON.parse(data));
}

/** What came with status 200. @throws {APIError} where it is an error, with the status that it names [M15], and no headers. */
export function unlessError(body: unknown): unknown {
  const outer = fieldsOf(body);
  const { type, object, error } = outer;
  const isTold = Object.values(Object(error)).some(Boolean);
  if (type !== 'error' && object !== 'error' && !isTold) return body;
  const inner = fieldsOf(error);
  const codes = [inner['code'], inner['status'], outer['code'], outer['status']].map(Number);
  const status = codes.find((code) => code >= 400 && code < 600);
  throw new APIError(status, outer, undefined, undefined);
}

type Fields = Record<string, unknown>;

/** The type of block, and its field, that each kind of delta adds to. */
const targets: ReadonlyMap<unknown, readonly [type: string, field: string]> = new Map([
  ['text_delta', ['text', 'text']],
  ['thinking_delta', ['thinking', 'thinking']],
  ['signature_delta', ['thinking', 'signature']],
  ['input_json_delta', ['tool_use', 'partial_json']],
]);
const targetTypes: ReadonlySet<unknown> = new Set(Array.from(targets.values(), ([type]) => type));

/** Unlike the SDK, it tolerates what servers leave out, and does not complete tool input that broke off [M7]. */
function createAssembly({ onText, onThought }: Listener) {
  /** With the server's index, which several may have [M15]. */
  const blocks: { readonly index: unknown; readonly block: Fields }[] = [];
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
    if (field === 'thinking') onThought();
  }

  function begin(index: unknown, { text, ...block }: Fields): void {
    const isRepeated = blocks.some((each) => each.index === index && each.block['id'] === block['id']);
    if (block['type'] === undefined || (block['id'] && isRepeated)) return;
    blocks.push({ index, block });
    if (block['type'] === 'text') block['text'] = '';
    if (block['type'] === 'thinking') block['thinking'] ??= '';
    add(block, 'text', text);
  }

  /** Adds to the newest block that takes it. A text or a thought may begin so; a call would have no name. */
  function extend(index: unknown, { type: kind, ...pieces }: Fields): void {
    const [type, field = ''] = targets.get(kind) ?? [];
    const fits = (own: unknown) => own === type || !targetTypes.has(own);
    const newest = () => blocks.findLast((each) => each.index === index && fits(each.block['type']));
    if (newest() === undefined && type !== 'tool_use') begin(index, { type });
    add(newest()?.block ?? {}, field, pieces[field]);
  }

  return {
    /** Adds an event, whose parts it may change. */
    take(event: unknown): void {
      const { type, index, message, content_block: block, delta, usage: counts } = fieldsOf(event);
      if (isWhole) return;
      switch (type) {
        case 'message_start':
          beginning ??= fieldsOf(message);
          count(fieldsOf(message)['usage']);
          break;
        case 'content_block_start':
          begin(index, fieldsOf(block));
          break;
        case 'content_block_delta':
          extend(index, fieldsOf(delta));
          break;
        case 'message_delta':
          stopReason = fieldsOf(delta)['stop_reason'] ?? stopReason;
          count(counts);
          break;
        case 'message_stop':
          isWhole = true;
      }
    },
    hasStopped: () => isWhole || stops.has(stopReason),
    isWhole: () => isWhole,
    /** The message as it would be without streaming. */
    message(): unknown {
      const content = blocks.map(({ block: { partial_json: input, ...block } }) =>
        typeof input === 'string' ? { ...block, input: jsonOf(input) } : block,
      );
      return { ...beginning, content, usage, stop_reason: stopReason ?? beginning?.['stop_reason'] };
    },
  };
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
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
  const message =
    typeof apiMessage === 'string' ? apiMessage : statementsIn(error.error ?? error.message).join(': ');
  const failure = failureOf(status, type, message);
  const what = [status, type].filter(Boolean).join(' ') || 'with an error';
  const answered = `answered ${what}: ${redact(message, secret)}`;
  const hasNoApi = `has no Messages API at the address in ANTHROPIC_BASE_URL (${what})`;
  return {
    error: new ModelError(`The model's server ${failure === 'no-api' ? hasNoApi : answered}`, failure, {
      retryAfterMs: passingFailures.has(failure) ? retryAfterIn(error.headers) : 0,
    }),
    // An error inside a 200 may be billed.
    isFree: status !== undefined && error.headers !== undefined,
  };
}

/** Some servers refuse an unknown model like any other bad request. */
const unknownModel =
  /\bmodel\b.{0,200}\b(?:not found|not exist|unknown)\b|\b(?:not a valid|invalid|unknown|no such) model\b/iu;

/** No path of the server, rather than no model [M1]. */
function isUnknownPath(status: number | undefined, message: string): boolean {
  if (status !== 404 && status !== 405) return /\bunexpected endpoint\b/iu.test(message);
  return /<(?:!doctype|html)\b/iu.test(message) || !/\bmodels?\b|\bno endpoints\b/iu.test(message);
}

/** Of the vendor and of gateways, whose status may be 400, 402, 403 or 429. */
const noCredit =
  /\bcredit balance\b|\binsufficient[_ ](?:quota|credits?|balance|funds)\b|\bexceeded your current quota\b|\bbilling[_ ](?:error|hard[_ ]limit|not[_ ]active)|\bAPI usage limits\b|\bbudget has been exceeded\b|\bkey limit exceeded\b/iu;

/** Fewer tokens would do, or it is a limit of a minute. */
const hasCredit = /\bcan only afford [1-9]|try (?:again )?in \d/iu;

function failureOf(status: number | undefined, type: string | null, message: string): ModelFailure {
  if (isUnknownPath(status, message)) return 'no-api';
  const lacksCredit = status === 402 || noCredit.test(`${type} ${message}`);
  if (lacksCredit && !hasCredit.test(message)) return 'out-of-credit';
  if (status === 401 || type === 'authentication_error') return 'unauthorized';
  // Gateways refuse what people say in the same way.
  const isForbidden = status === 403 || type === 'permission_error';
  if (isForbidden && !/\bflagged\b|\bmoderation\b/iu.test(message)) return 'unauthorized';
  if (status === 404 || type === 'not_found_error' || (status === 400 && unknownModel.test(message)))
    return 'unknown-model';
  if (status === 429 || type === 'rate_limit_error') return 'rate-limited';
  if (status === 529 || type === 'overloaded_error') return 'overloaded';
  if (status !== undefined) return status >= 500 ? 'unavailable' : 'rejected';
  const isRefusal = /^(?:invalid_request|permission|request_too_large)/u.test(type ?? '');
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
