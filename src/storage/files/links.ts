import { dirname } from 'node:path';
import { StoreError } from '../../core/errors.ts';
import { unlessMissing } from './file-error.ts';
import type { FileSystem } from './file-system.ts';
import type { Location } from './roots.ts';

/**
 * Refuses a path that leads through a symbolic link, so that no key leaves its root folder. The file itself is left to
 * the caller, who opens it without following links or replaces it by a rename.
 * @throws {StoreError}
 */
export async function assertNoLinks(
  fileSystem: FileSystem,
  key: string,
  { root, path }: Location,
): Promise<void> {
  let folder = path === root ? root : dirname(path);
  while (folder !== root) {
    const real = await unlessMissing(fileSystem.realpath(folder));
    if (real === folder) return;
    if (real !== undefined)
      throw new StoreError(`${key} leads through a symbolic link, which the store does not follow`, key);
    folder = dirname(folder);
  }
}

/** Finds the path of a key that was checked, and makes sure that no symbolic link leads it elsewhere. */
export type PathOf = (key: string) => Promise<string>;
