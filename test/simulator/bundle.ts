import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { build as bundle } from 'esbuild';

import { plant, type PlantedFault } from './planted-faults.ts';
import type * as simulation from './simulation.ts';

const root = join(import.meta.dirname, '../..');

/**
 * The simulator with the whole bot as one module, which loads three times as fast as the sources one by one, and in which a fault can stand without a copy of
 * them. Modules keep their order, so that the clock still comes before all that asks for the time.
 */
export async function loadSimulator(fault?: PlantedFault): Promise<typeof simulation> {
  const faulty = join(root, fault?.file ?? '');
  const { outputFiles } = await bundle({
    absWorkingDir: root,
    entryPoints: ['test/simulator/simulation.ts'],
    // Beside the packages, which are found from there.
    outfile: join(root, `node_modules/.cache/simulator/${fault?.name ?? 'simulator'}-${process.pid}.mjs`),
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    packages: 'external',
    sourcemap: 'inline',
    sourcesContent: false,
    plugins: [
      {
        name: 'planted-fault',
        setup(build) {
          build.onLoad({ filter: /\.ts$/ }, async ({ path }) =>
            fault !== undefined && path === faulty
              ? { contents: plant(fault, await readFile(path, 'utf8')), loader: 'ts' }
              : undefined,
          );
        },
      },
    ],
    write: false,
    logLevel: 'silent',
  });
  const [output] = outputFiles;
  if (output === undefined) throw new RangeError('Nothing was bundled');
  await mkdir(join(output.path, '..'), { recursive: true });
  await writeFile(output.path, output.contents);
  try {
    return await import(pathToFileURL(output.path).href);
  } finally {
    await rm(output.path);
  }
}
