import { ConfigError, type Config } from '../config/config.ts';
import type { HealthServer } from '../observability/health-server.ts';
import type { Metrics } from '../observability/metrics.ts';
import { errorCode } from '../storage/files/file-system.ts';

/** What is counted [O3]; nothing where no port is set at which somebody could read it. */
export async function countFor({ port }: Config['http']): Promise<Metrics | undefined> {
  if (port === 0) return undefined;
  const { createMetrics } = await import('../observability/metrics.ts');
  return createMetrics();
}

/** Health and metrics on a port [O3]; nothing without one. @throws {ConfigError} where the port cannot be had. */
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
