import { createRequire } from 'node:module';

import { z } from 'zod';

/** The version of this program; `package.json` lies one folder above the sources, built or not. */
export function readVersion(): string {
  const found: unknown = createRequire(import.meta.url)('../package.json');
  return z.object({ version: z.string() }).parse(found).version;
}
