import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

import {
  brokenMessage,
  eventText,
  saidMessage,
  streamedMessage,
  wholeMessage,
  type ModelAnswer,
} from './model-answer.ts';

/** One call as the server got it. */
export interface ModelServerRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The body as sent, for comparing bytes. */
  readonly raw: string;
  readonly body: MessagesBody;
  /** Whether the client went away before the answer was complete. */
  wasGivenUp: boolean;
}

/** The parts of a Messages API request that scripts and tests look at. The purpose of a call can be told by its system text. */
export interface MessagesBody {
  readonly model?: string;
  readonly stream?: boolean;
  readonly max_tokens?: number;
  readonly system?: readonly MessagesBlock[];
  readonly messages?: readonly { readonly role: string; readonly content: readonly MessagesBlock[] }[];
  readonly tools?: readonly { readonly name: string; readonly [field: string]: unknown }[];
  readonly output_config?: { readonly effort?: string; readonly format?: unknown };
}

export interface MessagesBlock {
  readonly type: string;
  readonly text?: string;
  readonly [field: string]: unknown;
}

/** Decides the answer to a call; `index` counts calls from 0. */
export type ModelScript = (body: MessagesBody, index: number) => ModelAnswer;

/** What `GET /v1/models` answers: a body, a status that refuses, or nothing where there is no such list. */
export type ModelList = (headers: IncomingHttpHeaders) => object | number | undefined;

export interface ModelServer {
  /** To be used as `ANTHROPIC_BASE_URL`. */
  readonly url: string;
  readonly requests: readonly ModelServerRequest[];
  /** Calls of one token, by which a start and the doctor look whether the model answers; they are not among the requests. */
  readonly probes: readonly ModelServerRequest[];
  /** The most calls that were open at one time. */
  readonly peakConcurrency: number;
  /** Connections that calls came over; fewer than calls where they are used again. */
  readonly connections: number;
  /** Hangs up on everybody. Again is fine. */
  close(): Promise<void>;
}

/**
 * A server on loopback with the part of the Messages API that the product uses: `POST /v1/messages`, streamed or
 * whole. `probe` answers calls of one token, `list` those for the models; by default there is no list.
 */
export async function startModelServer(
  script: ModelScript,
  probe: ModelScript = () => ({ text: 'Hi' }),
  list: ModelList = () => undefined,
): Promise<ModelServer> {
  const requests: ModelServerRequest[] = [];
  const probes: ModelServerRequest[] = [];
  let open = 0;
  let peak = 0;

  const server = createServer((request, response) => {
    open += 1;
    peak = Math.max(peak, open);
    response.once('close', () => {
      open -= 1;
    });
    handle(request, response).catch(() => response.destroy());
  });

  let connections = 0;
  server.on('connection', () => {
    connections += 1;
  });

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method === 'GET' && request.url?.startsWith('/v1/models') === true) {
      const listed = list(request.headers);
      if (typeof listed === 'object') sendJson(response, 200, listed);
      else sendError(response, listed ?? 404, 'no list');
      return;
    }
    const raw = await readText(request);
    const body: MessagesBody = JSON.parse(raw);
    const path = request.url ?? '';
    const record: ModelServerRequest = { path, headers: request.headers, raw, body, wasGivenUp: false };
    response.once('close', () => {
      record.wasGivenUp = !response.writableEnded;
    });
    const [kept, answer] = body.max_tokens === 1 ? [probes, probe] : [requests, script];
    const index = kept.push(record) - 1;
    if (request.method !== 'POST' || path !== '/v1/messages') sendError(response, 404, 'no such path');
    // As strict parsers of JSON are: a lone half of a character is none.
    else if (/\\ud[89a-f]/iu.test(raw)) sendError(response, 400, 'The request body is not valid JSON');
    else await answerWith(response, answer(body, index), body, index);
  }

  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The model server has no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    requests,
    probes,
    get peakConcurrency() {
      return peak;
    },
    get connections() {
      return connections;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answerWith(
  response: ServerResponse,
  answer: ModelAnswer,
  body: MessagesBody,
  index: number,
): Promise<void> {
  if (answer === 'silent') return;
  if (answer === 'html') {
    response.writeHead(200, { 'content-type': 'text/html' }).end('<html><body>Please log in</body></html>');
    return;
  }
  if (answer === 'stall' || answer === 'cut') {
    await stream(response, brokenMessage());
    if (answer === 'cut') response.destroy();
    return;
  }
  if (typeof answer === 'object') {
    await answer.held;
    if (answer.delayMs !== undefined) await sleep(answer.delayMs);
  }
  if (typeof answer === 'object' && 'status' in answer) {
    const { status, error = status === 404 ? 'model: scripted' : 'scripted', headers } = answer;
    if (answer.body !== undefined) sendJson(response, status, answer.body, headers);
    else if (answer.page !== undefined) response.writeHead(status).end(answer.page);
    else sendError(response, status, error, headers);
    return;
  }
  const said = saidMessage(answer, index, [body.system, body.output_config]);
  if (said !== undefined && body.stream !== true) sendJson(response, 200, wholeMessage(said));
  else if (said !== undefined) await streamToEnd(response, streamedMessage(said));
  else if (typeof answer === 'object' && 'message' in answer) sendJson(response, 200, answer.message);
  else if (typeof answer === 'object' && 'events' in answer) await streamToEnd(response, answer.events);
}

async function streamToEnd(response: ServerResponse, events: readonly object[]): Promise<void> {
  await stream(response, events);
  response.end();
}

async function stream(response: ServerResponse, events: readonly object[]): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
  for (const event of events) {
    if (response.destroyed) return;
    if ('pauseMs' in event) await sleep(Number(event.pauseMs));
    else if ('until' in event) await event.until;
    else if ('bytes' in event && event.bytes instanceof Uint8Array) await write(response, event.bytes);
    else await write(response, eventText(event));
  }
}

function write(response: ServerResponse, bytes: Uint8Array | string): Promise<void> {
  return new Promise((resolve) => {
    response.write(bytes, () => resolve());
  });
}

const errorTypes: ReadonlyMap<number, string> = new Map([
  [401, 'authentication_error'],
  [404, 'not_found_error'],
  [429, 'rate_limit_error'],
  [529, 'overloaded_error'],
]);

function sendError(
  response: ServerResponse,
  status: number,
  message: string,
  headers?: Readonly<Record<string, string>>,
): void {
  const type = errorTypes.get(status) ?? (status >= 500 ? 'api_error' : 'invalid_request_error');
  sendJson(response, status, { type: 'error', error: { type, message } }, headers);
}

function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}
