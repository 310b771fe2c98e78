import { createHash } from 'node:crypto';

/** How long the address of a file is good, in milliseconds. */
const lifetime = 24 * 3_600_000;

/** The address of a file as messages carry it: good for a day, and only with its whole query. */
export function signedUrl(cdnUrl: string, path: string, now: Date): string {
  const expires = hexSeconds(now.getTime() + lifetime);
  return `${cdnUrl}${path}?ex=${expires}&is=${hexSeconds(now.getTime())}&hm=${signature(path, expires)}&`;
}

/** Whether the query of an address belongs to its path and is still good. */
export function isSigned(path: string, query: URLSearchParams, now: Date): boolean {
  const expires = query.get('ex') ?? '';
  return query.get('hm') === signature(path, expires) && Number.parseInt(expires, 16) * 1000 > now.getTime();
}

function signature(path: string, expires: string): string {
  return createHash('sha256').update(`${path} ${expires}`).digest('hex');
}

function hexSeconds(milliseconds: number): string {
  return Math.floor(milliseconds / 1000).toString(16);
}
