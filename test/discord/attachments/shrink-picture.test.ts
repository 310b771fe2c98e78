import sharp from 'sharp';
import { describe, expect, it } from 'vitest';

import { shrinkPicture } from '../../../src/discord/attachments/attachments.ts';
import { fileKind } from '../../../src/discord/attachments/file-kind.ts';
import { noisyPicture } from './samples.ts';

describe('a picture that is too large for the model', () => {
  it('becomes a smaller one of the same shape', async () => {
    const large = await noisyPicture(3000, 1500);
    expect(large.length).toBeGreaterThan(4_000_000);
    const small = await shrinkPicture(large);
    expect(small?.length).toBeLessThan(2_000_000);
    expect(fileKind(small ?? Buffer.alloc(0))).toEqual({ kind: 'image', mediaType: 'image/webp' });
    expect(await sharp(small).metadata()).toMatchObject({ width: 1568, height: 784 });
  });

  it('is rejected if it is not a picture, or claims more pixels than may be opened', async () => {
    const png = await noisyPicture(10, 10);
    const huge = Buffer.from(png);
    huge.writeUInt32BE(200_000, 16);
    huge.writeUInt32BE(200_000, 20);
    for (const bytes of [png.subarray(0, 40), Buffer.from('no picture'), huge])
      expect(await shrinkPicture(bytes)).toBeUndefined();
  });
});
