import { ConfigError, type Config } from '../config/config.ts';
import type { HealthServer } from '../observability/health-server.ts';
import type { Metrics } from '../observability/metrics.ts';
import { errorCode } from '../storage/files/file-system.ts';

/** Metrics [O3]; none without a port at which somebody could read them. */
export async function countFor({ port }: Config['http']): Promise<Metrics | undefined> {
  if (port === 0) return undefined;
  const { createMetrics } = await import('../observability/metrics.ts');
  return createMetrics();
}

/** Serves health and metrics, if a port is set [O3]. @throws {ConfigError} where the port cannot be used. */
export async function serveHealth(
  { port, host }: Config['http'],
  metrics: Pick<Metrics, 'contentType' | 'text'> | undefined,
): Promise<HealthServer | undefined> {
  if (port === 0 || metrics === undefined) return undefined;
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
