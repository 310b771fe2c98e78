import { randomBytes } from 'node:crypto';
import { basename, dirname, join } from 'node:path';
import { unlessMissing } from './file-error.ts';
import type { FileSystem } from './file-system.ts';

/** A name beside `path` that nobody else uses. It begins with a dot: no key leads to it and no listing shows it. */
export function temporaryName(path: string): string {
  return join(dirname(path), `.${basename(path)}.${randomBytes(6).toString('hex')}.tmp`);
}

/** Removes what a killed process left behind anywhere below `root`; resolves with how many there were [S2]. */
export async function removeTemporaryFiles(fileSystem: FileSystem, root: string): Promise<number> {
  let removed = 0;
  for (const entry of (await unlessMissing(fileSystem.readdir(root))) ?? []) {
    const path = join(root, entry.name);
    // write-file-atomic puts a number of its own behind the name.
    if (/^\..+\.[0-9a-f]{12}\.tmp(\.\d+)?$/.test(entry.name)) {
      await fileSystem.removeTree(path);
      removed += 1;
    } else if (entry.isDirectory()) {
      removed += await removeTemporaryFiles(fileSystem, path);
    }
  }
  return removed;
}

/** Removes a file that may be there; a failure leaves it to the next start. */
export async function discard(fileSystem: FileSystem, path: string): Promise<void> {
  await fileSystem.unlink(path).catch(() => undefined);
}
