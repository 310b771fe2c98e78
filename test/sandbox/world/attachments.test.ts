import { describe, expect, it } from 'vitest';

import { imageDimensions } from '../../../src/sandbox/world/attachments.ts';

/** The beginning of a WebP whose only chunk has this name and, in hex, these first bytes. */
function webp(chunk: string, bytes: string): string {
  return `52494646a801000057454250${Buffer.from(chunk).toString('hex')}0a000000${bytes}`.padEnd(80, '0');
}

describe('the size of an image', () => {
  it.each([
    ['PNG', '89504e470d0a1a0a0000000d494844520000012c000000320806000000'],
    ['GIF', '4749463839612c013200f00000'],
    ['JPEG', `ffd8ffe00010${'0'.repeat(28)}ffc00011080032012c0301`],
    ['WebP that lost something', webp('VP8 ', '3001009d012a2c013200')],
    ['WebP that lost nothing', webp('VP8L', '2f2b410c00')],
    ['WebP with more to it', webp('VP8X', '100000002b0100310000')],
  ])('is read from a %s', (_kind, hex) => {
    expect(imageDimensions(Buffer.from(hex, 'hex'))).toEqual({ width: 300, height: 50 });
  });

  it('is unknown of anything else, and of a beginning that is too short', () => {
    for (const text of ['hello', '', 'GIF89a', 'RIFF....WEBP', '\u00FF\u00D8']) {
      expect(imageDimensions(Buffer.from(text, 'latin1'))).toBeUndefined();
    }
    expect(imageDimensions(Buffer.from('ffd8ffe0ffff', 'hex'))).toBeUndefined();
    // Bytes behind a file in memory do not belong to it.
    const memory = Buffer.from('4749463839612c013200f00000', 'hex');
    expect(imageDimensions(memory.subarray(0, 6))).toBeUndefined();
  });
});
