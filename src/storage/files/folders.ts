import { constants } from 'node:fs';
import { dirname } from 'node:path';
import { errorCode, unlessMissing } from './file-error.ts';
import type { FileSystem } from './file-system.ts';
import { withFile } from './file-system.ts';

/** Folders, made and kept so that they survive power loss [S2]. */
export interface Folders {
  /** Makes the folder with its parents, 0700 [S6], on disk when it resolves. */
  ensure(path: string): Promise<void>;
  /** Puts the folder's list of names on disk. */
  sync(path: string): Promise<void>;
}

export function createFolders(fileSystem: FileSystem): Folders {
  // Folders with a new name in them that is not on disk yet: the sync after `mkdir` may fail, and is then made up for.
  const unsynced = new Set<string>();

  async function sync(path: string): Promise<void> {
    const opening = fileSystem.open(path, constants.O_RDONLY | constants.O_DIRECTORY);
    await withFile(opening, async (folder) => {
      try {
        await folder.sync();
      } catch (error) {
        // Some network file systems know no sync of folders: there is nothing more to be done there.
        if (errorCode(error) !== 'EINVAL' && errorCode(error) !== 'ENOTSUP') throw error;
      }
    });
  }

  return {
    async ensure(path) {
      const firstMade = await fileSystem.mkdir(path, 0o700);
      if (firstMade !== undefined) {
        for (let made = path; made !== dirname(firstMade); made = dirname(made)) unsynced.add(dirname(made));
      }
      for (const folder of unsynced) {
        // It may have been removed since.
        await unlessMissing(sync(folder));
        unsynced.delete(folder);
      }
    },
    sync,
  };
}
