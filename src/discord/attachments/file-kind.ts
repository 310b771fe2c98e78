import type { imageTypes } from '../../core/model.ts';

/** By its first bytes, whatever its name. */
export type FileKind =
  | { readonly kind: 'image'; readonly mediaType: (typeof imageTypes)[number] }
  | { readonly kind: 'document' }
  | { readonly kind: 'text' }
  | { readonly kind: 'other' };

export const signatureBytes = 16;

const imageStarts = [
  { mediaType: 'image/png', start: /^\x89PNG\r\n/u },
  { mediaType: 'image/jpeg', start: /^\xff\xd8\xff/u },
  { mediaType: 'image/gif', start: /^GIF8[79]a/u },
  { mediaType: 'image/webp', start: /^RIFF[\s\S]{4}WEBP/u },
] as const satisfies readonly { readonly mediaType: (typeof imageTypes)[number]; readonly start: RegExp }[];

/** @param head at least {@link signatureBytes}, where there are so many. */
export function fileKind(head: Buffer): FileKind {
  const start = head.toString('latin1', 0, signatureBytes);
  const image = imageStarts.find((each) => each.start.test(start));
  if (image !== undefined) return { kind: 'image', mediaType: image.mediaType };
  if (start.startsWith('%PDF-')) return { kind: 'document' };
  return utf16Of(head) !== undefined || !head.includes(0) ? { kind: 'text' } : { kind: 'other' };
}

/** `undefined` unless it is UTF-8, UTF-16 or, with a plain letter in most words, Windows-1252. */
export function decodeText(bytes: Buffer): string | undefined {
  const utf16 = utf16Of(bytes);
  if (utf16 !== undefined) return decoded(bytes, utf16);
  if (bytes.includes(0)) return undefined;
  return decoded(bytes, 'utf-8') ?? brokenUtf8(bytes) ?? windows1252(bytes);
}

function decoded(bytes: Buffer, encoding: string): string | undefined {
  try {
    const text = new TextDecoder(encoding, { fatal: true }).decode(bytes);
    return text.includes('\0') ? undefined : text;
  } catch {
    return undefined;
  }
}

/** By the byte order mark, or by how many zeros there are. */
function utf16Of(bytes: Buffer): 'utf-16le' | 'utf-16be' | undefined {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be';
  const zeros = [0, 0];
  for (let at = bytes.indexOf(0); at >= 0; at = bytes.indexOf(0, at + 1))
    zeros[at % 2] = (zeros[at % 2] ?? 0) + 1;
  const [even = 0, odd = 0] = zeros;
  const fewest = Math.max(1, bytes.length / 40);
  if (odd >= fewest && even <= odd / 20) return 'utf-16le';
  return even >= fewest && odd <= even / 20 ? 'utf-16be' : undefined;
}

/** `undefined` where more characters are broken than whole. */
function brokenUtf8(bytes: Buffer): string | undefined {
  const text = new TextDecoder('utf-8').decode(bytes);
  const broken = text.match(/\ufffd/gu)?.length ?? 0;
  const whole = text.match(/[^\p{ASCII}\ufffd]/gu)?.length ?? 0;
  return whole > broken ? text : undefined;
}

/** 0x80 to 0x9f, which Node.js 20 to 24 read as Latin-1. */
const windowsSigns = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ';

/** `undefined` where it looks like another encoding. */
function windows1252(bytes: Buffer): string | undefined {
  const text = bytes
    .toString('latin1')
    .replaceAll(/[\u0080-\u009f]/gu, (sign) => windowsSigns.charAt(sign.charCodeAt(0) - 0x80));
  if (/[^\P{Cc}\t\n\f\r]/u.test(text)) return undefined;
  const words = text.match(/\p{L}+/gu) ?? [];
  const plain = words.filter((word) => /[a-z]/iu.test(word)).join('').length;
  return plain > 0 && plain >= (words.join('').length * 2) / 3 ? text : undefined;
}
