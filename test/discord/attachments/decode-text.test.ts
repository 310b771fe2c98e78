import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { decodeText } from '../../../src/discord/attachments/decode-text.ts';

describe('a text file', () => {
  it('is read back as it was written, in UTF-8 or with the mark of UTF-16', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (written) => {
        const text = written.replaceAll('\0', '').replace(/^[\ufeff\ufffe]+/u, '');
        expect(decodeText(Buffer.from(text))).toBe(text);
        expect(decodeText(Buffer.from(`\ufeff${text}`))).toBe(text);
        expect(decodeText(Buffer.from(`\ufeff${text}`, 'utf16le'))).toBe(text);
        expect(decodeText(Buffer.from(`\ufeff${text}`, 'utf16le').swap16())).toBe(text);
      }),
    );
  });

  it.each([
    ['bytes that are no UTF-8', Buffer.from([0x63, 0x61, 0x66, 0xe9])],
    ['a character cut in half', Buffer.from('é').subarray(0, 1)],
    ['a NUL', Buffer.from('a\0b')],
    ['half a UTF-16 pair', Buffer.from([0xff, 0xfe, 0x3d, 0xd8])],
  ])('is none with %s', (_, bytes) => {
    expect(decodeText(bytes)).toBeUndefined();
  });
});
