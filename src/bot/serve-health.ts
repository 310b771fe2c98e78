import { ConfigError, type Config } from '../config/config.ts';
import type { Health, HealthServer } from '../observability/health-server.ts';
import type { Metrics } from '../observability/metrics.ts';
import { errorCode } from '../storage/files/file-system.ts';
import type { ProcessCalls } from './processes.ts';

/** Counts, and tells of a bot. */
export interface WatchedHealth {
  readonly metrics: Metrics;
  /** From now on it is this bot that is told of; `undefined`: it is being stopped, or started again. */
  follow(bot: Health | undefined): void;
  close(): Promise<void>;
}

/** The bot's health and metrics on a port [O3]; nothing without one. @throws {ConfigError} where the port cannot be had. */
export async function serveHealth(http: Config['http']): Promise<WatchedHealth | undefined> {
  if (http.port === 0) return undefined;
  const { createMetrics } = await import('../observability/metrics.ts');
  const metrics = createMetrics();
  const server = await listenOn(http, metrics);
  return {
    metrics,
    follow: (bot) => server.follow(bot),
    async close() {
      metrics.close();
      await server.close();
    },
  };
}

/** The same of a supervised process, whose supervisor has the port. */
export async function tellHealth(
  { port }: Config['http'],
  answer: (calls: Pick<ProcessCalls, 'metrics'>) => void,
): Promise<Pick<WatchedHealth, 'metrics' | 'close'> | undefined> {
  if (port === 0) return undefined;
  const { createMetrics } = await import('../observability/metrics.ts');
  const metrics = createMetrics();
  answer({ metrics: metrics.parts });
  return { metrics, close: async () => metrics.close() };
}

/** What several processes add up to, on a port. @throws {ConfigError} where the port cannot be had. */
export async function serveHealthOfAll(
  http: Config['http'],
  read: () => Promise<readonly (readonly object[])[]>,
): Promise<HealthServer | undefined> {
  if (http.port === 0) return undefined;
  const { addUpMetrics } = await import('../observability/metrics.ts');
  return listenOn(http, addUpMetrics(read));
}

async function listenOn(
  { port, host }: Config['http'],
  metrics: Pick<Metrics, 'contentType' | 'text'>,
): Promise<HealthServer> {
  const { startHealthServer } = await import('../observability/health-server.ts');
  try {
    return await startHealthServer({ port, host }, metrics);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ConfigError([
      errorCode(error) === 'EADDRINUSE' || errorCode(error) === 'EACCES'
        ? `DISCOCLAW_HTTP_PORT: expected a free port, found ${port} (${reason})`
        : `DISCOCLAW_HTTP_HOST: expected an address of this machine, found ${host} (${reason})`,
    ]);
  }
}
