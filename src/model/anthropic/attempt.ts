import { APIError, type Anthropic } from '@anthropic-ai/sdk';
import { Stream, type ServerSentEvent } from '@anthropic-ai/sdk/core/streaming';
import type { MessageCreateParamsStreaming } from '@anthropic-ai/sdk/resources/messages';

import { ModelError } from '../../core/errors.ts';
import { unlessAborted, withTimeout } from '../../core/time.ts';
import { readMessage, type Answer } from './response.ts';

/** Milliseconds to wait for the end of a stream after its message. */
const streamEndMs = 50;

export interface AttemptOptions {
  readonly signal: AbortSignal;
  /** See `ModelCallOptions`. */
  readonly after?: Promise<void>;
  /** Milliseconds without a byte after which the attempt counts as stalled. */
  readonly idleTimeoutMs: number;
  readonly onText: (piece: string) => void;
}

/** A watchdog ends a stream without any bytes [M7]. Rejects with the signal's reason, or as the SDK does. */
export async function attempt(
  client: Anthropic,
  body: MessageCreateParamsStreaming,
  { signal, after, idleTimeoutMs, onText }: AttemptOptions,
): Promise<Answer> {
  signal.throwIfAborted();
  const own = new AbortController();
  const ended = AbortSignal.any([signal, own.signal]);
  const silent = new ModelError(`The model's server was silent for ${idleTimeoutMs} ms`, 'stalled');
  const watchdog = setTimeout(() => own.abort(silent), idleTimeoutMs);

  async function receive(): Promise<Answer> {
    await after;
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

async function readAnswer(answer: Response, onText: AttemptOptions['onText']): Promise<Answer> {
  const type = answer.headers.get('content-type') ?? '';
  if (/html|xml/iu.test(type)) throw new ModelError("The model's server answered with a web page", 'invalid');
  if (!/json/iu.test(type)) return readStream(answer, onText);
  // Some servers ignore that a stream was requested.
  const whole = readMessage(jsonOf(await answer.text()));
  for (const block of whole.response.content) if (block.type === 'text') onText(block.text);
  return whole;
}

/** Reads the SDK's raw events: it would drop those without a name, and some servers send no others. */
async function readStream(answer: Response, onText: AttemptOptions['onText']): Promise<Answer> {
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
    /** Whether the end of the message came. */
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
