import { ConfigError } from '../config/config.ts';
import type { Health, HealthServer } from '../observability/health-server.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { ProcessCalls } from './processes.ts';

/** Counts, and tells of a bot. */
export interface WatchedHealth {
  readonly metrics: Metrics;
  /** From now on it is this bot that is told of; `undefined`: it is being stopped, or started again. */
  follow(bot: Health | undefined): void;
  close(): Promise<void>;
}

/** The bot's health and metrics on a port [O3]; nothing without one. @throws {ConfigError} where the port cannot be had. */
export async function serveHealth(port: number): Promise<WatchedHealth | undefined> {
  if (port === 0) return undefined;
  const { createMetrics } = await import('../observability/metrics.ts');
  const metrics = createMetrics();
  const server = await listenOn(port, metrics);
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
  port: number,
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
  port: number,
  read: () => Promise<readonly (readonly object[])[]>,
): Promise<HealthServer | undefined> {
  if (port === 0) return undefined;
  const { addUpMetrics } = await import('../observability/metrics.ts');
  return listenOn(port, addUpMetrics(read));
}

async function listenOn(port: number, metrics: Pick<Metrics, 'contentType' | 'text'>): Promise<HealthServer> {
  const { startHealthServer } = await import('../observability/health-server.ts');
  try {
    return await startHealthServer(port, metrics);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ConfigError([`DISCOCLAW_HTTP_PORT: expected a free port, found ${port} (${reason})`]);
  }
}
