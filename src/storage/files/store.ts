import { randomBytes } from 'node:crypto';
import { join, resolve } from 'node:path';

import type { Logger } from '../../core/logger.ts';
import type { LastWrite, SetAside, Store } from '../../core/store.ts';
import type { Clock } from '../../core/time.ts';
import { createCalls } from '../calls.ts';
import { createKeyLocks } from '../key-locks.ts';
import { isWithin } from '../keys.ts';
import { createDisk } from './disk.ts';
import { createDocuments, createQuarantine } from './documents.ts';
import {
  guardChanges,
  isDiskFull,
  nodeFileSystem,
  orStoreError,
  toStoreError,
  unlessMissing,
  type FileSystem,
} from './file-system.ts';
import { createLogs } from './logs.ts';
import { assertFree, takeOwnerLock, waitNotice, type FolderLostError, type OwnerLock } from './owner-lock.ts';
import {
  allRoots,
  assertNoLinks,
  isStray,
  locate,
  locateFolders,
  locateQuarantine,
  rootsIn,
  type FolderOptions,
  type RootFolders,
} from './paths.ts';
import { listFiles, listFolders } from './reading.ts';
import { createSnapshots } from './snapshot.ts';

export interface FileStoreOptions extends FolderOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Takes no lock and changes nothing on disk, so it may open beside the bot; writes reject. Default: false. */
  readonly readOnly?: boolean;
  readonly fileSystem?: FileSystem;
  /** Called for every document that is set aside; must not throw. */
  readonly onSetAside?: ((file: SetAside) => void) | undefined;
  /** Called when the folder may be another bot's by now [S8]: every later change rejects with the same error. */
  readonly onLost?: ((error: FolderLostError) => void) | undefined;
  /** Ends a wait for the folder. */
  readonly signal?: AbortSignal | undefined;
}

export interface FileStore extends Store {
  /** The files that lie in quarantine for a person to look at [S4]. Rejects with `StoreError`. */
  readonly quarantined: () => Promise<readonly string[]>;
  readonly lastWrite: () => LastWrite | undefined;
  /** Removes an earlier process's temporary files. May take long. Rejects with `StoreError`. */
  readonly removeLeftovers: () => Promise<void>;
  /** Fills the folders that wait for a snapshot, which `readSnapshot` reads [O4]. Rejects with `StoreError`. */
  serveSnapshots(): Promise<void>;
  /** Waits for running changes and releases the data folder; later changes reject with `StoreError`. */
  readonly close: () => Promise<void>;
}

/** Bounds the files that are open at once. */
const changesAtOnce = 64;

/**
 * The store in files [S1]: the only writer of its data folder, apart from people who edit documents and text. With a
 * full disk it opens for reading and refuses changes until there is room.
 * @throws {StoreError} where another process owns the folder, or it cannot be written.
 */
export async function createFileStore(options: FileStoreOptions): Promise<FileStore> {
  const { clock, logger, readOnly = false, onSetAside = () => {}, onLost = () => {}, signal } = options;
  const { fileSystem: unguarded = nodeFileSystem } = options;
  let lock: OwnerLock | undefined;
  const fileSystem = guardChanges(unguarded, async () => lock?.assertHeld());
  const disk = createDisk(fileSystem);
  const dataFolder = resolve(options.dataDir);
  const roots = await orStoreError(dataFolder, 'opened', () => findRoots(fileSystem, options));
  const locks = createKeyLocks(changesAtOnce);
  const quarantine = createQuarantine({ fileSystem, disk, roots, clock });
  const pathOf = async (key: string): Promise<string> => {
    const location = locate(roots, key);
    await assertNoLinks(fileSystem, key, location);
    return location.path;
  };
  const parts = { fileSystem, disk, locks, pathOf, quarantine, logger };
  const closing = new AbortController();
  const documents = createDocuments({ ...parts, clock, onSetAside, closing: closing.signal }, readOnly);
  const logs = createLogs(parts, () => lock !== undefined && !closing.signal.aborted);
  const calls = createCalls({ readOnly, toStoreError, beforeChange: owned, clock });
  const snapshots = createSnapshots({ fileSystem, disk, locks, roots, logger });
  const serveSnapshots = () => calls.track('.', 'copied', snapshots.serve);
  const onBeat = (): void => {
    serveSnapshots().catch((error: unknown) => logger.warn('a backup could not be served', { error }));
  };
  const lockMark = randomBytes(4).toString('hex');
  let owning: Promise<void> | undefined;
  if (!readOnly) {
    try {
      await owned();
    } catch (error) {
      if (!isDiskFull(error)) {
        await lock?.release();
        throw error;
      }
      if (lock === undefined) await assertFree(fileSystem, roots.data, lockMark);
      logger.error('disk full: nothing can be saved until there is room', { error });
    }
  }

  /** Resolves when the folders are this process's. After a rejection the next change tries again. */
  function owned(): Promise<void> {
    owning ??= orStoreError(dataFolder, 'opened', own).catch((error: unknown) => {
      owning = undefined;
      throw error;
    });
    return owning;
  }

  async function own(): Promise<void> {
    const isShared = (root: string) => root === roots.workspace && root !== roots.data;
    for (const root of allRoots(roots)) await disk.openRoot(root, isShared(root));
    lock ??= await takeOwnerLock(unguarded, roots.data, {
      onBeat,
      onLost,
      onWait: () => logger.warn(waitNotice, { folder: roots.data }),
      mark: lockMark,
      signal,
    });
    for (const root of allRoots(roots)) await disk.probe(root);
    const lacks = [...disk.lacks];
    if (lacks.length > 0)
      logger.warn('the volume lacks some features; the store works without them', { lacks });
  }

  const folders = {
    list: (folder: string) => listFiles(fileSystem, roots, folder),
    folders: (folder: string, name = '') => listFolders(fileSystem, locate(roots, folder), name),
    async remove(key: string): Promise<void> {
      const path = await pathOf(key);
      await quarantine.eraseCopies(key);
      await disk.removeFile(path);
      logs.forget((log) => log === key);
    },
    async removeAll(prefix: string): Promise<void> {
      const locations = [...locateFolders(roots, prefix), locateQuarantine(roots, prefix)];
      for (const location of locations) await assertNoLinks(fileSystem, prefix, location);
      for (const { root, path } of locations) {
        // A root folder itself stays, with the hidden files that its owner's tools keep there.
        const paths = path === root ? await contentsOf(root) : [path];
        for (const each of paths) await disk.removeTree(each);
      }
      logs.forget((log) => isWithin(log, prefix));
    },
  };

  async function contentsOf(folder: string): Promise<readonly string[]> {
    const entries = (await unlessMissing(fileSystem.readdir(folder))) ?? [];
    const names = entries.map(({ name }) => name).filter((name) => isStray(name) || !name.startsWith('.'));
    return names.map((name) => join(folder, name));
  }

  async function removeLeftovers(): Promise<void> {
    await owned();
    await snapshots.serveFirst();
    let removed = 0;
    for (const root of allRoots(roots)) removed += await disk.removeStrays(root, closing.signal);
    await quarantine.removeOld();
    if (removed > 0) logger.info('temporary files of an earlier run removed', { removed });
  }

  return {
    ...calls.guarded({ ...documents, ...logs, ...folders }, locks),
    quarantined: () => orStoreError('quarantine', 'listed', () => quarantine.list()),
    lastWrite: calls.lastWrite,
    serveSnapshots,
    removeLeftovers: () => calls.track('.', 'cleaned', removeLeftovers),
    async close() {
      closing.abort();
      await calls.close();
      await lock?.release();
    },
  };
}

/** Under their real paths where they exist. */
export async function findRoots(fileSystem: FileSystem, options: FolderOptions): Promise<RootFolders> {
  const realOf = async (path: string): Promise<string> =>
    (await unlessMissing(fileSystem.realpath(path))) ?? path;
  const { data, workspace, moved } = rootsIn(options);
  return {
    data: await realOf(data),
    workspace: await realOf(workspace),
    moved: await Promise.all(moved.map(async ({ root, keys }) => ({ root: await realOf(root), keys }))),
  };
}
