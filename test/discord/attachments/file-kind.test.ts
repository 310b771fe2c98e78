import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { decodeText, fileKind } from '../../../src/discord/attachments/file-kind.ts';
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

  it('is a document by the first bytes of a PDF', () => {
    expect(fileKind(sampleBytes.pdf)).toEqual({ kind: 'document' });
  });

  it.each([
    ['UTF-8', Buffer.from('naïve 日本語\n')],
    ['UTF-8 with its mark', Buffer.from('\ufeffhello')],
    ['UTF-16', Buffer.from('\ufeffhello', 'utf16le')],
    ['UTF-16 without its mark', Buffer.from('hello there', 'utf16le')],
    ['UTF-16 the other way round', Buffer.from('hello there', 'utf16le').swap16()],
    ['Windows-1252', Buffer.from('na\xefve', 'latin1')],
    ['nothing yet', Buffer.alloc(0)],
    ['what merely speaks of PNG', Buffer.from('PNG\r\n\x1a\n')],
  ])('may be a text: %s', (_, head) => {
    expect(fileKind(head)).toEqual({ kind: 'text' });
  });

  it.each([
    ['a program', sampleBytes.exe],
    ['a zip', Buffer.from('PK\u0003\u0004\u0014\u0000\u0000\u0000', 'latin1')],
    ['another RIFF', Buffer.from('RIFF\u0024\u0000\u0000\u0000WAVEfmt ', 'latin1')],
  ])('is neither for %s', (_, head) => {
    expect(fileKind(head)).toEqual({ kind: 'other' });
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

  const german = 'Größe: 3 € – „süß“, naïve café\r\nÄpfel für Zoë\r\n';

  it.each([
    ['in UTF-16 without its mark', Buffer.from(german, 'utf16le'), german],
    ['in UTF-16 the other way round', Buffer.from(german, 'utf16le').swap16(), german],
    [
      'in UTF-16 without its mark, in Russian',
      Buffer.from('Привет, как дела?\n', 'utf16le'),
      'Привет, как дела?\n',
    ],
    ['in UTF-16 of one line', Buffer.from('a', 'utf16le'), 'a'],
    ['in Windows-1252', Buffer.from('caf\xe9 \x80 5 \x96 \x93ja\x94', 'latin1'), 'café € 5 – “ja”'],
    ['in UTF-8 that was cut', Buffer.from('日本語, naïve').subarray(1), '\ufffd\ufffd本語, naïve'],
  ])('is read %s', (_, bytes, text) => {
    expect(fileKind(bytes)).toEqual({ kind: 'text' });
    expect(decodeText(bytes)).toBe(text);
  });

  it.each([
    'Été déjà prévenu, à côté du théâtre',
    '¿Qué? ¡Sí! Ñandú, ñu',
    'À bientôt',
    'Það er ég, þú ætlar að sjá',
  ])('is read in Windows-1252 with many accents: %s', (text) =>
    expect(decodeText(Buffer.from(text, 'latin1'))).toBe(text),
  );

  it.each([
    ['letters of another encoding', Buffer.from('\xcf\xf0\xe8\xe2\xe5\xf2 \xea\xe0\xea', 'latin1')],
    [
      'such letters beside a few others',
      Buffer.from('PS: \xcf\xf0\xe8\xe2\xe5\xf2 \xea\xe0\xea ok', 'latin1'),
    ],
    ['control characters', Buffer.from('MZ\x01\x90\x02caf\xe9', 'latin1')],
    ['zeros here and there', Buffer.from('ab\0\0\x04\0\0\0caf\xe9', 'latin1')],
    ['a character cut in half', Buffer.from('é').subarray(0, 1)],
    ['a NUL', Buffer.from('a\0b')],
    ['a NUL in much text', Buffer.from(`${'ab'.repeat(50)}a\0${'cd'.repeat(50)}`)],
    ['half a UTF-16 pair', Buffer.from([0xff, 0xfe, 0x3d, 0xd8])],
  ])('is none with %s', (_, bytes) => {
    expect(decodeText(bytes)).toBeUndefined();
  });
});
