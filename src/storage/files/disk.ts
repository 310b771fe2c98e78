import { constants, type BigIntStats } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { StoreError, UnusableStoreError } from '../../core/errors.ts';
import { lruCache } from '../../core/limits.ts';
import { errorCode, unlessMissing, withFile, writeWhole, type FileSystem } from './file-system.ts';
import { isWithin } from '../keys.ts';
import { backupOf, isStray, nextOf } from './paths.ts';

export type Disk = ReturnType<typeof createDisk>;

interface Replacement {
  readonly key: string;
  readonly path: string;
  readonly bytes: Buffer;
  /** Asked with the present file just before it is replaced; `false` leaves everything as it is. */
  readonly isExpected?: (present: BigIntStats | undefined) => boolean;
}

/** What a volume may refuse, and is done without. */
type Lack = 'file permissions' | 'syncing folders';

const keptFolders = 20_000;

/** Changes that survive `kill -9` and power loss once they resolve [S2]. */
export function createDisk(fileSystem: FileSystem) {
  const lacks = new Set<Lack>();
  const roots = new Set<string>();
  /** Folders whose own names are on disk. */
  const synced = lruCache<string, true>(keptFolders);
  /** Temporary files on their way to their place. */
  const staging = new Set<string>();

  /** For what a volume may refuse. */
  async function attempt(lack: Lack, work: Promise<void>): Promise<void> {
    try {
      await work;
    } catch (error) {
      if (!isRefusal(error)) throw error;
      lacks.add(lack);
    }
  }

  async function syncFolder(path: string): Promise<void> {
    const opening = fileSystem.open(path, constants.O_RDONLY | constants.O_DIRECTORY);
    await attempt(
      'syncing folders',
      withFile(opening, (folder) => folder.sync()),
    );
  }

  /** Makes the folder with its parents, 0700 [S6]; on disk when it resolves. */
  async function ensureFolder(path: string): Promise<void> {
    const firstMade = await fileSystem.mkdir(path, 0o700);
    const isNew = (folder: string) => firstMade !== undefined && isWithin(folder, firstMade);
    for (let folder = path; isNew(folder); folder = dirname(folder)) synced.delete(folder);
    // Also those that a killed process may have made without syncing their names.
    for (let folder = path; isNew(folder) || isBelowRoot(folder); folder = dirname(folder)) {
      if (synced.has(folder)) continue;
      await syncFolder(dirname(folder));
      synced.set(folder, true);
    }
  }

  function isBelowRoot(path: string): boolean {
    return [...roots].some((root) => path.startsWith(root + sep));
  }

  /** Makes a root folder where it is missing; private unless it is the owner's own. */
  async function openRoot(path: string, isOwnersOwn: boolean): Promise<void> {
    await ensureFolder(path);
    roots.add(path);
    if (isOwnersOwn) return;
    await attempt('file permissions', fileSystem.chmod(path, 0o700));
    // Files that an earlier start left to another user are met here, not during a talk.
    for (const entry of await fileSystem.readdir(path))
      if (!entry.name.startsWith('.') && (entry.isFile() || entry.isDirectory()))
        await withFile(fileSystem.open(join(path, entry.name), constants.O_RDONLY), () => Promise.resolve());
  }

  /** Tries what a volume may refuse. @throws {UnusableStoreError} where files cannot be synced at all. */
  async function probe(folder: string): Promise<void> {
    const path = nextOf(join(folder, 'probe'));
    try {
      await withFile(
        fileSystem.open(path, constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW, 0o600),
        async (file) => {
          await writeWhole(file, folder, Buffer.from('probe'), 0);
          await file.datasync().catch((error: unknown) => {
            if (!isRefusal(error)) throw error;
            const text = `The volume of ${folder} refuses to sync files (${errorCode(error)}), so that a power loss would take what was saved: move the folder to a local disk, and set its variable (DISCOCLAW_DATA_DIR for the data) to the new place`;
            throw new UnusableStoreError(text, folder, { cause: error });
          });
        },
      );
      await syncFolder(folder);
    } finally {
      await fileSystem.unlink(path).catch(() => undefined);
    }
  }

  /** Puts the bytes beside `path`, whole, and then in its place; where that fails, nothing stays beside it unless the disk keeps it. */
  async function put({ key, path, bytes, isExpected }: Replacement, isSynced: boolean) {
    const next = nextOf(path);
    staging.add(next);
    try {
      // It would hand down its mode.
      await unlessMissing(fileSystem.unlink(next));
      await fileSystem.writeAtomic(next, bytes, isSynced);
      const stats = await fileSystem.lstat(next);
      if (stats.size !== BigInt(bytes.length)) {
        const cause = Object.assign(new Error('The disk took only a part'), { code: 'ENOSPC' });
        throw new StoreError(`${key} could not be written: disk full`, key, { cause });
      }
      if (isExpected?.(await unlessMissing(fileSystem.lstat(path))) !== false) {
        await fileSystem.rename(next, path);
        return stats;
      }
      await fileSystem.unlink(next);
      return undefined;
    } catch (error) {
      // What cannot be removed now goes with the next write of its key, or at the next start.
      await fileSystem.unlink(next).catch(() => undefined);
      throw error;
    } finally {
      staging.delete(next);
    }
  }

  /**
   * All of the old content or all of the new, even after a kill. Resolves with `undefined` where the file was not
   * as expected. Where it rejects, the old file stands, or the new one is there and may not survive a power loss.
   */
  async function replaceFile(replacement: Replacement): Promise<BigIntStats | undefined> {
    const folder = dirname(replacement.path);
    await ensureFolder(folder);
    const stats = await put(replacement, true);
    if (stats !== undefined) await syncFolder(folder);
    return stats;
  }

  /** Keeps bytes as the file's `.bak`, against slips of the hand only: a power loss may take it. */
  async function writeBackup(key: string, path: string, bytes: Buffer): Promise<void> {
    await put({ key, path: backupOf(path), bytes }, false);
  }

  /** Removes a file with its backup; while it rejects, the file may stand. Absent is fine. */
  async function removeFile(path: string): Promise<void> {
    await unlessMissing(fileSystem.unlink(backupOf(path)));
    await unlessMissing(fileSystem.unlink(path));
    await unlessMissing(syncFolder(dirname(path)));
  }

  /** Removes a folder, or file, from one moment to the next, even with a kill in between. Absent is fine. */
  async function removeTree(path: string): Promise<void> {
    const gone = nextOf(path);
    await fileSystem.removeTree(gone);
    await unlessMissing(fileSystem.rename(path, gone));
    await unlessMissing(syncFolder(dirname(path)));
    await fileSystem.removeTree(gone);
    await unlessMissing(syncFolder(dirname(path)));
    synced.clear();
  }

  /** Removes what a write of this file left under a temporary name; only while nobody writes it. */
  async function removeStraysOf(path: string): Promise<void> {
    const folder = dirname(path);
    const own = [nextOf(path), nextOf(backupOf(path))];
    const entries = (await unlessMissing(fileSystem.readdir(folder))) ?? [];
    const strays = entries
      .map(({ name }) => join(folder, name))
      .filter((name) => own.some((next) => name === next || name.startsWith(`${next}.`)));
    for (const stray of strays) await fileSystem.removeTree(stray);
    if (strays.length > 0) await syncFolder(folder);
  }

  /** Removes what an earlier process left under temporary names, one folder after the other; tells how many [S2]. */
  async function removeStrays(folder: string, signal: AbortSignal): Promise<number> {
    let removed = 0;
    for (const entry of (await unlessMissing(fileSystem.readdir(folder))) ?? []) {
      if (signal.aborted) break;
      const path = join(folder, entry.name);
      if (isStray(entry.name)) {
        if (staging.has(path.replace(/\.\d+$/u, ''))) continue;
        await fileSystem.removeTree(path);
        await unlessMissing(syncFolder(folder));
        removed += 1;
      } else if (entry.isDirectory()) removed += await removeStrays(path, signal);
    }
    return removed;
  }

  return {
    lacks,
    openRoot,
    probe,
    ensureFolder,
    syncFolder,
    replaceFile,
    writeBackup,
    removeFile,
    removeTree,
    removeStraysOf,
    removeStrays,
  };
}

/** How volumes say that they do not know an operation, or do not let anybody use it. */
const refusals = new Set(['EPERM', 'EACCES', 'EINVAL', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP']);

function isRefusal(error: unknown): boolean {
  return refusals.has(errorCode(error) ?? '');
}
