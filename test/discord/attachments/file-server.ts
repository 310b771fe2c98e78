import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';

import { onTestFinished } from 'vitest';

export interface FileServer {
  readonly url: string;
  readonly requests: readonly IncomingMessage[];
  /** Paths whose client went away before the whole file was sent. */
  readonly brokenOff: readonly string[];
}

/** A server on loopback that answers as told; it is closed when the test is over. */
export async function startFileServer(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<FileServer> {
  const requests: IncomingMessage[] = [];
  const brokenOff: string[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    response.once('close', () => {
      if (!response.writableFinished) brokenOff.push(request.url ?? '');
    });
    answer(request, response);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The file server has no port');
  return { url: `http://127.0.0.1:${address.port}`, requests, brokenOff };
}
