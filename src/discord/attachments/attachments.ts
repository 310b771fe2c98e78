import type { AttachedFile, AttachmentPort, OpenedFile, ReadAttachment } from '../../core/chat.ts';
import type { Logger } from '../../core/logger.ts';
import { createMinuteBudget } from '../../core/limits.ts';
import { beginDownload, DownloadError, isAllowedAddress, type Download } from './download.ts';
import { decodeText, fileKind, type FileKind } from './file-kind.ts';

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

interface Begun {
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

  async function begin(file: AttachedFile, index: number, signal: AbortSignal): Promise<Begun | Unopened> {
    if (index >= maxFiles) return overLimit(file, `only ${maxFiles} files are opened at once`);
    if (file.size === 0) return unopened(file, 'empty');
    if (file.size > largestPictureBytes) return overLimit(file, 'over 20 MB');
    if (!isAllowedAddress(file.url, cdnUrl)) {
      logger.warn('an attached file was skipped: not on an allowed host', { index });
      return unopened(file, 'not kept by Discord');
    }
    const download = await beginDownload(file.url, timeoutMs, signal);
    return { file, fileKind: fileKind(download.head), download };
  }

  return {
    async open(files, userId, signal) {
      const unlessFailed = <Result>(work: Promise<Result>, file: AttachedFile, index: number) =>
        work.catch((error: unknown) => {
          const failure = error instanceof DownloadError ? error.message : 'broken';
          if (!signal.aborted) logger.warn('an attached file could not be fetched', { index, failure });
          return unopened(file, failure === 'too-long' ? 'longer than announced' : 'it could not be fetched');
        });
      const begun = await Promise.all(
        files.map((file, index) => unlessFailed(begin(file, index, signal), file, index)),
      );
      const kept = withinLimits(begun, (bytes) => minute.take(userId, bytes));
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

async function finish({ file, fileKind: found, download }: Begun): Promise<OpenedFile> {
  const { name } = file;
  const bytes = await download.readAll(file.size);
  if (isTooLarge(found, file)) return shrunk(file, bytes);
  if (found.kind === 'image' || found.kind === 'document')
    return { ...found, name, data: bytes.toString('base64') };
  const text = found.kind === 'text' ? decodeText(bytes) : undefined;
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
  begun: readonly (Begun | Unopened)[],
  takeMinute: (bytes: number) => boolean,
): readonly (Begun | Unopened)[] {
  const media = { bytes: 0, max: mediaTotalBytes, refusal: 'over 5 MB together' };
  const text = { bytes: 0, max: textTotalBytes, refusal: 'over 200 KB of text together' };
  return begun.map((each) => {
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
export async function shrinkPicture(bytes: Buffer): Promise<Buffer | undefined> {
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
