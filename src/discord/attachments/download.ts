import { signatureBytes } from './file-kind.ts';

export class DownloadError extends Error {
  override readonly name = 'DownloadError';
}

/** The first bytes are here, the rest waits at the server. */
export type Download = Awaited<ReturnType<typeof beginDownload>>;

/** Without credentials or redirects. `timeoutMs` holds for the beginning, and again for the rest. */
export async function beginDownload(url: string, timeoutMs: number, signal: AbortSignal) {
  const over = new AbortController();
  const ends = AbortSignal.any([signal, over.signal]);
  const chunks: Uint8Array[] = [];

  async function inTime<Result>(work: () => Promise<Result>): Promise<Result> {
    const timer = setTimeout(() => over.abort(new DownloadError('timeout')), timeoutMs);
    try {
      return await work();
    } catch (error) {
      over.abort();
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  const reader = await inTime(async () => {
    const { status, ok, body } = await fetch(url, { redirect: 'manual', credentials: 'omit', signal: ends });
    if (status >= 300 && status < 400) throw new DownloadError('redirect');
    if (!ok || body === null) throw new DownloadError('status');
    const opened: ReadableStreamDefaultReader<Uint8Array> = body.getReader();
    await readUntil(opened, chunks, signatureBytes);
    return opened;
  });
  return {
    /** At least {@link signatureBytes}, where there are so many. */
    head: Buffer.concat(chunks),
    drop: (): void => over.abort(),
    /** Rejects as soon as more than `maxBytes` have come. */
    readAll: (maxBytes: number): Promise<Buffer> =>
      inTime(async () => {
        await readUntil(reader, chunks, maxBytes + 1);
        if (lengthOf(chunks) > maxBytes) throw new DownloadError('too-long');
        return Buffer.concat(chunks);
      }),
  };
}

async function readUntil(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  chunks: Uint8Array[],
  bytes: number,
): Promise<void> {
  while (lengthOf(chunks) < bytes) {
    const { done, value } = await reader.read();
    if (done) return;
    chunks.push(value);
  }
}

function lengthOf(chunks: readonly Uint8Array[]): number {
  return chunks.reduce((sum, { byteLength }) => sum + byteLength, 0);
}

const discordOrigins: ReadonlySet<string> = new Set([
  'https://cdn.discordapp.com',
  'https://media.discordapp.net',
]);

/** Only Discord's hosts or below `cdnUrl`, so that nobody makes the bot call their server [G5]. */
export function isAllowedAddress(address: string, cdnUrl: string | undefined): boolean {
  if (!URL.canParse(address)) return false;
  const { origin, pathname, username, password } = new URL(address);
  if (username !== '' || password !== '') return false;
  return discordOrigins.has(origin) || (cdnUrl !== undefined && isBelow(cdnUrl, origin, pathname));
}

/** An encoded slash could still lead out of the folder. */
function isBelow(cdnUrl: string, origin: string, pathname: string): boolean {
  const base = new URL(cdnUrl);
  const folder = base.pathname.replace(/(?<!\/)\/*$/u, '/');
  return origin === base.origin && pathname.startsWith(folder) && !/%(?:2f|5c)/iu.test(pathname);
}
