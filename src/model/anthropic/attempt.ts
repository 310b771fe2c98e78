import { setTimeout as sleep } from 'node:timers/promises';

import type Anthropic from '@anthropic-ai/sdk';
import { Stream } from '@anthropic-ai/sdk/core/streaming';
import type { MessageCreateParamsStreaming } from '@anthropic-ai/sdk/resources/messages';

import { ModelError } from '../../core/errors.ts';
import type { ModelResponse } from '../../core/model.ts';
import { untilAborted } from '../until-aborted.ts';
import { AttemptError } from './attempt-error.ts';
import { MessageAssembler } from './message-assembler.ts';
import { modelResponse } from './model-response.ts';

/** Milliseconds that a stream has to end after the message in it. */
const streamEndMs = 50;

export interface AttemptOptions {
  readonly signal: AbortSignal;
  /** Milliseconds without a byte from the server, from the request on, after which the attempt counts as stalled. */
  readonly idleTimeoutMs: number;
  readonly onText: (piece: string) => void;
}

/**
 * Asks once, and reads the answer as it streams. The SDK's timeout ends with the response's headers, so a watchdog looks after
 * the stream [M7]; it counts bytes, as servers keep a connection alive by pings while the model thinks. Rejects with the
 * signal's reason at once when that is aborted, else with `ModelError` or whatever the SDK throws.
 */
export async function attempt(
  client: Anthropic,
  body: MessageCreateParamsStreaming,
  options: AttemptOptions,
): Promise<ModelResponse> {
  const { idleTimeoutMs } = options;
  const own = new AbortController();
  const signal = AbortSignal.any([options.signal, own.signal]);
  const watchdog = setTimeout(
    () => own.abort(new AttemptError(`The model's server was silent for ${idleTimeoutMs} ms`, 'stalled')),
    idleTimeoutMs,
  );
  const onText = (piece: string): void => {
    if (!signal.aborted) options.onText(piece);
  };
  try {
    return await untilAborted(
      receive(client, body, { signal, onText, onBytes: () => watchdog.refresh() }),
      signal,
    );
  } finally {
    clearTimeout(watchdog);
    // Closes the connection where the answer was not read to its end.
    own.abort();
  }
}

interface ReceiveOptions {
  readonly signal: AbortSignal;
  readonly onText: (piece: string) => void;
  readonly onBytes: () => void;
}

async function receive(
  client: Anthropic,
  body: MessageCreateParamsStreaming,
  options: ReceiveOptions,
): Promise<ModelResponse> {
  const response = await client.messages.create(body, { signal: options.signal }).asResponse();
  const type = response.headers.get('content-type') ?? '';
  if (/html|xml/iu.test(type)) throw new ModelError("The model's server answered with a web page", 'invalid');
  if (/json/iu.test(type)) return receiveWhole(response, options);
  return receiveStream(client, response, options);
}

/** Some servers answer in one piece though a stream was asked for. */
async function receiveWhole(response: Response, options: ReceiveOptions): Promise<ModelResponse> {
  const text = await watched(response, options.onBytes).text();
  const answer = modelResponse(parsedJson(text));
  for (const block of answer.content) if (block.type === 'text') options.onText(block.text);
  return answer;
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ModelError("The model's answer is not JSON", 'invalid');
  }
}

async function receiveStream(
  client: Anthropic,
  response: Response,
  options: ReceiveOptions,
): Promise<ModelResponse> {
  const message = new MessageAssembler();
  const events = Stream.fromSSEResponse<unknown>(
    watched(response, options.onBytes),
    new AbortController(),
    client,
  );
  const iterator = events[Symbol.asyncIterator]();
  while (!message.isComplete) {
    const next = await iterator.next();
    if (next.done === true) throw new AttemptError("The model's answer broke off", 'broken');
    const piece = message.add(next.value);
    if (piece !== '') options.onText(piece);
  }
  // A connection whose stream was read to its end can be used again; a server that does not end it is not waited for.
  await Promise.race([iterator.next().catch(() => undefined), sleep(streamEndMs)]);
  return modelResponse(message.message());
}

/** The same response, with every piece of its body noticed. */
function watched(response: Response, onBytes: () => void): Response {
  onBytes();
  const noticing = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      onBytes();
      controller.enqueue(chunk);
    },
  });
  return new Response(response.body?.pipeThrough(noticing) ?? null, { headers: response.headers });
}
