import { signatureBytes } from './file-kind.ts';

/** Why a file could not be had. */
export type DownloadFailure =
  /** The server sends elsewhere, where nobody knows what is. */
  'redirect' | 'status' | 'timeout' | 'broken' | 'too-long' | 'aborted';

/** A download that has begun: its first bytes are here, the rest waits at the server. */
export type Download = Exclude<Awaited<ReturnType<typeof beginDownload>>, DownloadFailure>;

/**
 * Begins to fetch a file, without credentials and without following redirects. Never rejects. `timeoutMs` holds for the beginning, and again
 * for the rest: between the two the download waits for others, which is not its fault.
 */
export async function beginDownload(url: string, timeoutMs: number, signal: AbortSignal) {
  const over = new AbortController();
  const ends = AbortSignal.any([signal, over.signal]);
  let isLate = false;
  const startTimer = () =>
    setTimeout(() => {
      isLate = true;
      over.abort();
    }, timeoutMs);
  const failure = (): DownloadFailure => {
    if (signal.aborted) return 'aborted';
    return isLate ? 'timeout' : 'broken';
  };
  const timer = startTimer();
  try {
    const response = await fetch(url, { redirect: 'manual', credentials: 'omit', signal: ends });
    const refusal = refusalOf(response);
    if (refusal !== undefined || response.body === null) {
      over.abort();
      return refusal ?? 'broken';
    }
    const reader: ReadableStreamDefaultReader<Uint8Array> = response.body.getReader();
    const chunks: Uint8Array[] = [];
    await readUntil(reader, chunks, signatureBytes);
    return {
      /** At least as many bytes as tell what the file is, where it has so many. */
      head: Buffer.concat(chunks),
      /** Gives the rest up. */
      drop: (): void => over.abort(),
      /** The whole file; `too-long` as soon as more than `maxBytes` have come, whatever the server announced. */
      async readAll(maxBytes: number): Promise<Buffer | DownloadFailure> {
        const secondTimer = startTimer();
        try {
          await readUntil(reader, chunks, maxBytes + 1);
        } catch {
          return failure();
        } finally {
          clearTimeout(secondTimer);
        }
        if (lengthOf(chunks) <= maxBytes) return Buffer.concat(chunks);
        over.abort();
        return 'too-long';
      },
    };
  } catch {
    return failure();
  } finally {
    clearTimeout(timer);
  }
}

function refusalOf({ status, ok }: Response): DownloadFailure | undefined {
  if (status >= 300 && status < 400) return 'redirect';
  return ok ? undefined : 'status';
}

/** Reads on until so many bytes are there, or all. */
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

/**
 * Whether a file may be fetched from an address [G5]: on Discord's own hosts, or below `cdnUrl`. Nothing else, so that nobody makes the
 * bot ask a server of their choice; a message's address comes from the server that the bot is connected to, whichever that is.
 */
export function isAllowedAddress(address: string, cdnUrl: string | undefined): boolean {
  if (!URL.canParse(address)) return false;
  const { origin, pathname, username, password } = new URL(address);
  if (username !== '' || password !== '') return false;
  return discordOrigins.has(origin) || (cdnUrl !== undefined && isBelow(cdnUrl, origin, pathname));
}

/** The path is normalised already; a slash in disguise could still lead out of the folder at the other side. */
function isBelow(cdnUrl: string, origin: string, pathname: string): boolean {
  const base = new URL(cdnUrl);
  const folder = base.pathname.replace(/(?<!\/)\/*$/u, '/');
  return origin === base.origin && pathname.startsWith(folder) && !/%(?:2f|5c)/iu.test(pathname);
}
