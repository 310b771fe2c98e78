import { dirname, join } from 'node:path';
import type { Clock } from '../../core/time.ts';
import { errorCode, isMissing, unlessMissing } from './file-error.ts';
import type { FileSystem } from './file-system.ts';
import type { Folders } from './folders.ts';
import { copyFile } from './replace-file.ts';
import type { RootFolders } from './roots.ts';
import { locateQuarantine } from './roots.ts';

/** Where unreadable documents are kept for a person to look at [S4]. */
export interface Quarantine {
  /** Keeps a copy of the file; the file itself stays. Resolves with the copy's path, on disk by then. */
  keep(key: string, path: string): Promise<string>;
  /** How many files are kept. */
  count(): Promise<number>;
}

export function createQuarantine({
  fileSystem,
  folders,
  roots,
  clock,
}: {
  readonly fileSystem: FileSystem;
  readonly folders: Folders;
  readonly roots: RootFolders;
  readonly clock: Clock;
}): Quarantine {
  return {
    async keep(key, path) {
      const { path: target } = locateQuarantine(roots, key);
      const stamp = clock().toISOString().replaceAll(/[-:.]/g, '');
      await folders.ensure(dirname(target));
      for (let attempt = 1; ; attempt += 1) {
        const copy = attempt === 1 ? `${target}.${stamp}` : `${target}.${stamp}-${attempt}`;
        if (await isTaken(fileSystem, copy)) continue;
        try {
          await copyFile(fileSystem, path, copy);
        } catch (error) {
          if (errorCode(error) === 'EEXIST') continue;
          throw error;
        }
        await folders.sync(dirname(target));
        return copy;
      }
    },
    count: () => countFiles(fileSystem, locateQuarantine(roots, '').path),
  };
}

async function countFiles(fileSystem: FileSystem, folder: string): Promise<number> {
  let count = 0;
  for (const entry of (await unlessMissing(fileSystem.readdir(folder))) ?? [])
    count += entry.isDirectory() ? await countFiles(fileSystem, join(folder, entry.name)) : 1;
  return count;
}

async function isTaken(fileSystem: FileSystem, path: string): Promise<boolean> {
  try {
    await fileSystem.lstat(path);
    return true;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}
