/** `npm run build`: the whole product as a few files in `dist/`, of which a bot loads what it needs. Types are checked by `npm run types`. */
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import { decode, encode } from '@jridgewell/sourcemap-codec';
import { build } from 'esbuild';

const root = join(import.meta.dirname, '..');
const dist = join(root, 'dist');

// Errors are told by the places in the sources, which Node.js looks up only for what is loaded after this.
const main = `process.setSourceMapsEnabled(true);
await import('./bot.js');
`;

// What packages of the older kind find beside themselves.
const banner = `import { createRequire as createRequireHere } from 'node:module';
const require = createRequireHere(import.meta.url), __filename = import.meta.filename, __dirname = import.meta.dirname;`;

/**
 * discord.js finds the limit of a cache by the name of its manager's class, which the bundler changes for some. That it keep all names would cost a
 * fifth of the time that an event takes.
 */
const classNames = {
  name: 'class-names',
  setup({ onLoad }) {
    onLoad({ filter: /\/discord\.js\/src\/.*\.js$/ }, async ({ path }) => ({
      contents: (await readFile(path, 'utf8')).replaceAll(/^class (\w+)[^{]*\{/gmu, "$&static name = '$1';"),
    }));
  },
};

/** Leaves only our own sources in a map: those of packages are most of it, and it is read at every start. */
function withoutPackages(text) {
  const map = JSON.parse(text);
  let wasOurs = true;
  const lines = decode(map.mappings).map((line) =>
    line.flatMap((segment) => {
      const isOurs = segment.length > 1 && !map.sources[segment[1]].includes('node_modules/');
      const isSame = !isOurs && !wasOurs;
      wasOurs = isOurs;
      if (isSame) return [];
      return [isOurs ? segment : [segment[0]]];
    }),
  );
  return JSON.stringify({ ...map, mappings: encode(lines) });
}

const { outputFiles } = await build({
  absWorkingDir: root,
  entryPoints: { bot: 'src/main.ts', 'sandbox/standalone': 'src/sandbox/standalone.ts' },
  outdir: dist,
  chunkNames: 'chunks/[name]-[hash]',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  // Loaded from `node_modules` where they are: parts of these are made for one kind of machine.
  external: ['sharp', 'zlib-sync', 'bufferutil', 'utf-8-validate'],
  // Node.js keeps the text of what it has loaded.
  minifyWhitespace: true,
  minifySyntax: true,
  plugins: [classNames],
  sourcemap: true,
  sourcesContent: false,
  banner: { js: banner },
  write: false,
  logLevel: 'warning',
});
await rm(dist, { recursive: true, force: true });
await Promise.all(
  outputFiles.map(async ({ path, text }) => {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, path.endsWith('.map') ? withoutPackages(text) : text);
  }),
);
await writeFile(join(dist, 'main.js'), main);
