import { constants, type BigIntStats } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { UnusableStoreError } from '../../core/errors.ts';
import { lruCache } from '../../core/limits.ts';
import { errorCode, unlessMissing, withFile, writeWhole, type FileSystem } from './file-system.ts';
import { isWithin } from '../keys.ts';
import { backupOf, newMark, originOf, temporaryName, type Location } from './paths.ts';

export type Disk = ReturnType<typeof createDisk>;

interface Replacement {
  readonly key: string;
  readonly path: string;
  readonly bytes: Buffer;
  /** `.bak` gets the new content too: a slip in an edit by hand costs nothing then. */
  readonly hasBackup?: true;
  /** Not even a power loss brings the former content back. Default: true. */
  readonly isErasing?: boolean;
  /** Asked with the present file just before it is replaced; `false` leaves everything as it is. */
  readonly isExpected?: (present: BigIntStats | undefined) => boolean;
}

/** What a volume may refuse, and is done without. */
type Lack = 'file permissions' | 'hard links' | 'syncing folders';

const keptFolders = 20_000;

const createFlags = constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

/** Changes that survive `kill -9` and power loss once they resolve [S2]. Failed removals are tried again later. */
export function createDisk(fileSystem: FileSystem) {
  const ownMark = newMark();
  let isLookedThrough = false;
  const lacks = new Set<Lack>();
  const roots = new Set<string>();
  // Folders whose names are on disk; those whose names are not yet.
  const synced = lruCache<string, true>(keptFolders);
  const unsynced = new Set<string>();
  // Temporary files that could not be removed, by the path that each stood in for.
  const leftovers = new Map<string, string>();

  /** For what a volume may refuse; resolves with whether it was done. */
  async function attempt(lack: Lack, work: () => Promise<void>): Promise<boolean> {
    try {
      await work();
      return true;
    } catch (error) {
      if (!isRefusal(error)) throw error;
      lacks.add(lack);
      return false;
    }
  }

  const makePrivate = (path: string, mode: number): Promise<boolean> =>
    attempt('file permissions', () => fileSystem.chmod(path, mode));

  async function syncFolder(path: string): Promise<void> {
    await attempt('syncing folders', () =>
      withFile(fileSystem.open(path, constants.O_RDONLY | constants.O_DIRECTORY), (folder) => folder.sync()),
    );
  }

  /** Makes the folder with its parents, 0700 [S6]; on disk when it resolves. */
  async function ensureFolder(path: string): Promise<void> {
    const firstMade = await fileSystem.mkdir(path, 0o700);
    const isMade = (folder: string) => firstMade !== undefined && isWithin(folder, firstMade);
    for (let made = path; isMade(made); made = dirname(made)) unsynced.add(made);
    // A killed process may have made them without syncing their names.
    for (let folder = path; isBelowRoot(folder); folder = dirname(folder))
      if (!synced.has(folder)) unsynced.add(folder);
    for (const folder of unsynced) {
      if (!isWithin(path, folder)) continue;
      await unlessMissing(syncFolder(dirname(folder)));
      unsynced.delete(folder);
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
    await makePrivate(path, 0o700);
    // Files that an earlier start left to another user are met here, not during a talk.
    for (const entry of await fileSystem.readdir(path))
      if (!entry.name.startsWith('.') && (entry.isFile() || entry.isDirectory()))
        await withFile(fileSystem.open(join(path, entry.name), constants.O_RDONLY), () => Promise.resolve());
  }

  /** Tries what a volume may refuse. @throws {UnusableStoreError} where files cannot be synced at all. */
  async function probe(folder: string): Promise<void> {
    const path = join(folder, 'probe');
    const [first, second] = [temporaryName(path, ownMark), temporaryName(path, ownMark)];
    try {
      await withFile(fileSystem.open(first, createFlags, 0o600), async (file) => {
        await writeWhole(file, folder, Buffer.from('probe'), 0);
        await file.datasync().catch((error: unknown) => {
          if (!isRefusal(error)) throw error;
          const text = `The volume of ${folder} refuses to sync files (${errorCode(error)}), so that a power loss would take what was saved: move the folder to a local disk, and set its variable (DISCOCLAW_DATA_DIR for the data) to the new place`;
          throw new UnusableStoreError(text, folder, { cause: error });
        });
      });
      await copyFile(first, second);
      await syncFolder(folder);
    } finally {
      for (const name of [first, second]) await discard(name, path);
    }
  }

  /** On disk when it resolves where it `isSynced`, except its name. */
  async function writeFile(
    key: string,
    path: string,
    bytes: Buffer,
    isSynced: boolean,
  ): Promise<BigIntStats> {
    return withFile(fileSystem.open(path, createFlags, 0o600), async (file) => {
      await writeWhole(file, key, bytes, 0);
      const stats = await file.stat();
      if (isSynced) await file.sync();
      return stats;
    });
  }

  /**
   * All of the old content or all of the new, even after a kill. Resolves with `undefined` where the file was not
   * as expected; where it rejects, the old file stands.
   */
  async function replaceFile(replacement: Replacement): Promise<BigIntStats | undefined> {
    const { key, path, bytes, hasBackup, isErasing = true, isExpected } = replacement;
    await ensureFolder(dirname(path));
    const names: string[] = [];
    const temporary = (): string => {
      const name = temporaryName(path, ownMark);
      names.push(name);
      return name;
    };
    try {
      const staged = temporary();
      const written = await writeFile(key, staged, bytes, true);
      const present = await unlessMissing(fileSystem.lstat(path));
      if (isExpected?.(present) === false) {
        await discard(staged, path);
        return undefined;
      }
      // A person's file stays theirs, as far as this process may.
      if (present !== undefined && present.uid !== written.uid)
        await attempt('file permissions', () =>
          fileSystem.chown(staged, Number(present.uid), Number(present.gid)),
        );
      if (hasBackup === true) {
        const copy = temporary();
        await writeFile(key, copy, bytes, false);
        await fileSystem.rename(copy, backupOf(path));
      }
      const former = present && temporary();
      if (former !== undefined) await copyFile(path, former);
      await putInPlace(staged, path, former);
      if (former !== undefined && isErasing) await discard(former, path);
      // The disk works again.
      await eraseLeftovers();
      return written;
    } catch (error) {
      for (const name of names) await discard(name, path);
      throw error;
    }
  }

  /** Where that fails, all is as it was. */
  async function putInPlace(staged: string, path: string, former: string | undefined): Promise<void> {
    await fileSystem.rename(staged, path);
    try {
      await syncFolder(dirname(path));
      if (former !== undefined) await fileSystem.unlink(former);
    } catch (error) {
      await (former === undefined ? fileSystem.unlink(path) : fileSystem.rename(former, path));
      throw error;
    }
  }

  /** A hard link, or a synced copy where there are none. Private either way [S6]. */
  async function copyFile(from: string, to: string): Promise<void> {
    if (!(await linkOrCopy(from, to)))
      await withFile(fileSystem.open(to, constants.O_RDONLY), (copy) => copy.sync());
    await makePrivate(to, 0o600);
  }

  /** Resolves with whether it is linked. */
  async function linkOrCopy(from: string, to: string): Promise<boolean> {
    const isLinked = await attempt('hard links', () => fileSystem.link(from, to));
    if (!isLinked) await fileSystem.copyFile(from, to);
    return isLinked;
  }

  /** Erases a file with its backup; when it rejects, the file stands. Absent is fine. */
  async function removeFile(path: string): Promise<void> {
    const hidden = await hideAll([backupOf(path), path]);
    try {
      for (const name of hidden.keys()) await fileSystem.unlink(name);
    } catch (error) {
      await bringBack(hidden);
      throw error;
    }
    for (const [name, origin] of hidden) await discard(name, origin);
  }

  /** Hides files and folders, all or none, until `eraseLeftovers` or the next start erases them. */
  async function hide(paths: readonly string[]): Promise<void> {
    for (const [name, path] of await hideAll(paths)) leftovers.set(name, path);
  }

  /** Resolves with the temporary name and path of each that existed. */
  async function hideAll(paths: readonly string[]): Promise<ReadonlyMap<string, string>> {
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
    return hidden;
  }

  /** As far as the disk allows; the others are gone. */
  async function bringBack(hidden: ReadonlyMap<string, string>): Promise<void> {
    for (const [name, path] of hidden)
      await unlessMissing(fileSystem.rename(name, path)).catch(() => leftovers.set(name, path));
  }

  /** Removes a temporary name that may exist; a failure leaves it to the next write, erasing or start. */
  async function discard(name: string, path: string): Promise<void> {
    leftovers.set(name, path);
    await removeLeftover(name).catch(() => undefined);
  }

  /** Tried again until not even a power loss would bring it back. */
  async function removeLeftover(name: string): Promise<void> {
    await fileSystem.removeTree(name);
    const syncing = unlessMissing(syncFolder(dirname(name)));
    await syncing.then(
      () => leftovers.delete(name),
      () => undefined,
    );
  }

  /** Erases leftovers of all files. Rejects only for the given path, its copies, a folder above or what is below. */
  async function eraseLeftovers(path?: string): Promise<void> {
    for (const [name, origin] of leftovers) {
      try {
        await removeLeftover(name);
      } catch (error) {
        if (path !== undefined && isOf(path, origin)) throw error;
      }
    }
  }

  /** Finds what an earlier process left of these, until all was looked through. */
  async function findFormerLeftovers({ root, path }: Location): Promise<void> {
    if (isLookedThrough) return;
    for (let folder = path === root ? root : dirname(path); ; folder = dirname(folder)) {
      for (const { name } of (await unlessMissing(fileSystem.readdir(folder))) ?? []) {
        const origin = originOf(folder, name, ownMark);
        if (origin !== undefined && isOf(path, origin)) leftovers.set(join(folder, name), origin);
      }
      if (folder === root) return;
    }
  }

  /** Removes a killed process's leftovers below the folders; resolves with how many there were [S2]. */
  async function removeFormerLeftovers(below: readonly string[], signal: AbortSignal): Promise<number> {
    let removed = 0;
    for (const root of below) removed += await removeFormerBelow(root, signal);
    isLookedThrough = !signal.aborted;
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
        await discard(path, origin);
        if (!leftovers.has(path)) removed += 1;
      } else if (entry.isDirectory()) removed += await removeFormerBelow(path, signal);
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
    copyFile,
    linkOrCopy,
    removeFile,
    hide,
    discard,
    eraseLeftovers,
    findFormerLeftovers,
    removeFormerLeftovers,
  };
}

/** How volumes say that they do not know an operation, or do not let anybody use it. */
const refusals = new Set(['EPERM', 'EACCES', 'EINVAL', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP', 'EXDEV', 'EMLINK']);

function isRefusal(error: unknown): boolean {
  return refusals.has(errorCode(error) ?? '');
}

/** Whether `origin` is the path, its copy, a folder above or below it. */
function isOf(path: string, origin: string): boolean {
  return isWithin(path, origin) || origin.startsWith(path);
}
