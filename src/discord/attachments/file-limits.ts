import type { AttachedFile } from '../../core/chat.ts';
import type { FileKind } from './file-kind.ts';

const kilobyte = 1024;
const megabyte = 1024 * kilobyte;

/** Files of one turn that are opened at most. */
export const maxFiles = 10;
/** Bytes of any file at most. */
export const maxBytes = 10 * megabyte;

/** The model's vendor takes pictures of up to 5 MB in base64 and of 8,000 pixels a side. */
const imageMaxBytes = (5 * megabyte * 3) / 4;
const imageMaxPixels = 8000;
const textMaxBytes = 100 * kilobyte;
/** Of a turn's pictures and documents together; the vendor takes 32 MB a request, base64 and all. */
const mediaTotalBytes = 20 * megabyte;
/** Of a turn's texts together: some 50,000 tokens. */
const textTotalBytes = 200 * kilobyte;

/** Why nothing is made of a file that is whole and small enough. */
export const notReadable = 'not a picture, a PDF or a text';

/** Why a file is not read to its end, whatever else is attached; a clause for the model. */
export function refusalOf({ kind }: FileKind, { size, pixels = 0 }: AttachedFile): string | undefined {
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

/** Counts what a turn opens, in order. */
export class TurnTotals {
  #media = 0;
  #text = 0;

  /** Takes a file in, or says why there is no room for it. */
  add({ kind }: FileKind, { size }: AttachedFile): string | undefined {
    if (kind === 'text') {
      if (this.#text + size > textTotalBytes) return 'over 200 KB of text together';
      this.#text += size;
      return undefined;
    }
    if (this.#media + size > mediaTotalBytes) return 'over 20 MB together';
    this.#media += size;
    return undefined;
  }
}
