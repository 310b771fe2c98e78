import type { imageTypes } from '../../core/model.ts';

/** What a file is by its own first bytes, whatever it is called and announced as. */
export type FileKind =
  | { readonly kind: 'image'; readonly mediaType: (typeof imageTypes)[number] }
  | { readonly kind: 'document' }
  /** As far as the bytes show. */
  | { readonly kind: 'text' }
  | { readonly kind: 'other' };

/** Bytes that are enough to tell. */
export const tellingBytes = 16;

const imageStarts = [
  { mediaType: 'image/png', start: /^\x89PNG\r\n/u },
  { mediaType: 'image/jpeg', start: /^\xff\xd8\xff/u },
  { mediaType: 'image/gif', start: /^GIF8[79]a/u },
  { mediaType: 'image/webp', start: /^RIFF[\s\S]{4}WEBP/u },
] as const satisfies readonly { readonly mediaType: (typeof imageTypes)[number]; readonly start: RegExp }[];

const utf16Mark = /^(?:\xff\xfe|\xfe\xff)/u;

/** @param head the file from its beginning, at least {@link tellingBytes} of it where it has so many. */
export function fileKind(head: Buffer): FileKind {
  const start = head.toString('latin1', 0, tellingBytes);
  const image = imageStarts.find((each) => each.start.test(start));
  if (image !== undefined) return { kind: 'image', mediaType: image.mediaType };
  if (start.startsWith('%PDF-')) return { kind: 'document' };
  return utf16Mark.test(start) || !head.includes(0) ? { kind: 'text' } : { kind: 'other' };
}
