import { constants, type BigIntStats, type Dirent } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { LRUCache } from 'lru-cache';
import { StoreError } from '../../core/errors.ts';
import { growingCache } from '../../core/limits.ts';
import { errorCode, timeResolutionMs, unlessMissing, withFile, type FileSystem } from './file-system.ts';
import { isWithin } from '../keys.ts';
import { createGlances } from './glances.ts';
import { backupOf, newMark, originOf, temporaryName, type Location } from './paths.ts';

export type Disk = ReturnType<typeof createDisk>;

interface Replacement {
  readonly key: string;
  readonly path: string;
  readonly bytes: Buffer;
  /** Whether the old content is kept as `.bak`, or is to be on the disk no more when the replacement resolves; else it just goes. */
  readonly former?: 'kept' | 'erased' | undefined;
  /** Whether the folder's new list of names may come on disk later, with `sync`. */
  readonly isDeferred?: boolean;
  /** Asked with the present file just before it is replaced; `false` leaves everything as it is. */
  readonly isExpected?: (present: BigIntStats | undefined) => boolean;
}

/** Of folders' entries. */
const keptNames = 20_000;

/**
 * Changes to files and folders that survive `kill -9` and power loss once they resolve [S2]. What a kill leaves under temporary names is
 * removed at the next start; what could not be removed at once is tried again with every file that is replaced and with every erasing.
 */
export function createDisk(fileSystem: FileSystem) {
  const ownMark = newMark();
  let isLookedThrough = false;
  // Folders in which a name came or went that the disk does not know of yet: the sync after `mkdir` may fail, and is then made up for.
  const unsynced = new Set<string>();
  const unsyncedFiles = new Set<string>();
  const roots = new Set<string>();
  // Folders below the roots that this process has used already.
  const used = growingCache<string, true>(keptNames);
  // Temporary files that could not be removed, and which path each stood in for.
  const leftovers = new Map<string, string>();
  const listings = new LRUCache<string, { readonly state: string; readonly entries: readonly Dirent[] }>({
    maxSize: keptNames,
    sizeCalculation: ({ entries }) => entries.length + 1,
  });
  const { glance, lookAgain } = createGlances(fileSystem);

  /** What a folder holds, none where there is none: read again once the folder's own time has changed, as it does for every name that comes or goes. */
  async function entriesOf(path: string): Promise<readonly Dirent[]> {
    const stats = await glance(path);
    if (stats === undefined) return [];
    const state = `${stats.ino}:${stats.mtimeNs}`;
    const known = listings.get(path);
    if (known?.state === state) return known.entries;
    const age = Date.now() - Number(stats.mtimeMs);
    const entries = (await unlessMissing(fileSystem.readdir(path))) ?? [];
    if (age > timeResolutionMs) listings.set(path, { state, entries });
    return entries;
  }

  /** Makes the folder with its parents, 0700 [S6], on disk when it resolves. */
  async function ensureFolder(path: string): Promise<void> {
    await makeFolder(path);
    await syncFolders();
  }

  function isBelowRoot(path: string): boolean {
    return [...roots].some((root) => path.startsWith(root + sep));
  }

  /** The same, but not on disk before `sync`. */
  async function makeFolder(path: string): Promise<void> {
    const firstMade = await fileSystem.mkdir(path, 0o700);
    // A killed process may have made them, and not have come to sync their names.
    for (let folder = path; isBelowRoot(folder) && !used.has(folder); folder = dirname(folder)) {
      used.set(folder, true);
      unsynced.add(dirname(folder));
    }
    if (firstMade === undefined) return;
    for (let made = path; made !== dirname(firstMade); made = dirname(made)) unsynced.add(dirname(made));
  }

  async function syncFolders(): Promise<void> {
    for (const folder of unsynced) await taking(unsynced, folder, () => syncFolder(folder));
  }

  /** What was written to a file comes on disk with `sync`, its name too where it `isNew`. */
  function defer(path: string, isNew: boolean): void {
    unsyncedFiles.add(path);
    if (isNew) unsynced.add(dirname(path));
  }

  /** What a killed process wrote there comes on disk with `sync`, with the names of the folders above: nobody knows how much of it did. */
  async function deferFormer({ root, path }: Location): Promise<void> {
    if ((await unlessMissing(fileSystem.lstat(path))) === undefined) return;
    unsyncedFiles.add(path);
    for (let folder = path; folder !== root; folder = dirname(folder)) unsynced.add(dirname(folder));
  }

  /** Puts on disk whatever was deferred: of one file and all folders, or of all files. */
  async function sync(only?: string): Promise<void> {
    for (const path of only === undefined ? unsyncedFiles : [only]) {
      const opening = () => fileSystem.open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
      if (unsyncedFiles.has(path))
        await taking(unsyncedFiles, path, () => withFile(opening(), (file) => file.datasync()));
    }
    await syncFolders();
  }

  /** Puts the folder's list of names on disk. */
  async function syncFolder(path: string): Promise<void> {
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

  /**
   * Replaces a file so that a reader, or a start after `kill -9` or power loss, finds all of the old content or all of
   * the new. Resolves with the new file's stats, or `undefined` where it was not as expected. When it rejects, the old file
   * stands.
   *
   * write-file-atomic takes a short write for a success and puts the half file in place of the good one. So it is given a
   * name of our own, and only a file of the right size takes the real name.
   */
  async function replaceFile(replacement: Replacement): Promise<BigIntStats | undefined> {
    const { key, path, bytes, former, isExpected, isDeferred = false } = replacement;
    await (isDeferred ? makeFolder(dirname(path)) : ensureFolder(dirname(path)));
    const staged = temporaryName(path, ownMark);
    // The library has one of its own, which it may leave too.
    const names = [staged];
    try {
      // The owner of a file that a person made stays its owner.
      const made = await unlessMissing(fileSystem.lstat(path));
      const owner = made && { uid: Number(made.uid), gid: Number(made.gid) };
      const tmpfileCreated = (name: string): unknown => names.push(name);
      await fileSystem.writeFileAtomic(staged, bytes, {
        mode: 0o600,
        tmpfileCreated,
        ...(owner && { owner }),
      });
      const written = await fileSystem.lstat(staged);
      if (written.size !== BigInt(bytes.length)) {
        throw new StoreError(
          `${key} could not be written: only ${written.size} of ${bytes.length} bytes fitted`,
          key,
        );
      }
      const present = await unlessMissing(fileSystem.lstat(path));
      if (isExpected !== undefined && !isExpected(present)) {
        await discard(staged, path);
        return undefined;
      }
      if (present !== undefined && former === 'kept') await keepBackup(path);
      if (isDeferred) {
        await fileSystem.rename(staged, path);
        unsynced.add(dirname(path));
      } else if (present === undefined) await nameNew(staged, path);
      else await swap(staged, path, former === 'erased');
      // The disk works again.
      await eraseLeftovers();
      return written;
    } catch (error) {
      for (const name of names) await discard(name, path);
      throw error;
    } finally {
      lookAgain();
    }
  }

  async function nameNew(staged: string, path: string): Promise<void> {
    await fileSystem.rename(staged, path);
    try {
      await syncFolder(dirname(path));
    } catch (error) {
      await fileSystem.unlink(path);
      throw error;
    }
  }

  /** Puts the staged file in place of another. When that cannot be brought on disk, or the old one not erased, the old one is put back. */
  async function swap(staged: string, path: string, isErasing: boolean): Promise<void> {
    const old = temporaryName(path, ownMark);
    try {
      await copyFile(path, old);
      await fileSystem.rename(staged, path);
      try {
        await syncFolder(dirname(path));
        if (isErasing) await remove(old);
      } catch (error) {
        await fileSystem.rename(old, path);
        throw error;
      }
    } finally {
      await discard(old, path);
    }
  }

  /** Makes the backup a copy of the file in one step: it is always whole, the one before or the new one. */
  async function keepBackup(path: string): Promise<void> {
    const copy = temporaryName(path, ownMark);
    try {
      await copyFile(path, copy);
      await fileSystem.rename(copy, backupOf(path));
    } finally {
      // Renaming does nothing where both names are the same file already.
      await discard(copy, path);
    }
  }

  /** A second name for a file's content, or a synced copy where the file system has no hard links. Private either way [S6]. */
  async function copyFile(from: string, to: string): Promise<void> {
    if ((await linkOrCopy(from, to)) === 'copied')
      await withFile(fileSystem.open(to, constants.O_RDONLY), (copy) => copy.sync());
    await fileSystem.chmod(to, 0o600);
  }

  async function linkOrCopy(from: string, to: string): Promise<'linked' | 'copied'> {
    try {
      await fileSystem.link(from, to);
      return 'linked';
    } catch (error) {
      if (!withoutLinks.has(errorCode(error) ?? '')) throw error;
      await fileSystem.copyFile(from, to);
      return 'copied';
    }
  }

  /** Removes a file for good, or not at all; its backup stays. Absent is fine. */
  async function removeFile(path: string): Promise<void> {
    const hidden = temporaryName(path, ownMark);
    const isThere = await unlessMissing(fileSystem.rename(path, hidden).then(() => true));
    lookAgain();
    if (isThere === undefined) return;
    try {
      await syncFolder(dirname(path));
      await remove(hidden);
    } catch (error) {
      await bringBack(new Map([[hidden, path]]));
      throw error;
    }
  }

  /** Takes files and folders out of sight, all or none; `eraseLeftovers` takes them off the disk, or else the next start. */
  async function hide(paths: readonly string[]): Promise<void> {
    const hidden = new Map<string, string>();
    try {
      for (const path of paths) {
        const name = temporaryName(path, ownMark);
        if (await unlessMissing(fileSystem.rename(path, name).then(() => true))) hidden.set(name, path);
      }
      const folders = new Set([...hidden.values()].map((path) => dirname(path)));
      for (const folder of folders) await syncFolder(folder);
    } catch (error) {
      await bringBack(hidden);
      throw error;
    }
    for (const [name, path] of hidden) leftovers.set(name, path);
    lookAgain();
  }

  /** Gives hidden files their paths again, as far as the disk allows; the others are gone. */
  async function bringBack(hidden: ReadonlyMap<string, string>): Promise<void> {
    for (const [name, path] of hidden)
      await fileSystem.rename(name, path).catch(() => leftovers.set(name, path));
    lookAgain();
  }

  /** Removes a temporary file that may be there. Its name may have come on disk with those beside it, and goes from there with `sync`. */
  async function remove(name: string): Promise<void> {
    if (await unlessMissing(fileSystem.unlink(name).then(() => true))) unsynced.add(dirname(name));
  }

  /** The same, where a failure leaves it to the next write, erasing or start. */
  async function discard(name: string, path: string): Promise<void> {
    await remove(name).catch(() => leftovers.set(name, path));
  }

  /**
   * Removes what was hidden, staged or copied, and could not be removed then, for whichever file: words that are forgotten here may stand there. Rejects
   * only where that fails for the given path, its copies, a folder above or what is below.
   */
  async function eraseLeftovers(path?: string): Promise<void> {
    for (const [name, origin] of leftovers) {
      try {
        await removeTree(name);
        leftovers.delete(name);
      } catch (error) {
        if (path !== undefined && isOf(path, origin)) throw error;
      }
    }
  }

  /** With `sync` not even a loss of power brings it back. */
  async function removeTree(path: string): Promise<void> {
    await fileSystem.removeTree(path);
    unsynced.add(dirname(path));
  }

  /** The same of what an earlier process left, as long as that was not all looked for. */
  async function eraseFormerLeftovers({ root, path }: Location): Promise<void> {
    if (isLookedThrough) return;
    for (let folder = path === root ? root : dirname(path); ; folder = dirname(folder)) {
      for (const { name } of (await unlessMissing(fileSystem.readdir(folder))) ?? []) {
        const origin = originOf(folder, name, ownMark);
        if (origin !== undefined && isOf(path, origin)) await removeTree(join(folder, name));
      }
      if (folder === root) return;
    }
  }

  /** Removes what a killed process left behind anywhere below the folders; resolves with how many there were [S2]. */
  async function removeFormerLeftovers(below: readonly string[], signal: AbortSignal): Promise<number> {
    let removed = 0;
    for (const root of below) removed += await removeFormerBelow(root, signal);
    isLookedThrough = !signal.aborted;
    if (removed > 0) await syncFolders();
    return removed;
  }

  /** One folder after the other: there may be very many. */
  async function removeFormerBelow(folder: string, signal: AbortSignal): Promise<number> {
    let removed = 0;
    for (const entry of (await unlessMissing(fileSystem.readdir(folder))) ?? []) {
      if (signal.aborted) break;
      const path = join(folder, entry.name);
      const origin = originOf(folder, entry.name, ownMark);
      if (origin !== undefined) {
        try {
          await removeTree(path);
          removed += 1;
        } catch {
          leftovers.set(path, origin);
        }
      } else if (entry.isDirectory()) removed += await removeFormerBelow(path, signal);
    }
    return removed;
  }

  return {
    glance,
    entriesOf,
    lookAgain,
    ensureFolder,
    /** A folder that is on disk, below which files come and go. */
    addRoot: (path: string): unknown => roots.add(path),
    makeFolder,
    syncFolder,
    defer,
    deferFormer,
    sync,
    replaceFile,
    copyFile,
    linkOrCopy,
    removeFile,
    hide,
    eraseLeftovers,
    eraseFormerLeftovers,
    removeFormerLeftovers,
  };
}

/** Syncs one of those that wait for it, which may have been removed or made a link since. What is written meanwhile waits again, and so does what failed. */
async function taking(waiting: Set<string>, path: string, sync: () => Promise<void>): Promise<void> {
  waiting.delete(path);
  try {
    await unlessMissing(sync());
  } catch (error) {
    if (errorCode(error) === 'ELOOP') return;
    waiting.add(path);
    throw error;
  }
}

const withoutLinks: ReadonlySet<string> = new Set([
  'EPERM',
  'EXDEV',
  'ENOTSUP',
  'EOPNOTSUPP',
  'ENOSYS',
  'EMLINK',
]);

/** Whether what stood in for `origin` concerns a path: its copies, a folder above, or what is below. */
function isOf(path: string, origin: string): boolean {
  return isWithin(path, origin) || origin.startsWith(path);
}
