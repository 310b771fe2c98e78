import type { Dirent } from 'node:fs';
import { dirname, join } from 'node:path';
import type { StoredFile } from '../../core/store.ts';
import { unlessMissing } from './file-error.ts';
import type { FileSystem } from './file-system.ts';
import type { Folders } from './folders.ts';
import { isInWorkspace, isSegment } from './keys.ts';
import type { Location, RootFolders } from './roots.ts';
import { locate, locateFolders } from './roots.ts';
import { temporaryName } from './temporary-files.ts';

/** The files below a folder that have a key, sorted by path: no backups, no hidden or temporary files, no links. */
export async function listFiles(
  fileSystem: FileSystem,
  roots: RootFolders,
  folder: string,
): Promise<readonly StoredFile[]> {
  async function walk(key: string, path: string): Promise<StoredFile[]> {
    const entries = (await unlessMissing(fileSystem.readdir(path))) ?? [];
    const named = entries.filter((entry) => isSegment(entry.name, isInWorkspace(folder)));
    const found = await Promise.all(
      named.map((entry) => visit(entry, `${key}/${entry.name}`, join(path, entry.name))),
    );
    return found.flat();
  }

  async function visit(entry: Dirent, key: string, path: string): Promise<StoredFile[]> {
    if (entry.isDirectory()) return walk(key, path);
    // A layer's folder that was moved may have left files behind, which no key reads any more.
    if (!entry.isFile() || locate(roots, key).path !== path) return [];
    const stats = await unlessMissing(fileSystem.lstat(path));
    return stats === undefined ? [] : [{ path: key.slice(folder.length + 1), bytes: Number(stats.size) }];
  }

  const found = await Promise.all(locateFolders(roots, folder).map(({ path }) => walk(folder, path)));
  return found.flat().toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

/**
 * Removes a folder with all that is in it: out of sight in one step, then from the disk. What a kill leaves of the second step is
 * removed at the next start. A root folder itself stays, with the hidden files that tools of its owner keep there.
 */
export async function removeFolder(
  fileSystem: FileSystem,
  folders: Folders,
  { root, path }: Location,
): Promise<void> {
  if (path === root) {
    for (const entry of await fileSystem.readdir(root)) {
      if (entry.name.startsWith('.')) continue;
      await removeFolder(fileSystem, folders, { root, path: join(root, entry.name) });
    }
    return;
  }
  const doomed = temporaryName(path);
  const isMoved = await unlessMissing(fileSystem.rename(path, doomed).then(() => true));
  if (isMoved === undefined) return;
  await folders.sync(dirname(path));
  await fileSystem.removeTree(doomed);
}
