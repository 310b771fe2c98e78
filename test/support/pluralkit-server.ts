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
  let next: Omit<RecordedCopy, 'id'> | undefined;
  const server = createServer((request, response) => {
    requests.push(request.url ?? '');
    if (trouble === 'silence') return;
    const asked = request.url?.split('/').at(-1) ?? '';
    const record = records.get(asked) ?? (next && { id: asked, ...next });
    if (record !== undefined && record.original === next?.original) next = undefined;
    if (record !== undefined) records.set(asked, record);
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
    store: (record: RecordedCopy, under = record.id): void => void records.set(under, record),
    /** The next message that is asked about, and has no record, is this copy. */
    storeNext: (record: Omit<RecordedCopy, 'id'>): void => void (next = record),
    is: (what: typeof trouble): void => void (trouble = what),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
