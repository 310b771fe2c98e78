import { setTimeout as sleep } from 'node:timers/promises';

import { AnthropicError, type Anthropic, type Middleware } from '@anthropic-ai/sdk';
import type { MessageCreateParamsStreaming, MessageStreamEvent } from '@anthropic-ai/sdk/resources/messages';

import { ModelError } from '../../core/errors.ts';
import type { ModelResponse } from '../../core/model.ts';
import { untilAborted } from '../deadline.ts';
import { modelResponse } from './response.ts';
import { AttemptError } from './retries.ts';
import { jsonOf, wellFormed } from './stream-events.ts';

/** Milliseconds that a stream has to end after the message in it. */
const streamEndMs = 50;

export interface AttemptOptions {
  readonly signal: AbortSignal;
  /** Milliseconds without a byte from the server, from the request on, after which the attempt counts as stalled. */
  readonly idleTimeoutMs: number;
  readonly onText: (piece: string) => void;
}

export interface Attempted {
  /** The vendor's, for the response; other servers need not give any. */
  readonly id: string | undefined;
  readonly response: ModelResponse;
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
): Promise<Attempted> {
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
    const middleware = [streamWatchedBy(() => watchdog.refresh())];
    return await untilAborted(receive(client, body, { signal, middleware }, onText), signal);
  } finally {
    clearTimeout(watchdog);
    // Closes the connection where the answer was not read to its end.
    own.abort();
  }
}

async function receive(
  client: Anthropic,
  body: MessageCreateParamsStreaming,
  options: { readonly signal: AbortSignal; readonly middleware: Middleware[] },
  onText: (piece: string) => void,
): Promise<Attempted> {
  /** The input of each tool call as it was written, by the call's place in the message. */
  const inputs = new Map<number, string>();
  const stream = client.messages.stream(body, options).on('streamEvent', (event) => {
    for (const piece of textsIn(event)) if (piece) onText(piece);
    if (event.type !== 'content_block_delta' || event.delta.type !== 'input_json_delta') return;
    inputs.set(event.index, (inputs.get(event.index) ?? '') + event.delta.partial_json);
  });
  try {
    // `finalMessage` notices a stream that ends without its message; one that stays open after it is not waited for.
    const message = await Promise.race([stream.emitted('message'), stream.finalMessage()]);
    // A connection whose stream was read to its end can be used again.
    await Promise.race([stream.done().catch(() => undefined), sleep(streamEndMs)]);
    const content = message.content.map((block, index) => {
      const input = inputs.get(index) ?? '';
      // The SDK completes an input that broke off, which must not be taken for a whole one.
      return input === '' ? block : { ...block, input: jsonOf(input) };
    });
    return { id: message.id, response: modelResponse({ ...message, content }) };
  } catch (error) {
    const isGarbage = error instanceof AnthropicError && error.cause instanceof SyntaxError;
    // What is not even the beginning of JSON ends the SDK's stream.
    if (isGarbage && [...inputs.values()].some((input) => jsonOf(input) === undefined))
      throw new ModelError("The model's answer has a malformed tool call", 'invalid');
    throw error;
  }
}

/** The texts that an event adds to the answer; events of unknown kinds add none. */
function textsIn(event: MessageStreamEvent): readonly string[] {
  if (event.type === 'content_block_delta')
    return event.delta.type === 'text_delta' ? [event.delta.text] : [];
  const blocks =
    event.type === 'message_start'
      ? event.message.content
      : event.type === 'content_block_start'
        ? [event.content_block]
        : [];
  return blocks.flatMap((block) => (block.type === 'text' ? [block.text] : []));
}

/** Has every byte of the server's answer noticed, and gives it the form that was asked for. */
function streamWatchedBy(onBytes: () => void): Middleware {
  return async (request, next) => {
    const response = watched(await next(request), onBytes);
    const type = response.headers.get('content-type') ?? '';
    if (!response.ok) return response;
    if (/html|xml/iu.test(type)) {
      await response.body?.cancel();
      throw new ModelError("The model's server answered with a web page", 'invalid');
    }
    return /json/iu.test(type) ? streamOf(jsonOf(await response.text())) : wellFormed(response);
  };
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
  return new Response(response.body?.pipeThrough(noticing) ?? null, response);
}

/** Some servers answer in one piece though a stream was asked for: then the stream begins with all that it says. */
function streamOf(message: unknown): Response {
  modelResponse(message);
  const events = [{ type: 'message_start', message }, { type: 'message_stop' }];
  return new Response(
    events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''),
  );
}
