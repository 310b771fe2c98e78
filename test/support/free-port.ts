import { once } from 'node:events';
import { createServer } from 'node:http';

/** A port that is free at the moment, and a server that keeps it until it is closed. */
export async function takePort() {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return { port, [Symbol.asyncDispose]: async () => void (await new Promise((done) => server.close(done))) };
}

export async function freePort(): Promise<number> {
  await using taken = await takePort();
  return taken.port;
}
