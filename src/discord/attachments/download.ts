import { tellingBytes } from './file-kind.ts';

/** Why a file could not be had. */
export type DownloadFailure =
  /** The server sends elsewhere, where nobody knows what is. */
  'redirect' | 'status' | 'timeout' | 'broken' | 'too-long' | 'aborted';

/** A download that has begun: its first bytes are here, the rest waits at the server. */
export interface Download {
  /** At least as many bytes as tell what the file is, where it has so many. */
  readonly head: Buffer;
  /** The whole file; `too-long` as soon as more than `maxBytes` have come, whatever the server announced. */
  readAll(maxBytes: number): Promise<Buffer | DownloadFailure>;
  /** Gives the rest up. */
  drop(): void;
}

export interface DownloadLimits {
  readonly signal: AbortSignal;
  /** Milliseconds for the beginning, and again for the rest: between the two the download waits for others, which is not its fault. */
  readonly timeoutMs: number;
}

/** Begins to fetch a file, without credentials and without following redirects. Never rejects. */
export async function beginDownload(
  url: string,
  { signal, timeoutMs }: DownloadLimits,
): Promise<Download | DownloadFailure> {
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
    await readUntil(reader, chunks, tellingBytes);
    return {
      head: Buffer.concat(chunks),
      drop: () => over.abort(),
      async readAll(maxBytes) {
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
