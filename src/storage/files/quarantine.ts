import { basename, dirname, join } from 'node:path';
import type { Clock } from '../../core/time.ts';
import type { Disk } from './disk.ts';
import { errorCode, unlessMissing, type FileSystem } from './file-system.ts';
import { backupOf, locateQuarantine, type RootFolders } from './paths.ts';

/** What stands behind a key's last segment in the name of a quarantined copy. */
const copyEnding = /^(?:\.bak)?\.\d{8}T\d{9}Z(?:-\d+)?$/;

export type Quarantine = ReturnType<typeof createQuarantine>;

/**
 * Where unreadable documents are kept for a person to look at [S4]: under the document's key, or its backup's, with a time stamp behind
 * it, such as `quarantine/users/<id>/durable.json.20260115T120000000Z`.
 */
export function createQuarantine({
  fileSystem,
  disk,
  roots,
  clock,
}: {
  readonly fileSystem: FileSystem;
  readonly disk: Disk;
  readonly roots: RootFolders;
  readonly clock: Clock;
}) {
  /** Keeps a copy of the file; the file itself stays. Resolves with the copy's path, on disk by then. */
  async function keep(key: string, path: string): Promise<string> {
    const { path: target } = locateQuarantine(roots, key);
    const stamp = clock().toISOString().replaceAll(/[-:.]/g, '');
    await disk.ensureFolder(dirname(target));
    for (let attempt = 1; ; attempt += 1) {
      const copy = attempt === 1 ? `${target}.${stamp}` : `${target}.${stamp}-${attempt}`;
      if ((await unlessMissing(fileSystem.lstat(copy))) !== undefined) continue;
      try {
        await disk.copyFile(path, copy);
      } catch (error) {
        if (errorCode(error) === 'EEXIST') continue;
        throw error;
      }
      await disk.syncFolder(dirname(target));
      return copy;
    }
  }

  /**
   * Erases what the store keeps of a file besides the file itself [S7]: copies in quarantine, temporary files, and the backup, which is made
   * anew of `renewed` where that is given. When it rejects, some of them may be left; called again, it goes on.
   */
  async function eraseCopies(key: string, path: string, renewed?: Buffer): Promise<void> {
    const { path: target } = locateQuarantine(roots, key);
    for (const origin of [path, target]) await disk.eraseLeftovers(origin);
    for (const copy of await copiesOf(target)) await disk.removeFile(copy);
    const backup = backupOf(path);
    if (renewed === undefined) await disk.removeFile(backup);
    else await disk.replaceFile({ key, path: backup, bytes: renewed, former: 'erased' });
  }

  async function copiesOf(target: string): Promise<readonly string[]> {
    const folder = dirname(target);
    const entries = (await unlessMissing(fileSystem.readdir(folder))) ?? [];
    const names = entries.map(({ name }) => name).filter((name) => name.startsWith(basename(target)));
    const copies = names.filter((name) => copyEnding.test(name.slice(basename(target).length)));
    return copies.map((name) => join(folder, name));
  }

  /** How many files are kept. */
  const count = () => countFiles(fileSystem, locateQuarantine(roots, '').path);

  return { keep, eraseCopies, count };
}

async function countFiles(fileSystem: FileSystem, folder: string): Promise<number> {
  let count = 0;
  for (const entry of (await unlessMissing(fileSystem.readdir(folder))) ?? [])
    count += entry.isDirectory() ? await countFiles(fileSystem, join(folder, entry.name)) : 1;
  return count;
}
