import { createServer, type IncomingHttpHeaders } from 'node:http';
import { buffer } from 'node:stream/consumers';

/** What the server got: the multipart body as a server reads it. */
export interface TranscriptionRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly file: { readonly name: string; readonly type: string; readonly bytes: Buffer } | undefined;
}

/** `silent`: never answers; `hang-up`: cuts the connection. */
export type TranscriptionAnswer =
  | { readonly text: string; readonly held?: Promise<void> }
  | { readonly status: number }
  | { readonly raw: string }
  | 'silent'
  | 'hang-up';

export type TranscriptionServer = Awaited<ReturnType<typeof startTranscriptionServer>>;

/** A server on loopback with `POST /v1/audio/transcriptions`; `script` hears what a file says. */
export async function startTranscriptionServer(
  script: (request: TranscriptionRequest) => TranscriptionAnswer,
) {
  const requests: TranscriptionRequest[] = [];
  const server = createServer((request, response) => {
    void (async () => {
      const { url: path = '', headers } = request;
      const body = new Uint8Array(await buffer(request));
      const form = await new Response(body, {
        headers: { 'content-type': headers['content-type'] ?? '' },
      }).formData();
      const file = form.get('file');
      const got: TranscriptionRequest = {
        path,
        headers,
        fields: Object.fromEntries([...form].filter(([, value]) => typeof value === 'string')),
        file:
          file instanceof File
            ? { name: file.name, type: file.type, bytes: Buffer.from(await file.arrayBuffer()) }
            : undefined,
      };
      requests.push(got);
      const answer = path === '/v1/audio/transcriptions' ? script(got) : { status: 404 };
      if (answer === 'silent') return;
      if (answer === 'hang-up') response.destroy();
      else if ('status' in answer) response.writeHead(answer.status).end('{"error":{"message":"scripted"}}');
      else if ('raw' in answer) response.end(answer.raw);
      else {
        await answer.held;
        response.setHeader('content-type', 'application/json');
        response.end(JSON.stringify({ text: answer.text }));
      }
    })();
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server has no port');
  return {
    url: `http://127.0.0.1:${address.port}/v1`,
    requests,
    async [Symbol.asyncDispose](): Promise<void> {
      server.closeAllConnections();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}
