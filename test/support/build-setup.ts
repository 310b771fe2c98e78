import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

import type { TestProject } from 'vitest/node';

import { bundle } from './built-program.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The program as the tests start it: with its packages in the bundle, which takes half the time of a start. */
    readonly program: string;
  }
}

const root = new URL('../..', import.meta.url).pathname;

/** Before the tests of a project whose processes run what is built: builds the present sources, as `npm run build` does, and for the tests. */
// oxlint-disable-next-line import/no-default-export -- vitest runs the default export
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  await promisify(execFile)(process.execPath, [join(root, 'scripts/build.mjs')]);
  // Below node_modules, where it finds the packages that have parts for one kind of machine.
  const cache = join(root, 'node_modules/.cache');
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(join(cache, 'program-'));
  // Some tests run it as nobody special.
  await chmod(folder, 0o755);
  bundle({ main: join(root, 'src/main.ts') }, folder);
  project.provide('program', join(folder, 'main.mjs'));
  return () => rm(folder, { recursive: true, force: true });
}
