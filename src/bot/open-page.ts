import { randomBytes } from 'node:crypto';

import { ConfigError, type Config } from '../config/config.ts';
import type { Page, PageOptions } from '../page/page.ts';
import { errorCode } from '../storage/files/file-system.ts';

/** Opens everybody's own page [Y1], which nothing else loads. @throws {ConfigError} where the port cannot be used. */
export async function openPage(
  { port, host, url }: Config['page'],
  ports: Omit<PageOptions, 'port' | 'host' | 'url' | 'randomToken'>,
): Promise<Page> {
  const { startPage } = await import('../page/page.ts');
  try {
    return await startPage({ ...ports, port, host, url, randomToken });
  } catch (error) {
    throw unusablePort('DISCOCLAW_PAGE', { port, host }, error);
  }
}

/** 256 bits. */
function randomToken(): string {
  return randomBytes(32).toString('base64url');
}

/** Why a server could not listen, by the variables that say where. */
export function unusablePort(
  variables: string,
  { port, host }: { readonly port: number; readonly host: string },
  error: unknown,
): ConfigError {
  const reason = error instanceof Error ? error.message : String(error);
  return new ConfigError([
    errorCode(error) === 'EADDRINUSE' || errorCode(error) === 'EACCES'
      ? `${variables}_PORT: expected a free port, found ${port} (${reason})`
      : `${variables}_HOST: expected an address of this machine, found ${host} (${reason})`,
  ]);
}
