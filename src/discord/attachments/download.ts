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
  /** For the whole download; milliseconds. */
  readonly timeoutMs: number;
}

/** Begins to fetch a file, without credentials and without following redirects. Never rejects. */
export async function beginDownload(
  url: string,
  { signal, timeoutMs }: DownloadLimits,
): Promise<Download | DownloadFailure> {
  const over = new AbortController();
  const timeLimit = AbortSignal.timeout(timeoutMs);
  const ends = AbortSignal.any([signal, timeLimit, over.signal]);
  const failure = (): DownloadFailure => {
    if (signal.aborted) return 'aborted';
    return timeLimit.aborted ? 'timeout' : 'broken';
  };
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
        try {
          await readUntil(reader, chunks, maxBytes + 1);
        } catch {
          return failure();
        }
        if (lengthOf(chunks) <= maxBytes) return Buffer.concat(chunks);
        over.abort();
        return 'too-long';
      },
    };
  } catch {
    return failure();
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
