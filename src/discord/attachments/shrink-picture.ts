/** Pixels of the longer side: the vendor's models scale larger pictures down to this themselves. */
const longestSide = 1568;
/** Pixels of a picture that is opened at all: what claims more would take more memory than one file may. */
const mostPixels = 100_000_000;
const timeoutSeconds = 10;

/** A picture made small enough for the model, as WebP, off the main thread; `undefined` where it cannot be read. */
export async function shrinkPicture(bytes: Buffer): Promise<Buffer | undefined> {
  // Loaded when the first picture is too large: most never are.
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
