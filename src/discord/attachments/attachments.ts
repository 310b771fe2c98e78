import type { AttachedFile, AttachmentPort, OpenedFile } from '../../core/chat.ts';
import type { Logger } from '../../core/logger.ts';
import { beginDownload, isAllowedAddress, type Download, type DownloadFailure } from './download.ts';
import { decodeText, fileKind, type FileKind } from './file-kind.ts';

const kilobyte = 1024;
const megabyte = 1024 * kilobyte;

/** Files of one turn that are opened at most. */
const maxFiles = 10;
/** Bytes of any file at most. */
const maxBytes = 10 * megabyte;

/** The model's vendor takes pictures of up to 5 MB in base64 and of 8,000 pixels a side. */
const imageMaxBytes = (5 * megabyte * 3) / 4;
const imageMaxPixels = 8000;
const textMaxBytes = 100 * kilobyte;
/** Of a turn's pictures and documents together; the vendor takes 32 MB a request, base64 and all. */
const mediaTotalBytes = 20 * megabyte;
/** Of a turn's texts together: some 50,000 tokens. */
const textTotalBytes = 200 * kilobyte;

/** Why nothing is made of a file that is whole and small enough. */
const notReadable = 'not a picture, a PDF or a text file';

/** For the beginning of a file, and for the rest of it; milliseconds. */
const downloadTimeoutMs = 5_000;

export interface AttachmentsOptions {
  /** Where another Discord-compatible server keeps files. */
  readonly cdnUrl?: string | undefined;
  readonly logger: Logger;
  readonly timeoutMs?: number;
}

/** A file whose first bytes are here. */
interface Begun {
  readonly file: AttachedFile;
  readonly fileKind: FileKind;
  readonly download: Download;
}

type Unopened = Extract<OpenedFile, { readonly kind: 'unopened' }>;

/**
 * Opens the files of a turn: all are asked for at once, their first bytes tell what they are, and what is within the limits is read to
 * its end. No file may be longer than Discord announced it.
 */
export function createAttachments(options: AttachmentsOptions): AttachmentPort {
  const { cdnUrl, logger, timeoutMs = downloadTimeoutMs } = options;

  async function begin(file: AttachedFile, index: number, signal: AbortSignal): Promise<Begun | Unopened> {
    if (index >= maxFiles) return unopened(file, `only ${maxFiles} files are opened at once`);
    if (file.size === 0) return unopened(file, 'empty');
    if (file.size > maxBytes) return unopened(file, 'over 10 MB');
    if (!isAllowedAddress(file.url, cdnUrl)) {
      logger.warn('an attached file is not fetched, since Discord does not keep it', { index });
      return unopened(file, 'not kept by Discord');
    }
    const download = await beginDownload(file.url, timeoutMs, signal);
    if (typeof download === 'string') return failed(file, index, download);
    return { file, fileKind: fileKind(download.head), download };
  }

  async function finish(begun: Begun | Unopened, index: number): Promise<OpenedFile> {
    if ('kind' in begun) return begun;
    const { file, fileKind: found, download } = begun;
    const bytes = await download.readAll(file.size);
    if (typeof bytes === 'string') return failed(file, index, bytes);
    switch (found.kind) {
      case 'image':
      case 'document':
        return { ...found, name: file.name, data: bytes.toString('base64') };
      case 'text': {
        const text = decodeText(bytes);
        return text === undefined ? unopened(file, notReadable) : { kind: 'text', name: file.name, text };
      }
      case 'other':
        return unopened(file, notReadable);
    }
  }

  function failed(file: AttachedFile, index: number, failure: DownloadFailure): Unopened {
    if (failure !== 'aborted') logger.warn('an attached file could not be fetched', { index, failure });
    return unopened(file, failure === 'too-long' ? 'longer than announced' : 'it could not be fetched');
  }

  return {
    async open(files, signal) {
      const begun = await Promise.all(files.map((file, index) => begin(file, index, signal)));
      const kept = withinLimits(begun);
      return Promise.all(kept.map(finish));
    },
  };
}

/** Gives up what is not to be read, in order, so that what comes first has the room. */
function withinLimits(begun: readonly (Begun | Unopened)[]): readonly (Begun | Unopened)[] {
  const media = { bytes: 0, max: mediaTotalBytes, refusal: 'over 20 MB together' };
  const text = { bytes: 0, max: textTotalBytes, refusal: 'over 200 KB of text together' };
  return begun.map((each) => {
    if ('kind' in each) return each;
    const { file, fileKind: found, download } = each;
    const total = found.kind === 'text' ? text : media;
    const isOver = total.bytes + file.size > total.max;
    const reason = refusalOf(found, file) ?? (isOver ? total.refusal : undefined);
    if (reason === undefined) {
      total.bytes += file.size;
      return each;
    }
    download.drop();
    return unopened(file, reason);
  });
}

/** Why a file is not read to its end, whatever else is attached; a clause for the model. */
function refusalOf({ kind }: FileKind, { size, pixels = 0 }: AttachedFile): string | undefined {
  switch (kind) {
    case 'image':
      if (size > imageMaxBytes) return 'a picture over 3.75 MB';
      return pixels > imageMaxPixels ? 'a picture over 8,000 pixels wide or high' : undefined;
    case 'document':
      return size > maxBytes ? 'over 10 MB' : undefined;
    case 'text':
      return size > textMaxBytes ? 'over 100 KB' : undefined;
    case 'other':
      return notReadable;
  }
}

function unopened({ name }: AttachedFile, reason: string): Unopened {
  return { kind: 'unopened', name, reason };
}
