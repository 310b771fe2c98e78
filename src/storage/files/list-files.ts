import type { Dirent } from 'node:fs';
import { join } from 'node:path';
import type { StoredFile } from '../../core/store.ts';
import { unlessMissing } from './file-error.ts';
import type { FileSystem } from './file-system.ts';
import { isSegment } from './keys.ts';
import type { RootFolders } from './roots.ts';
import { locate, locateFolders } from './roots.ts';

/** The files below a folder that have a key, sorted by path: no backups, no hidden or temporary files, no links. */
export async function listFiles(
  fileSystem: FileSystem,
  roots: RootFolders,
  folder: string,
): Promise<readonly StoredFile[]> {
  async function walk(key: string, path: string): Promise<StoredFile[]> {
    const entries = (await unlessMissing(fileSystem.readdir(path))) ?? [];
    const named = entries.filter((entry) => isSegment(entry.name, key));
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

  /** The folder itself may be a link, or lie behind one. */
  async function walkReal(path: string): Promise<StoredFile[]> {
    return (await unlessMissing(fileSystem.realpath(path))) === path ? walk(folder, path) : [];
  }

  const found = await Promise.all(locateFolders(roots, folder).map(({ path }) => walkReal(path)));
  return found.flat().toSorted((a, b) => (a.path < b.path ? -1 : 1));
}
