import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** Before the tests of a project whose processes run what is built: builds the present sources. */
// oxlint-disable-next-line import/no-default-export -- vitest runs the default export
export default async function setup(): Promise<void> {
  await promisify(execFile)(process.execPath, [
    fileURLToPath(new URL('../../scripts/build.mjs', import.meta.url)),
  ]);
}
