/**
 * `npm run build`, also by `npm ci`: our own sources as one bundle, which loads packages from `node_modules` and the parts of a bot that few need when they are
 * needed. Each build is a folder of its own in `dist/`, named by what it holds, and `dist/main.js` leads to the latest: so builds at the same time, or beside a
 * start, are in nobody's way. Types are checked by `npm run types`.
 */
// oxlint-disable-next-line import/no-unassigned-import -- it is for what it does
import './node-version.mjs';

import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readFile, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';

import { build } from 'esbuild';

const root = join(import.meta.dirname, '..');
const dist = join(root, 'dist');
const main = join(dist, 'main.js');
/** Milliseconds after which nobody builds any more in a folder that is left over. */
const abandonedMs = 3_600_000;

const { outputFiles } = await build({
  absWorkingDir: root,
  entryPoints: { bot: 'src/main.ts' },
  outdir: join(dist, 'build'),
  bundle: true,
  packages: 'external',
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  sourcemap: true,
  sourcesContent: false,
  write: false,
  logLevel: 'warning',
});
const contents = createHash('sha256');
for (const { hash } of outputFiles) contents.update(hash);
const name = contents.digest('hex').slice(0, 16);
const staged = join(dist, `.${randomUUID()}`);
for (const { path, contents: bytes } of outputFiles) {
  const file = join(staged, relative(join(dist, 'build'), path));
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, bytes);
}
// Where it is there already, it is the same.
await rename(staged, join(dist, name)).catch(() => rm(staged, { recursive: true }));

const before = await readFile(main, 'utf8').catch(() => '');
// Errors are told by the places in the sources, which Node.js looks up only for what is loaded after this.
const text = `${await readFile(join(root, 'scripts/node-version.mjs'), 'utf8')}
process.setSourceMapsEnabled(true);
import('./${name}/bot.js');
`;
await writeFile(`${staged}.js`, text);
await rename(`${staged}.js`, main);

// The former one may just be starting.
for (const other of await readdir(dist)) {
  if (other === 'main.js' || other === name || before.includes(`./${other}/`)) continue;
  const path = join(dist, other);
  const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Infinity }));
  if (Date.now() - mtimeMs > abandonedMs) await rm(path, { recursive: true, force: true });
}
