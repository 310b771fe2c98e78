import { once } from 'node:events';
import { createServer } from 'node:http';

import type { Metrics } from './metrics.ts';

/** What is wrong, in words; `undefined` where all is well. */
export interface Health {
  /** Of the process and its disk: somebody should look. */
  readonly unhealthy: () => string | undefined;
  /** Why no message would be answered now. */
  readonly unready: () => string | undefined;
}

const notStarted: Health = {
  unhealthy: () => undefined,
  unready: () => 'the bot is not connected to Discord yet',
};

export type HealthServer = Awaited<ReturnType<typeof startHealthServer>>;

/** At a port of this machine [O3]. Rejects as node:http does where the port cannot be had. */
export async function startHealthServer(
  { port, host }: { readonly port: number; readonly host: string },
  metrics: Metrics,
) {
  let health = notStarted;
  const server = createServer((request, response) => {
    const reply = (status: number, type: string, text: string): void => {
      response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' });
      response.end(text);
    };
    const tell = (problem: string | undefined): void => {
      const body = problem === undefined ? { status: 'ok' } : { status: 'failing', problem };
      reply(problem === undefined ? 200 : 503, 'application/json', `${JSON.stringify(body)}\n`);
    };
    const [path = ''] = (request.url ?? '').split('?');
    if (path === '/healthz') tell(health.unhealthy());
    else if (path === '/readyz') tell(health.unhealthy() ?? health.unready());
    else if (path === '/metrics')
      metrics.text().then(
        (text) => reply(200, metrics.contentType, text),
        () => reply(500, 'text/plain', 'The metrics could not be gathered.\n'),
      );
    else reply(404, 'text/plain', 'There is /healthz, /readyz and /metrics.\n');
  });
  server.listen(port, host);
  await once(server, 'listening');
  const address = server.address();
  return {
    /** Where it listens: with the port 0 the system chooses one. */
    port: typeof address === 'object' && address !== null ? address.port : port,
    /** From now on it tells of this bot; `undefined`: it is being stopped, or started again. */
    follow(bot: Health | undefined): void {
      health = bot ?? notStarted;
    },
    async close(): Promise<void> {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      metrics.close();
    },
  };
}
