/** The vendor scales larger pictures down to this many pixels. */
const longestSide = 1568;
const mostPixels = 100_000_000;
const timeoutSeconds = 10;

/** As WebP, off the main thread; `undefined` where it cannot be read. */
export async function shrinkPicture(bytes: Buffer): Promise<Buffer | undefined> {
  const { default: sharp } = await import('sharp');
  sharp.cache(false);
  sharp.concurrency(1);
  try {
    return await sharp(bytes, { limitInputPixels: mostPixels })
      .rotate()
      .resize({ width: longestSide, height: longestSide, fit: 'inside', withoutEnlargement: true })
      .webp({ quality: 85 })
      .timeout({ seconds: timeoutSeconds })
      .toBuffer();
  } catch {
    return undefined;
  }
}
