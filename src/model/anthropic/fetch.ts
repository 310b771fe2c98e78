import { pipeline, Readable } from 'node:stream';
import { createBrotliDecompress, createUnzip, type Unzip } from 'node:zlib';

import { request, type Dispatcher } from 'undici';

/**
 * `fetch` for the SDK. By Node's own, a model call takes about 1.2 ms of processor, by this 0.8: the rest goes into what no such call needs.
 * So what is sent by POST, as a text or as bytes, goes out by undici's `request`, over the same pool of connections, and through whatever proxy holds for all
 * (undici's global dispatcher). Anything else is left to Node's. It differs from that one in this:
 *
 * - Of `init`, only method, headers, body and signal are looked at, and `url` of the response is empty.
 * - The server is asked not to compress, so that no piece of a stream is held up. What it compresses all the same is decoded.
 * - A redirect, which has rules of its own, is asked for again by Node's `fetch`; likewise an answer that no `Response` can be made of.
 * - Ports that browsers keep from are allowed; a name and password in the address are no error, and not sent.
 * - Rejects with undici's own error, where Node's wraps that as the cause of another; or with the signal's reason.
 */
export async function fetchForSdk(input: string | URL | Request, init: RequestInit = {}): Promise<Response> {
  const { method, headers, body, signal = null } = init;
  const isPosted =
    method === 'POST' &&
    headers instanceof Headers &&
    (typeof body === 'string' || body instanceof Uint8Array);
  if (!isPosted || input instanceof Request) return fetch(input, init);
  const answer = await request(input, {
    method,
    headers: { 'accept-encoding': 'identity', ...Object.fromEntries(headers) },
    body,
    signal,
  });
  const given = headersOf(answer.headers);
  const text = decoded(answer.body, given.get('content-encoding'));
  // Who reads is told of an error all the same; without a listener, one that comes before would end the process.
  text.on('error', ignore);
  if (isLeftToFetch(answer.statusCode)) {
    text.destroy();
    return fetch(input, init);
  }
  if (answer.statusCode !== 200 || !isEventStream.test(given.get('content-type') ?? ''))
    return new Response(text, { status: answer.statusCode, headers: given });
  return new StreamedResponse(text, given);
}

const isEventStream = /^text\/event-stream\b/iu;

/** A response without a body, and its text beside it. A `WeakMap` of these would do worse: its values outlive collections of young garbage, with all that they lead to. */
class StreamedResponse extends Response {
  readonly stream: Readable;

  constructor(stream: Readable, headers: Headers) {
    super(null, { headers });
    this.stream = stream;
  }
}

/** The pieces of a response's text as they come. */
export function piecesOf(response: Response): AsyncIterator<Uint8Array, unknown> {
  const text: AsyncIterable<Uint8Array> =
    response instanceof StreamedResponse ? response.stream : (response.body ?? noText);
  return text[Symbol.asyncIterator]();
}

const noText = Readable.from([]);

function ignore(): void {}

function isLeftToFetch(status: number): boolean {
  const isRedirect = status >= 300 && status < 400;
  const isWithoutText = status === 204 || status === 205;
  return isRedirect || isWithoutText || status > 599;
}

const decoders: ReadonlyMap<string, () => Unzip> = new Map([
  ['gzip', createUnzip],
  ['deflate', createUnzip],
  ['br', createBrotliDecompress],
]);

/** In a coding that is not known, it stays as it came. */
function decoded(body: Readable, coding: string | null): Readable {
  const decoder = decoders.get(coding?.toLowerCase() ?? '')?.();
  return decoder === undefined ? body : pipeline(body, decoder, ignore);
}

function headersOf(given: Dispatcher.ResponseData['headers']): Headers {
  const headers = new Headers();
  for (const [name, values = []] of Object.entries(given))
    for (const value of [values].flat()) headers.append(name, latin1(value));
  return headers;
}

/** As headers hold text, which takes nothing else: a character for each byte. */
function latin1(value: string): string {
  return Buffer.from(value).toString('latin1');
}
