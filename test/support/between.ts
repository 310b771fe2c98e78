import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** Stands between clients and a database's server on loopback. */
export interface Between extends AsyncDisposable {
  /** The database by way of this. */
  readonly url: string;
  /** Breaks off every connection to a client; the server does not notice, and goes on with what it was asked for. */
  cut(): void;
}

export async function openBetween(databaseUrl: string): Promise<Between> {
  const target = new URL(databaseUrl);
  const clients = new Set<Socket>();
  const upstreams = new Set<Socket>();

  const server = createServer((client) => {
    clients.add(client);
    client.on('error', () => {});
    const upstream = connect(Number(target.port || 5432), target.hostname);
    upstreams.add(upstream);
    upstream.on('error', () => {}).on('close', () => client.destroy());
    // Where a client is cut off, it is no longer among them.
    client.on('close', () => clients.delete(client) && upstream.end());
    client.pipe(upstream, { end: false });
    upstream.pipe(client);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const url = new URL(databaseUrl);
  url.host = `127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;

  return {
    url: url.href,
    cut() {
      const cutOff = [...clients];
      clients.clear();
      for (const client of cutOff) client.destroy();
    },
    async [Symbol.asyncDispose]() {
      for (const socket of [...clients, ...upstreams]) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
