import { join, resolve } from 'node:path';

import { StoreError } from '../../core/errors.ts';
import type { Logger } from '../../core/logger.ts';
import type { DocumentKind, Erasing, SetAside, Store, Versioned } from '../../core/store.ts';
import type { Clock } from '../../core/time.ts';
import { createKeyLocks } from '../key-locks.ts';
import { assertKey, isWithin } from '../keys.ts';
import { createDisk, type Disk } from './disk.ts';
import { createDocuments } from './documents.ts';
import { nodeFileSystem, orStoreError, toStoreError, unlessMissing, type FileSystem } from './file-system.ts';
import type { JournalRecord } from './journal-lines.ts';
import { createJournal } from './journal.ts';
import { createLogs } from './logs.ts';
import { takeOwnerLock } from './owner-lock.ts';
import { allRoots, createWays, locate, locateFolders, locateQuarantine, type RootFolders } from './paths.ts';
import { createQuarantine } from './quarantine.ts';
import { listFiles, listFolders } from './reading.ts';
import { createSnapshots } from './snapshot.ts';
import { createWriteBehind } from './write-behind.ts';

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
  /** Is told of every document that is set aside, those of the opening included; must not throw. Default: nobody is. */
  readonly onSetAside?: ((file: SetAside) => void) | undefined;
  /** How long a file that keeps changing, and cannot be read, is waited for; milliseconds. Default: 5,000. */
  readonly longestEditMs?: number;
  /** Lines of a block of a log. Default: 1024. */
  readonly blockLines?: number;
}

export interface FileStore extends Store {
  /** How many files lie in quarantine for a person to look at [S4]. Rejects with `StoreError`. */
  quarantined(): Promise<number>;
  /** Why a document would go to quarantine when it is used next; `undefined` where it is in order. Changes nothing. Rejects with `StoreError`. */
  damage<T extends Versioned>(key: string, kind: DocumentKind<T>): Promise<string | undefined>;
  /** How many lines of a log are passed over, because they are damaged. Changes nothing. Rejects with `StoreError`. */
  damagedLines(log: string): Promise<number>;
  /**
   * Removes what a process before this one left under temporary names, however much there is to look through: nothing waits for it, since no key
   * leads there. Rejects with `StoreError`.
   */
  removeLeftovers(): Promise<void>;
  /** Resolves when the files have all that was acknowledged until now; until then reads tell it, and it survives all the same. Rejects where one cannot be written. */
  written(): Promise<void>;
  /** Puts a copy of all files, as they are at one moment, into an empty folder of the data folder, which `readSnapshot` reads [O4]. Rejects with `StoreError`. */
  snapshot(folder: string): Promise<void>;
  /** Waits for running changes and lets go of the data folder; later changes reject with `StoreError`. */
  close(): Promise<void>;
}

/** Bounds the files that are open at once. */
const changesAtOnce = 64;

/**
 * The store in files [S1]. It is the only writer of its data folder, apart from people who edit documents and text.
 * @throws {StoreError} where another process owns the folder, or it cannot be written.
 */
export async function createFileStore(options: FileStoreOptions): Promise<FileStore> {
  const { clock, logger, readOnly = false, fileSystem = nodeFileSystem, blockLines = 1024 } = options;
  const { onSetAside = () => undefined, longestEditMs = 5000 } = options;
  const disk = createDisk(fileSystem);
  const dataFolder = resolve(options.dataDir);
  const roots = await orStoreError(dataFolder, 'opened', () => openRoots(fileSystem, disk, options));
  const lock = readOnly
    ? undefined
    : await orStoreError(dataFolder, 'locked', () =>
        takeOwnerLock(fileSystem, roots.data, () => void tracked('.', 'copied', () => snapshots.serve())),
      );
  const locks = createKeyLocks(changesAtOnce);
  const quarantine = createQuarantine({ fileSystem, disk, roots, clock });
  const ways = createWays(disk.glance);
  const pathOf = (key: string): string | Promise<string> => {
    const location = locate(roots, key);
    return ways.assertNoLinks(key, location)?.then(() => location.path) ?? location.path;
  };
  const journal = createJournal({ fileSystem, disk, folder: roots.data });
  const behind = createWriteBehind({
    journal,
    disk,
    locks,
    pathOf: (key) => locate(roots, key).path,
    logger,
  });
  const parts = { fileSystem, disk, journal, behind, locks, pathOf, quarantine, logger };
  const documents = createDocuments({ ...parts, clock, onSetAside, longestEditMs }, readOnly);
  const logs = createLogs(parts, { readOnly, blockLines });
  let running = 0;
  const waitingForRest: (() => void)[] = [];
  const closing = new AbortController();
  const snapshots = createSnapshots({
    fileSystem,
    disk,
    roots,
    async alone(work) {
      await behind.written();
      await locks.runAlone('', async () => {
        await behind.writeAlone();
        await work();
      });
    },
    logger,
  });
  if (!readOnly) {
    try {
      await orStoreError(dataFolder, 'opened', restore);
    } catch (error) {
      await lock?.release();
      throw error;
    }
  }

  /** Carries out what the journal of an earlier process holds. */
  async function restore(): Promise<void> {
    const records = new Map<string, JournalRecord[]>();
    for (const record of await journal.read()) {
      const { kind, key } = record;
      if (kind === 'settled') records.delete(key);
      else if (records.get(key)?.push(record) === undefined) records.set(key, [record]);
    }
    for (const [key, ofKey] of records) {
      const isLog = ofKey.some(({ kind }) => kind === 'lines');
      await orStoreError(key, 'restored', async () => {
        await (isLog ? logs : documents).restore(key, ofKey);
        await disk.deferFormer(locate(roots, key));
      });
    }
    await disk.sync();
    await journal.removeFormer();
  }

  function run<T>(key: string, action: string, work: () => Promise<T>): Promise<T> {
    return tracked(key, action, () => {
      assertKey(key);
      return work();
    });
  }

  async function tracked<T>(key: string, action: string, work: () => Promise<T>): Promise<T> {
    running += 1;
    try {
      return await work();
    } catch (error) {
      throw toStoreError(key, action, error);
    } finally {
      running -= 1;
      if (running === 0) for (const wake of waitingForRest.splice(0)) wake();
    }
  }

  function change<T>(key: string, action: string, work: () => Promise<T>): Promise<T> {
    return run(key, action, () => {
      if (readOnly) throw new StoreError(`${key} was not ${action}: the store is open for reading only`, key);
      if (closing.signal.aborted) throw new StoreError(`${key} was not ${action}: the store is closed`, key);
      return work();
    });
  }

  /** When one thing is erased, so is what was to be erased a moment later: nobody is told that something is gone which still stands elsewhere. */
  async function erasing<T>(work: Promise<T>, isErasing: () => boolean = () => true): Promise<T> {
    const result = await work;
    if (isErasing()) await behind.eraseOwed();
    return result;
  }

  async function removeFile(key: string): Promise<void> {
    const path = await pathOf(key);
    await behind.settle(key);
    await quarantine.eraseCopies(key, path);
    await logs.eraseKept(path);
    await disk.removeFile(path);
    logs.forget((log) => log === key);
  }

  async function removeFolder(prefix: string): Promise<void> {
    const locations = [...locateFolders(roots, prefix), locateQuarantine(roots, prefix)];
    for (const location of locations) await ways.assertNoLinks(prefix, location);
    await behind.settleBelow(prefix);
    for (const location of locations) await disk.eraseFormerLeftovers(location);
    const paths: string[] = [];
    for (const { root, path } of locations) {
      // A root folder itself stays, with the hidden files that its owner's tools keep there.
      if (path === root) paths.push(...(await visibleIn(root)));
      else paths.push(path);
    }
    await disk.hide(paths);
    ways.forget();
    logs.forget((log) => isWithin(log, prefix));
    for (const { path } of locations) await disk.eraseLeftovers(path);
  }

  async function visibleIn(folder: string): Promise<readonly string[]> {
    const entries = (await unlessMissing(fileSystem.readdir(folder))) ?? [];
    return entries.filter(({ name }) => !name.startsWith('.')).map(({ name }) => join(folder, name));
  }

  async function removeLeftovers(): Promise<void> {
    await snapshots.removeFormer();
    const removed = await disk.removeFormerLeftovers(allRoots(roots), closing.signal);
    if (removed > 0) logger.info('temporary files of an earlier run removed', { removed });
  }

  return {
    isShared: false,
    read: (key, kind) => run(key, 'read', () => documents.read(key, kind)),
    update: (key, kind, make, { isLazy = false, erase = false } = {}) =>
      change(key, 'stored', () => {
        let erases: Erasing = false;
        const ask = () => (erases = typeof erase === 'function' ? erase() : erase);
        return erasing(documents.update(key, kind, make, { isLazy, erase: ask }), () => erases === true);
      }),
    append: (log, record, how) => change(log, 'appended to', () => logs.append(log, record, how)),
    scan: (log, schema, { after = 0 } = {}) => reading(log, logs.scan(log, schema, after)),
    blocks: (log, schema) => reading(log, logs.blocks(log, schema)),
    lastSequence: (log) => run(log, 'read', async () => (await logs.logState(log)).last),
    logState: (log) => run(log, 'read', () => logs.logState(log)),
    rewrite: (log, schema, make, { isLazy = false } = {}) =>
      change(log, 'rewritten', async () => {
        const work = () => logs.rewrite(log, schema, make);
        if (!isLazy) return erasing(work());
        behind.oweErasure(log, work);
        return undefined;
      }),
    readText: (key) => run(key, 'read', () => documents.readText(key)),
    writeText: (key, text, { erase = false } = {}) =>
      change(key, 'written', () => erasing(documents.writeText(key, text, { erase }), () => erase)),
    list: (folder) =>
      run(folder, 'listed', async () => {
        await behind.writeUnlisted(folder);
        return listFiles({ fileSystem, disk, ways }, roots, folder);
      }),
    folders: (folder, name = '') =>
      run(folder, 'listed', async () => {
        await behind.writeUnlisted(folder);
        return listFolders({ fileSystem, disk, ways }, locate(roots, folder), name);
      }),
    remove: (key) => change(key, 'removed', () => erasing(locks.run(key, () => removeFile(key)))),
    removeAll: (prefix) =>
      change(prefix, 'removed', () => erasing(locks.runAlone(prefix, () => removeFolder(prefix)))),
    damage: (key, kind) => run(key, 'read', () => documents.damage(key, kind)),
    damagedLines: (log) => run(log, 'read', () => logs.damagedLines(log)),
    quarantined: () => orStoreError('quarantine', 'listed', () => quarantine.count()),
    written: () => tracked('.', 'written', () => behind.written()),
    snapshot: (folder) => tracked('.', 'copied', () => snapshots.take(folder)),
    removeLeftovers: () => tracked('.', 'cleaned', removeLeftovers),
    async close() {
      closing.abort();
      // Nothing that changes anything begins any more.
      if (running > 0) await new Promise<void>((wake) => waitingForRest.push(wake));
      if (!readOnly) await behind.close();
      await lock?.release();
    },
  };
}

async function* reading<T>(log: string, found: AsyncIterable<T>): AsyncGenerator<T> {
  assertKey(log);
  try {
    yield* found;
  } catch (error) {
    throw toStoreError(log, 'read', error);
  }
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
    disk.addRoot(real);
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
