import { dirname, join } from 'node:path';
import type { Logger } from '../../core/logger.ts';
import { unlessMissing } from './file-error.ts';
import type { FileSystem } from './file-system.ts';
import type { Folders } from './folders.ts';
import { backupOf } from './keys.ts';
import type { Location } from './roots.ts';
import { temporaryName } from './temporary-files.ts';

/** Removes files for good, or not at all. */
export interface Removal {
  /** A file of any sort with its backup. */
  file(path: string): Promise<void>;
  /** Folders with all that is in them. A root folder itself stays, with the hidden files that its owner's tools keep there. */
  folders(locations: readonly Location[]): Promise<void>;
}

export function createRemoval({
  fileSystem,
  folders,
  logger,
}: {
  readonly fileSystem: FileSystem;
  readonly folders: Folders;
  readonly logger: Logger;
}): Removal {
  /** Out of sight first, which can be undone; then off the disk. What a kill leaves in between is removed at the next start. */
  async function removeAll(paths: readonly string[]): Promise<void> {
    const hidden: { readonly path: string; readonly name: string }[] = [];
    try {
      for (const path of paths) {
        const name = temporaryName(path);
        if (await unlessMissing(fileSystem.rename(path, name).then(() => true))) hidden.push({ path, name });
      }
      for (const folder of new Set(hidden.map(({ path }) => dirname(path)))) await folders.sync(folder);
    } catch (error) {
      for (const { path, name } of hidden) await fileSystem.rename(name, path);
      throw error;
    }
    for (const { name } of hidden) {
      await fileSystem.removeTree(name).catch((error: unknown) => {
        logger.warn('removed files are on disk, out of sight, until the next start', { error });
      });
    }
  }

  return {
    async file(path) {
      // The backup first: were it the other way round, a kill in between would leave what was to be forgotten.
      await unlessMissing(fileSystem.unlink(backupOf(path)));
      await removeAll([path]);
    },
    async folders(locations) {
      const paths: string[] = [];
      for (const { root, path } of locations) {
        if (path !== root) paths.push(path);
        else paths.push(...(await namesIn(fileSystem, root)).map((name) => join(root, name)));
      }
      await removeAll(paths);
    },
  };
}

async function namesIn(fileSystem: FileSystem, folder: string): Promise<readonly string[]> {
  const entries = (await unlessMissing(fileSystem.readdir(folder))) ?? [];
  return entries.map(({ name }) => name).filter((name) => !name.startsWith('.'));
}
