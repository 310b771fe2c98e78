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
