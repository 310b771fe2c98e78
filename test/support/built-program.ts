import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { buildSync } from 'esbuild';

const banner = `import { createRequire } from 'node:module';
const require = createRequire(import.meta.url), __filename = import.meta.filename, __dirname = import.meta.dirname;`;
const built = new Map<string, string>();

/** The path of a program of the tests as one file that Node.js runs as it is: translating all that it imports at each start takes it ten times as long. */
export function builtProgram(source: string): string {
  const known = built.get(source);
  if (known !== undefined) return known;
  const outfile = join(mkdtempSync(join(tmpdir(), 'discoclaw-program-')), 'program.mjs');
  buildSync({
    entryPoints: [source],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    // What packages of the older kind find beside themselves.
    banner: { js: banner },
  });
  built.set(source, outfile);
  return outfile;
}
