import type { imageTypes } from '../../core/model.ts';

/** What a file is by its own first bytes, whatever it is called and announced as. */
export type FileKind =
  | { readonly kind: 'image'; readonly mediaType: (typeof imageTypes)[number] }
  | { readonly kind: 'document' }
  /** As far as the bytes show. */
  | { readonly kind: 'text' }
  | { readonly kind: 'other' };

/** Bytes that are enough to tell what a file is. */
export const signatureBytes = 16;

const imageStarts = [
  { mediaType: 'image/png', start: /^\x89PNG\r\n/u },
  { mediaType: 'image/jpeg', start: /^\xff\xd8\xff/u },
  { mediaType: 'image/gif', start: /^GIF8[79]a/u },
  { mediaType: 'image/webp', start: /^RIFF[\s\S]{4}WEBP/u },
] as const satisfies readonly { readonly mediaType: (typeof imageTypes)[number]; readonly start: RegExp }[];

const utf16Mark = /^(?:\xff\xfe|\xfe\xff)/u;

/** @param head the file from its beginning, at least {@link signatureBytes} of it where it has so many. */
export function fileKind(head: Buffer): FileKind {
  const start = head.toString('latin1', 0, signatureBytes);
  const image = imageStarts.find((each) => each.start.test(start));
  if (image !== undefined) return { kind: 'image', mediaType: image.mediaType };
  if (start.startsWith('%PDF-')) return { kind: 'document' };
  return utf16Mark.test(start) || !head.includes(0) ? { kind: 'text' } : { kind: 'other' };
}

/**
 * A file's text: UTF-8, or UTF-16 where a byte order mark says so; the mark itself is left out. `undefined` where it is neither, or
 * holds what no text holds.
 */
export function decodeText(bytes: Buffer): string | undefined {
  try {
    const text = new TextDecoder(encodingOf(bytes), { fatal: true }).decode(bytes);
    return text.includes('\0') ? undefined : text;
  } catch {
    return undefined;
  }
}

function encodingOf(bytes: Buffer): string {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  return bytes[0] === 0xfe && bytes[1] === 0xff ? 'utf-16be' : 'utf-8';
}
