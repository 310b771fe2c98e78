import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';

/** Lower than what systems give to outgoing connections (32768 on Linux, 49152 elsewhere), so that none of them takes it meanwhile. */
const [firstPort, endPort] = [10_000, 32_000] as const;

async function listen(port: number) {
  const server = createServer();
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

/** A port, and a server that keeps it until it is closed. */
export async function takePort() {
  for (;;) {
    const port = randomInt(firstPort, endPort);
    try {
      const server = await listen(port);
      return {
        port,
        [Symbol.asyncDispose]: async () => void (await new Promise((done) => server.close(done))),
      };
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EADDRINUSE')) throw error;
    }
  }
}

/** A port that nobody else has or is given: others choose theirs at random too. */
export async function freePort(): Promise<number> {
  // Without `await using`: scripts run this on Node.js 20, which does not know it.
  const taken = await takePort();
  await taken[Symbol.asyncDispose]();
  return taken.port;
}
