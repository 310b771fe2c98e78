import { APIError, type Anthropic } from '@anthropic-ai/sdk';
import { Stream, type ServerSentEvent } from '@anthropic-ai/sdk/core/streaming';
import type { MessageCreateParamsStreaming } from '@anthropic-ai/sdk/resources/messages';

import { ModelError } from '../../core/errors.ts';
import { unlessAborted, withTimeout } from '../../core/time.ts';
import { createAssembly, jsonOf } from './assembly.ts';
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
