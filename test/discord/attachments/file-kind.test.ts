import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { decodeText, fileKind } from '../../../src/discord/attachments.ts';
import { sampleBytes } from './samples.ts';

describe('what a file is', () => {
  it.each([
    ['png', 'image/png'],
    ['jpeg', 'image/jpeg'],
    ['gif', 'image/gif'],
    ['webp', 'image/webp'],
  ] as const)('is a picture by the first bytes of a %s', (name, mediaType) => {
    expect(fileKind(sampleBytes[name])).toEqual({ kind: 'image', mediaType });
  });
});

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
    ['windows-1252', Buffer.from('caf\xe9', 'latin1'), 'café'],
    ['koi8-r', Buffer.from([0xd0, 0xd2, 0xc9, 0xd7, 0xc5, 0xd4]), 'привет'],
    ['utf-16le', Buffer.from('hello', 'utf16le'), 'hello'],
    ['shift_jis', Buffer.from([0x93, 0xfa, 0x96, 0x7b]), '日本'],
  ])('is read in what its type declares: %s', (charset, bytes, text) => {
    expect(fileKind(bytes, charset)).toEqual({ kind: 'text' });
    expect(decodeText(bytes, charset)).toBe(text);
    expect(decodeText(bytes)).toBeUndefined();
    expect(decodeText(bytes, 'no-such-encoding')).toBeUndefined();
  });

  it.each([
    ['letters of an encoding that nobody declares', Buffer.from('caf\xe9', 'latin1')],
    ['a character cut in half', Buffer.from('é').subarray(0, 1)],
    ['a NUL', Buffer.from('a\0b')],
    ['half a UTF-16 pair', Buffer.from([0xff, 0xfe, 0x3d, 0xd8])],
  ])('is none with %s', (_, bytes) => {
    expect(decodeText(bytes)).toBeUndefined();
  });
});
