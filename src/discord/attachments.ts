import type { AttachedFile, AttachmentPort, OpenedFile, ReadAttachment } from '../core/message.ts';
import type { Logger } from '../core/logger.ts';
import { createMinuteBudget } from '../core/limits.ts';
import type { imageTypes } from '../core/model.ts';
import { encodingOf } from '../core/text.ts';

const kilobyte = 1024;
const megabyte = 1024 * kilobyte;

const maxFiles = 10;
/** Of a turn's pictures and documents, which are encoded on the main thread [L4]. */
const mediaTotalBytes = 5 * megabyte;
/** Per person and minute [L1]: three full turns. */
const mediaMinuteBytes = 3 * mediaTotalBytes;

/** The vendor takes pictures of up to 5 MB in base64 and 8,000 pixels a side. */
const imageMaxBytes = (5 * megabyte * 3) / 4;
const imageMaxPixels = 8000;
/** Before and, as a rule, after shrinking. */
const largestPictureBytes = 20 * megabyte;
const shrunkBytes = 1.5 * megabyte;
const textMaxBytes = 100 * kilobyte;
/** Of a turn's texts; the prompt has its own limit [P4]. */
const textTotalBytes = 200 * kilobyte;

const notReadable = 'not a picture, a PDF or a text file';

const downloadTimeoutMs = 5_000;

export interface AttachmentsOptions {
  readonly cdnUrl?: string | undefined;
  readonly logger: Logger;
  readonly timeoutMs?: number;
  readonly now?: () => number;
}

interface Started {
  readonly file: AttachedFile;
  readonly fileKind: FileKind;
  readonly download: Download;
}

type Unopened = Extract<OpenedFile, { readonly kind: 'unopened' }>;

export function createAttachments(
  options: AttachmentsOptions,
): AttachmentPort & { readonly read: ReadAttachment } {
  const { cdnUrl, logger, timeoutMs = downloadTimeoutMs, now = () => performance.now() } = options;
  const minute = createMinuteBudget(mediaMinuteBytes, now);

  async function begin(file: AttachedFile, index: number, signal: AbortSignal): Promise<Started | Unopened> {
    if (index >= maxFiles) return overLimit(file, `only ${maxFiles} files are opened at once`);
    if (file.size === 0) return unopened(file, 'empty');
    if (file.size > largestPictureBytes) return overLimit(file, 'over 20 MB');
    if (!isAllowedAddress(file.url, cdnUrl)) {
      logger.warn('an attached file was skipped: not on an allowed host', { index });
      return unopened(file, 'not kept by Discord');
    }
    const download = await beginDownload(file.url, timeoutMs, signal);
    return { file, fileKind: fileKind(download.head, file.charset), download };
  }

  return {
    async open(files, userId, signal) {
      const unlessFailed = <Result>(work: Promise<Result>, file: AttachedFile, index: number) =>
        work.catch((error: unknown) => {
          const failure = error instanceof DownloadError ? error.message : 'broken';
          if (!signal.aborted) logger.warn('an attached file could not be fetched', { index, failure });
          return unopened(file, failure === 'too-long' ? 'longer than announced' : 'it could not be fetched');
        });
      const started = await Promise.all(
        files.map((file, index) => unlessFailed(begin(file, index, signal), file, index)),
      );
      const kept = withinLimits(started, (bytes) => minute.take(userId, bytes));
      return Promise.all(
        kept.map(async (each, index) =>
          'kind' in each ? each : unlessFailed(finish(each), each.file, index),
        ),
      );
    },
    async read(file, userId, maxBytes) {
      if (file.size > maxBytes) return 'too-large';
      if (!isAllowedAddress(file.url, cdnUrl) || !minute.take(userId, file.size)) return 'unavailable';
      try {
        const download = await beginDownload(file.url, timeoutMs, new AbortController().signal);
        return await download.readAll(file.size);
      } catch {
        return 'unavailable';
      }
    },
  };
}

async function finish({ file, fileKind: found, download }: Started): Promise<OpenedFile> {
  const { name } = file;
  const bytes = await download.readAll(file.size);
  if (isTooLarge(found, file)) return shrunk(file, bytes);
  if (found.kind === 'image' || found.kind === 'document')
    return { ...found, name, data: bytes.toString('base64') };
  const text = found.kind === 'text' ? decodeText(bytes, file.charset) : undefined;
  return text === undefined ? unopened(file, notReadable) : { kind: 'text', name, text };
}

async function shrunk(file: AttachedFile, bytes: Buffer): Promise<OpenedFile> {
  const smaller = await shrinkPicture(bytes);
  if (smaller === undefined) return overLimit(file, 'a large picture that is damaged or cannot be read');
  if (smaller.length > imageMaxBytes) return overLimit(file, 'a picture that could not be made small enough');
  return { kind: 'image', mediaType: 'image/webp', name: file.name, data: smaller.toString('base64') };
}

/** Frees the connections of what is not read. `takeMinute`: whether the minute has room. */
function withinLimits(
  started: readonly (Started | Unopened)[],
  takeMinute: (bytes: number) => boolean,
): readonly (Started | Unopened)[] {
  const media = { bytes: 0, max: mediaTotalBytes, refusal: 'over 5 MB together' };
  const text = { bytes: 0, max: textTotalBytes, refusal: 'over 200 KB of text together' };
  return started.map((each) => {
    if ('kind' in each) return each;
    const { file, fileKind: found, download } = each;
    const total = found.kind === 'text' ? text : media;
    const size = isTooLarge(found, file) ? shrunkBytes : file.size;
    let refused = refusalOf(found, file);
    if (total.bytes + size > total.max) refused ??= overLimit(file, total.refusal);
    if (refused === undefined && total === media && !takeMinute(size))
      refused = overLimit(file, 'over 15 MB within a minute');
    if (refused === undefined) total.bytes += size;
    else download.drop();
    return refused ?? each;
  });
}

function refusalOf({ kind }: FileKind, file: AttachedFile): Unopened | undefined {
  if (kind === 'document' && file.size > mediaTotalBytes) return overLimit(file, 'over 5 MB');
  if (kind === 'text' && file.size > textMaxBytes) return overLimit(file, 'over 100 KB');
  return kind === 'other' ? unopened(file, notReadable) : undefined;
}

function isTooLarge({ kind }: FileKind, { size, pixels = 0 }: AttachedFile): boolean {
  return kind === 'image' && (size > imageMaxBytes || pixels > imageMaxPixels);
}

function overLimit(file: AttachedFile, reason: string): Unopened {
  return { ...unopened(file, reason), isOverLimit: true };
}

function unopened({ name }: AttachedFile, reason: string): Unopened {
  return { kind: 'unopened', name, reason };
}

/** The vendor scales larger pictures down to this many pixels. */
const longestSide = 1568;
const mostPixels = 100_000_000;
const timeoutSeconds = 10;

/** As WebP, off the main thread; `undefined` where it cannot be read. */
async function shrinkPicture(bytes: Buffer): Promise<Buffer | undefined> {
  const { default: sharp } = await import('sharp');
  sharp.cache(false);
  sharp.concurrency(1);
  try {
    return await sharp(bytes, { limitInputPixels: mostPixels })
      .rotate()
      .resize({ width: longestSide, height: longestSide, fit: 'inside', withoutEnlargement: true })
      .webp({ quality: 85 })
      .timeout({ seconds: timeoutSeconds })
      .toBuffer();
  } catch {
    return undefined;
  }
}

/** By its first bytes, whatever its name. */
type FileKind =
  | { readonly kind: 'image'; readonly mediaType: (typeof imageTypes)[number] }
  | { readonly kind: 'document' }
  | { readonly kind: 'text' }
  | { readonly kind: 'other' };

const signatureBytes = 16;

const imageStarts = [
  { mediaType: 'image/png', start: /^\x89PNG\r\n/u },
  { mediaType: 'image/jpeg', start: /^\xff\xd8\xff/u },
  { mediaType: 'image/gif', start: /^GIF8[79]a/u },
  { mediaType: 'image/webp', start: /^RIFF[\s\S]{4}WEBP/u },
] as const satisfies readonly { readonly mediaType: (typeof imageTypes)[number]; readonly start: RegExp }[];

/**
 * @param head at least {@link signatureBytes}, where there are so many.
 * @param charset what the file's type declares.
 */
export function fileKind(head: Buffer, charset?: string): FileKind {
  const start = head.toString('latin1', 0, signatureBytes);
  const image = imageStarts.find((each) => each.start.test(start));
  if (image !== undefined) return { kind: 'image', mediaType: image.mediaType };
  if (start.startsWith('%PDF-')) return { kind: 'document' };
  const isText = !head.includes(0) || charset !== undefined || encodingOf(head) !== 'utf-8';
  return { kind: isText ? 'text' : 'other' };
}

/** `undefined` unless it is UTF-8, UTF-16 with its mark, or in what its type declares. */
export function decodeText(bytes: Buffer, charset?: string): string | undefined {
  const encoding = encodingOf(bytes);
  if (encoding !== 'utf-8') return decoded(bytes, encoding);
  return decoded(bytes, encoding) ?? (charset === undefined ? undefined : decoded(bytes, charset));
}

function decoded(bytes: Buffer, encoding: string): string | undefined {
  try {
    const text = new TextDecoder(encoding, { fatal: true }).decode(bytes);
    return text.includes('\0') ? undefined : text;
  } catch {
    // Not in that encoding, or a name that is none.
    return undefined;
  }
}

class DownloadError extends Error {
  override readonly name = 'DownloadError';
}

/** The first bytes are here, the rest waits at the server. */
type Download = Awaited<ReturnType<typeof beginDownload>>;

/** Without credentials or redirects. `timeoutMs` holds for the beginning, and again for the rest. */
async function beginDownload(url: string, timeoutMs: number, signal: AbortSignal) {
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
