import type { Anthropic, Middleware } from '@anthropic-ai/sdk';
import { createParser } from 'eventsource-parser';

import { ModelError } from '../../core/errors.ts';
import type { ModelResponse } from '../../core/model.ts';
import { within } from '../../core/time.ts';
import { untilAborted } from '../deadline.ts';
import { piecesOf } from './fetch.ts';
import { modelResponse } from './response.ts';
import { AttemptError } from './retries.ts';
import { createAssembly, eventIn, isFields, jsonOf } from './stream-events.ts';

/** Milliseconds that a stream has to end after the message in it. */
const streamEndMs = 50;

const jsonHeaders = { 'content-type': 'application/json' };

/** Why a connection is closed whose answer is not wanted any more; a reason made anew each time is dear. */
const notWanted = new Error('The rest of the answer is not wanted');

export interface AttemptOptions {
  readonly signal: AbortSignal;
  /** See `ModelCallOptions`. */
  readonly after?: Promise<void> | undefined;
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
 * Asks once, with the body of a request to the Messages API as it is sent, and reads the answer as it streams. The SDK's timeout does not
 * reach the request, so a watchdog looks after it and the stream [M7]; it counts bytes, as servers keep a connection alive by pings while the
 * model thinks. Rejects with the signal's reason at once when that is aborted, else with `ModelError` or whatever the SDK throws.
 */
export async function attempt(
  client: Anthropic,
  body: Uint8Array,
  { signal, after, idleTimeoutMs, onText }: AttemptOptions,
): Promise<Attempted> {
  signal.throwIfAborted();
  const own = new AbortController();
  const giveUp = (): void => own.abort(signal.reason);
  signal.addEventListener('abort', giveUp, { once: true });
  const watchdog = setTimeout(
    () => own.abort(new AttemptError(`The model's server was silent for ${idleTimeoutMs} ms`, 'stalled')),
    idleTimeoutMs,
  );
  let isReadToEnd = false;
  try {
    const received = receive(client, body, {
      signal: own.signal,
      after,
      onBytes: () => watchdog.refresh(),
      onText: (piece) => {
        if (!own.signal.aborted) onText(piece);
      },
    });
    const answer = await untilAborted(received, own.signal);
    ({ isReadToEnd } = answer);
    return answer;
  } finally {
    clearTimeout(watchdog);
    signal.removeEventListener('abort', giveUp);
    // A connection whose answer was read to its end can be used again; any other is closed.
    if (!isReadToEnd) own.abort(notWanted);
  }
}

interface Answer extends Attempted {
  readonly isReadToEnd: boolean;
}

interface Receiving {
  readonly signal: AbortSignal;
  readonly after: Promise<void> | undefined;
  readonly onBytes: () => void;
  readonly onText: (piece: string) => void;
}

async function receive(
  client: Anthropic,
  body: Uint8Array,
  { signal, after, onBytes, onText }: Receiving,
): Promise<Answer> {
  // The SDK would listen to the signal only as long as nobody has collected the response, which it keeps track of by a finaliser.
  const toServer: Middleware = async (request, send) => {
    await after;
    return send({ ...request, signal });
  };
  // `messages.create` would write the whole body anew.
  const response = await client
    .post('/v1/messages', { body, headers: jsonHeaders, stream: true, middleware: [toServer] })
    .asResponse();
  onBytes();
  const type = response.headers.get('content-type') ?? '';
  if (/html|xml/iu.test(type)) throw new ModelError("The model's server answered with a web page", 'invalid');
  const nextPiece = textOf(response, onBytes);
  return /json/iu.test(type) ? readWhole(nextPiece, onText) : readStream(nextPiece, response.headers, onText);
}

/** Gives the next piece of a text; `undefined` is its end. */
type NextPiece = () => Promise<string | undefined>;

function textOf(response: Response, onBytes: () => void): NextPiece {
  const pieces = piecesOf(response);
  const decoder = new TextDecoder();
  return async () => {
    const { done, value } = await pieces.next();
    onBytes();
    return done === true ? undefined : decoder.decode(value, { stream: true });
  };
}

/** Some servers answer in one piece though a stream was asked for. */
async function readWhole(nextPiece: NextPiece, onText: Receiving['onText']): Promise<Answer> {
  let text = '';
  for (let piece = await nextPiece(); piece !== undefined; piece = await nextPiece()) text += piece;
  const answer = answerOf(jsonOf(text));
  for (const block of answer.response.content) if (block.type === 'text') onText(block.text);
  return { ...answer, isReadToEnd: true };
}

async function readStream(
  nextPiece: NextPiece,
  headers: Headers,
  onText: Receiving['onText'],
): Promise<Answer> {
  const assembly = createAssembly(onText);
  const parser = createParser({
    onEvent(event) {
      // What follows the end counts for nothing.
      if (!assembly.isWhole()) assembly.take(eventIn(event, headers));
    },
  });
  while (!assembly.isWhole()) {
    const piece = await nextPiece();
    if (piece === undefined) throw new AttemptError("The model's answer broke off", 'broken');
    parser.feed(piece);
  }
  const answer = answerOf(assembly.message());
  return { ...answer, isReadToEnd: await within(streamEndMs, endOf(nextPiece), false) };
}

/** Whether a text ends well; what it still says counts for nothing. */
async function endOf(nextPiece: NextPiece): Promise<boolean> {
  try {
    while ((await nextPiece()) !== undefined);
    return true;
  } catch {
    return false;
  }
}

function answerOf(message: unknown): Attempted {
  const response = modelResponse(message);
  const id = isFields(message) && typeof message['id'] === 'string' ? message['id'] : undefined;
  return { id, response };
}
