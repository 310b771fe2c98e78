/**
 * `npm run build`: the whole product as a few files in `dist/`, of which a bot loads what it needs; nothing where these are of the present
 * sources and packages. Types are checked by `npm run types`.
 */
// oxlint-disable-next-line import/no-unassigned-import -- it is for what it does
import './node-version.mjs';

import { createHash } from 'node:crypto';
import { copyFile, mkdir, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const root = join(import.meta.dirname, '..');
const dist = join(root, 'dist');

/** What tells whether sources or packages have changed since: names, sizes and times of last change. */
async function fingerprint() {
  const paths = (await readdir(join(root, 'src'), { recursive: true }))
    .map((path) => join('src', path))
    .toSorted();
  const all = [
    ...paths,
    'scripts/build.mjs',
    'scripts/node-version.mjs',
    'package-lock.json',
    'node_modules/.package-lock.json',
  ];
  const lines = all.map(async (path) => {
    const { size, mtimeMs } = await stat(join(root, path)).catch(() => ({ size: 0, mtimeMs: 0 }));
    return `${path} ${size} ${mtimeMs}`;
  });
  return createHash('sha256')
    .update((await Promise.all(lines)).join('\n'))
    .digest('hex');
}

const builtFrom = join(dist, '.built-from');
const present = await fingerprint();
if ((await readFile(builtFrom, 'utf8').catch(() => '')) === present) process.exit();

// What is built needs no packages, so these are looked for only now.
const [{ decode, encode }, { build }] = await Promise.all([
  import('@jridgewell/sourcemap-codec'),
  import('esbuild'),
]);

// Errors are told by the places in the sources, which Node.js looks up only for what is loaded after this.
const main = `import './node-version.js';
process.setSourceMapsEnabled(true);
import('./bot.js');
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

/**
 * The bundler gives each file that imports a package of the older kind an object of its own with a getter for each export, and discord.js has 535. Here
 * all files share one module whose exports are plain constants.
 */
const sharedLibrary = {
  name: 'shared-library',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^discord\.js$/ }, ({ path, kind }) =>
      kind === 'import-statement' ? { path, namespace: 'shared-library', sideEffects: false } : undefined,
    );
    onLoad({ filter: /^/, namespace: 'shared-library' }, ({ path }) => {
      const exports = Object.keys(createRequire(import.meta.url)(path)).map(
        (name) => `export const ${name} = /* @__PURE__ */ (() => library.${name})();`,
      );
      return { contents: `const library = require('${path}');\n${exports.join('\n')}`, resolveDir: root };
    });
  },
};

/** Our own text in ASCII: of a file with any letter beyond Latin-1 Node.js keeps two bytes for each. What is left to escape here are patterns. */
const asciiText = {
  name: 'ascii-text',
  setup({ onLoad }) {
    onLoad({ filter: /\.ts$/ }, async ({ path }) => ({
      contents: (await readFile(path, 'utf8')).replaceAll(
        /[\u0080-\uffff]/g,
        (unit) => String.raw`\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
      ),
      loader: 'ts',
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
  plugins: [classNames, sharedLibrary, asciiText],
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
await copyFile(join(root, 'scripts/node-version.mjs'), join(dist, 'node-version.js'));
await writeFile(join(dist, 'main.js'), main);
await writeFile(builtFrom, present);
