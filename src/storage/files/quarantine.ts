import { basename, dirname, join, relative } from 'node:path';
import { limits } from '../../core/limits.ts';
import type { Clock } from '../../core/time.ts';
import type { Disk } from './disk.ts';
import { filesBelow, unlessMissing, type FileSystem } from './file-system.ts';
import { locate, locateQuarantine, type RootFolders } from './paths.ts';

/** What follows a key in a quarantined copy's name. */
const copyEnding = /\.(\d{8}T\d{9}Z)$/u;

export type Quarantine = ReturnType<typeof createQuarantine>;

/** Keeps unreadable documents for a person to look at [S4], for a while, under their key with a time stamp. */
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
  const folder = locateQuarantine(roots, '').path;

  /** Resolves with the copy's path, on disk by then. */
  async function keep(key: string, bytes: Buffer): Promise<string> {
    await removeOld();
    const path = `${locateQuarantine(roots, key).path}.${stampOf(clock())}`;
    await disk.replaceFile({ key, path, bytes });
    return path;
  }

  async function removeOld(): Promise<void> {
    const oldest = stampOf(new Date(clock().getTime() - limits.quarantine.days * 24 * 60 * 60 * 1000));
    for await (const path of filesBelow(fileSystem, folder)) {
      const [, stamp] = copyEnding.exec(path) ?? [];
      if (stamp !== undefined && stamp < oldest) await disk.removeFile(path);
    }
  }

  /** Erases a key's copies in quarantine and temporary files [S7]; may be called again after a rejection. */
  async function eraseCopies(key: string): Promise<void> {
    await disk.removeStraysOf(locate(roots, key).path);
    const { path } = locateQuarantine(roots, key);
    const entries = (await unlessMissing(fileSystem.readdir(dirname(path)))) ?? [];
    for (const { name } of entries)
      // Also one that was on its way there.
      if (name.replace(/^\.|\.next(?:\.\d+)?$/gu, '').replace(copyEnding, '') === basename(path))
        await disk.removeFile(join(dirname(path), name));
  }

  /** Names of the copies, as below the folder. */
  async function list(): Promise<readonly string[]> {
    const found: string[] = [];
    for await (const path of filesBelow(fileSystem, folder, (name) => name.startsWith('.')))
      found.push(relative(folder, path));
    return found;
  }

  return { keep, removeOld, eraseCopies, list };
}

/** Such as `20260115T120000000Z`: the later, the greater. */
function stampOf(date: Date): string {
  return date.toISOString().replaceAll(/[-:.]/g, '');
}
