import { join, resolve } from 'node:path';
import { StoreError } from '../../core/errors.ts';
import type { Logger } from '../../core/logger.ts';
import type { Store } from '../../core/store.ts';
import type { Clock } from '../../core/time.ts';
import { createDisk, type Disk } from './disk.ts';
import { createDocuments } from './documents.ts';
import { nodeFileSystem, orStoreError, toStoreError, unlessMissing, type FileSystem } from './file-system.ts';
import { createKeyLocks } from './key-locks.ts';
import { createLogs } from './logs.ts';
import { takeOwnerLock } from './owner-lock.ts';
import {
  allRoots,
  assertKey,
  assertNoLinks,
  isWithin,
  locate,
  locateFolders,
  locateQuarantine,
  type RootFolders,
} from './paths.ts';
import { createQuarantine } from './quarantine.ts';
import { listFiles, listFolders } from './reading.ts';

export interface FileStoreOptions {
  readonly dataDir: string;
  /** The bot owner's folder: keys below `workspace/`. */
  readonly workspaceDir: string;
  /** Where a layer's files lie instead of in `dataDir`, under the same names. */
  readonly durableDir?: string | undefined;
  readonly summaryDir?: string | undefined;
  readonly shortTermDir?: string | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Takes no lock and changes nothing on disk, so it may open beside the bot; writes reject. Default: false. */
  readonly readOnly?: boolean;
  readonly fileSystem?: FileSystem;
}

export interface FileStore extends Store {
  /** How many files lie in quarantine for a person to look at [S4]. Rejects with `StoreError`. */
  quarantined(): Promise<number>;
  /**
   * Removes what a process before this one left under temporary names, however much there is to look through: nothing waits for it, since no key
   * leads there. Rejects with `StoreError`.
   */
  removeLeftovers(): Promise<void>;
  /** Waits for running changes and lets go of the data folder; later changes reject with `StoreError`. */
  close(): Promise<void>;
}

/**
 * The store in files [S1]. It is the only writer of its data folder, apart from people who edit documents and text.
 * @throws {StoreError} where another process owns the folder, or it cannot be written.
 */
export async function createFileStore(options: FileStoreOptions): Promise<FileStore> {
  const { clock, logger, readOnly = false, fileSystem = nodeFileSystem } = options;
  const disk = createDisk(fileSystem);
  const roots = await orStoreError('.', 'opened', () => openRoots(fileSystem, disk, options));
  const lock = readOnly
    ? undefined
    : await orStoreError('.', 'locked', () => takeOwnerLock(fileSystem, roots.data));
  const locks = createKeyLocks();
  const quarantine = createQuarantine({ fileSystem, disk, roots, clock });
  const pathOf = async (key: string): Promise<string> => {
    const location = locate(roots, key);
    await assertNoLinks(fileSystem, key, location);
    return location.path;
  };
  const parts = { fileSystem, disk, locks, pathOf, quarantine, logger };
  const documents = createDocuments(parts, readOnly);
  const logs = createLogs(parts);
  const running = new Set<Promise<unknown>>();
  const closing = new AbortController();

  async function run<T>(key: string, action: string, work: () => Promise<T>): Promise<T> {
    assertKey(key);
    return tracked(orStoreError(key, action, work));
  }

  async function tracked<T>(job: Promise<T>): Promise<T> {
    running.add(job);
    try {
      return await job;
    } finally {
      running.delete(job);
    }
  }

  async function change<T>(key: string, action: string, work: () => Promise<T>): Promise<T> {
    assertKey(key);
    if (readOnly) throw new StoreError(`${key} was not ${action}: the store is open for reading only`, key);
    if (closing.signal.aborted) throw new StoreError(`${key} was not ${action}: the store is closed`, key);
    return run(key, action, work);
  }

  async function removeFile(key: string): Promise<void> {
    const path = await pathOf(key);
    await quarantine.eraseCopies(key, path);
    await disk.removeFile(path);
    logs.states.forget((log) => log === key);
  }

  async function removeFolder(prefix: string): Promise<void> {
    const locations = [...locateFolders(roots, prefix), locateQuarantine(roots, prefix)];
    for (const location of locations) await assertNoLinks(fileSystem, prefix, location);
    for (const location of locations) await disk.eraseFormerLeftovers(location);
    const paths: string[] = [];
    for (const { root, path } of locations) {
      // A root folder itself stays, with the hidden files that its owner's tools keep there.
      if (path === root) paths.push(...(await visibleIn(root)));
      else paths.push(path);
    }
    await disk.hide(paths);
    logs.states.forget((log) => isWithin(log, prefix));
    for (const { path } of locations) await disk.eraseLeftovers(path);
  }

  async function visibleIn(folder: string): Promise<readonly string[]> {
    const entries = (await unlessMissing(fileSystem.readdir(folder))) ?? [];
    return entries.filter(({ name }) => !name.startsWith('.')).map(({ name }) => join(folder, name));
  }

  async function removeLeftovers(): Promise<void> {
    const removed = await disk.removeFormerLeftovers(allRoots(roots), closing.signal);
    if (removed > 0) logger.info('temporary files of an earlier run removed', { removed });
  }

  return {
    read: (key, kind) => run(key, 'read', () => documents.read(key, kind)),
    update: (key, kind, make, how) => change(key, 'stored', () => documents.update(key, kind, make, how)),
    append: (log, record) => change(log, 'appended to', () => logs.append(log, record)),
    async *scan(log, schema, { after = 0 } = {}) {
      assertKey(log);
      try {
        yield* logs.scan(log, schema, after);
      } catch (error) {
        throw toStoreError(log, 'read', error);
      }
    },
    lastSequence: (log) => run(log, 'read', () => logs.lastSequence(log)),
    rewrite: (log, schema, make) => change(log, 'rewritten', () => logs.rewrite(log, schema, make)),
    readText: (key) => run(key, 'read', () => documents.readText(key)),
    writeText: (key, text, how) => change(key, 'written', () => documents.writeText(key, text, how)),
    list: (folder) => run(folder, 'listed', () => listFiles(fileSystem, roots, folder)),
    folders: (folder, name = '') =>
      run(folder, 'listed', () => listFolders(fileSystem, locate(roots, folder), name)),
    remove: (key) => change(key, 'removed', () => locks.run(key, () => removeFile(key))),
    removeAll: (prefix) =>
      change(prefix, 'removed', () => locks.runAlone(prefix, () => removeFolder(prefix))),
    quarantined: () => orStoreError('quarantine', 'listed', () => quarantine.count()),
    removeLeftovers: () => tracked(orStoreError('.', 'cleaned', removeLeftovers)),
    async close() {
      closing.abort();
      while (running.size > 0) await Promise.allSettled(running);
      await lock?.release();
    },
  };
}

/** The root folders, made where they are missing, under their real paths. */
async function openRoots(
  fileSystem: FileSystem,
  disk: Disk,
  options: FileStoreOptions,
): Promise<RootFolders> {
  async function open(path: string, isOwnersOwn = false): Promise<string> {
    const root = resolve(path);
    if (options.readOnly === true) return (await unlessMissing(fileSystem.realpath(root))) ?? root;
    await disk.ensureFolder(root);
    const real = await fileSystem.realpath(root);
    // A folder of an earlier installation may be open to everybody [S6]; one of another user's cannot be changed.
    if (!isOwnersOwn) await fileSystem.chmod(real, 0o700).catch(() => undefined);
    return real;
  }
  const { dataDir, workspaceDir, durableDir, summaryDir, shortTermDir } = options;
  return {
    data: await open(dataDir),
    workspace: await open(workspaceDir, true),
    durable: durableDir === undefined ? undefined : await open(durableDir),
    summary: summaryDir === undefined ? undefined : await open(summaryDir),
    shortTerm: shortTermDir === undefined ? undefined : await open(shortTermDir),
  };
}
