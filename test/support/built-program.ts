import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { buildSync } from 'esbuild';

const banner = `import { createRequire as createRequireHere } from 'node:module';
const require = createRequireHere(import.meta.url), __filename = import.meta.filename, __dirname = import.meta.dirname;`;
const built = new Map<string, string>();

/** The path of a program of the tests as a file that Node.js runs as it is: translating all that it imports at each start takes it ten times as long. */
export function builtProgram(source: string): string {
  const known = built.get(source);
  if (known !== undefined) return known;
  const folder = mkdtempSync(join(tmpdir(), 'discoclaw-program-'));
  bundle({ program: source }, folder);
  const path = join(folder, 'program.mjs');
  built.set(source, path);
  return path;
}

/** Bundles programs, by name, with all packages that a bundle can hold. */
export function bundle(entryPoints: Record<string, string>, outdir: string): void {
  buildSync({
    entryPoints,
    outdir,
    bundle: true,
    splitting: true,
    format: 'esm',
    outExtension: { '.js': '.mjs' },
    platform: 'node',
    target: 'node20.19',
    // Read by `npm run coverage`.
    sourcemap: 'external',
    sourcesContent: false,
    external: ['sharp', 'zlib-sync', 'bufferutil', 'utf-8-validate'],
    // What packages of the older kind find beside themselves.
    banner: { js: banner },
    logLevel: 'warning',
  });
}
