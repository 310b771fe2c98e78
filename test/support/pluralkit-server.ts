import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';

export interface RecordedCopy {
  readonly id: string;
  readonly original: string;
  /** The account's id. */
  readonly sender: string;
}

/** PluralKit's API on loopback, as far as the bot asks it. */
export async function startPluralKit() {
  const records = new Map<string, RecordedCopy>();
  const requests: string[] = [];
  /** What it does instead of answering with its records. */
  let trouble: { readonly status: number; readonly headers?: Record<string, string> } | 'silence' | undefined;
  const server = createServer((request, response) => {
    requests.push(request.url ?? '');
    if (trouble === 'silence') return;
    const record = records.get(request.url?.split('/').at(-1) ?? '');
    const status = trouble?.status ?? (record === undefined ? 404 : 200);
    response.writeHead(status, { 'content-type': 'application/json', ...trouble?.headers });
    response.end(JSON.stringify(record ?? { message: 'Message not found.', code: 20_006 }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it listens on a port
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v2`,
    requests: requests as readonly string[],
    store: (record: RecordedCopy): void => void records.set(record.id, record),
    is(next: typeof trouble): void {
      trouble = next;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
