import { resolve } from 'node:path';
import type { Clock } from '../../core/clock.ts';
import { StoreError } from '../../core/errors.ts';
import type { Logger } from '../../core/logger.ts';
import type { Store } from '../../core/store.ts';
import { createDocuments } from './documents.ts';
import { orStoreError, unlessMissing } from './file-error.ts';
import { createFileReader } from './file-reader.ts';
import type { FileSystem } from './file-system.ts';
import { nodeFileSystem } from './file-system.ts';
import { listFiles, removeFolder } from './folder-files.ts';
import type { Folders } from './folders.ts';
import { createFolders } from './folders.ts';
import { createKeyLocks } from './key-locks.ts';
import { assertKey, isWithin } from './keys.ts';
import { assertNoLinks } from './links.ts';
import { createLogAppend } from './log-append.ts';
import { createLogStates } from './log-state.ts';
import { createLogs } from './logs.ts';
import { takeOwnerLock } from './owner-lock.ts';
import { createQuarantine } from './quarantine.ts';
import type { RootFolders } from './roots.ts';
import { allRoots, locate, locateFolders, locateQuarantine } from './roots.ts';
import { removeTemporaryFiles } from './temporary-files.ts';
import { createTextFiles } from './text-files.ts';

export interface FileStoreOptions {
  readonly dataDir: string;
  /** The bot owner's folder: keys below `workspace/`. */
  readonly workspaceDir: string;
  /** Where a layer's files lie instead of in `dataDir`, under the same names. */
  readonly durableDir?: string;
  readonly summaryDir?: string;
  readonly shortTermDir?: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Takes no lock and changes nothing on disk, so it may open beside the bot; writes reject. Default: false. */
  readonly readOnly?: boolean;
  readonly fileSystem?: FileSystem;
}

export interface FileStore extends Store {
  /** Waits for running changes and lets go of the data folder; later changes reject with `StoreError`. */
  close(): Promise<void>;
}

/**
 * The store in files [S1]. It is the only writer of its data folder, apart from people who edit documents and text.
 * @throws {StoreError} where another process owns the folder, or it cannot be written.
 */
export async function createFileStore(options: FileStoreOptions): Promise<FileStore> {
  const { clock, logger, readOnly = false, fileSystem = nodeFileSystem } = options;
  const folders = createFolders(fileSystem);
  const roots = await orStoreError('.', 'opened', () => openRoots(fileSystem, folders, options));
  const lock = readOnly
    ? undefined
    : await orStoreError('.', 'locked', () => takeOwnerLock(fileSystem, roots.data));
  try {
    if (!readOnly) await orStoreError('.', 'cleaned', () => clean(fileSystem, roots, logger));
  } catch (error) {
    await lock?.release();
    throw error;
  }
  const locks = createKeyLocks();
  const files = createFileReader(fileSystem);
  const quarantine = createQuarantine({ fileSystem, folders, roots, clock });
  const documents = createDocuments({ fileSystem, folders, files, locks, quarantine, logger, readOnly });
  const texts = createTextFiles({ fileSystem, folders, files, locks });
  const states = createLogStates();
  const append = createLogAppend({ fileSystem, folders, locks, states });
  const logs = createLogs({ fileSystem, folders, locks, states, logger });
  const running = new Set<Promise<unknown>>();
  let isClosed = false;

  async function open(key: string): Promise<string> {
    const location = locate(roots, assertKey(key));
    await assertNoLinks(fileSystem, key, location);
    return location.path;
  }

  async function read<T>(key: string, work: (path: string) => Promise<T>): Promise<T> {
    const reading = orStoreError(key, 'read', async () => work(await open(key)));
    running.add(reading);
    return reading.finally(() => running.delete(reading));
  }

  async function change<T>(key: string, action: string, work: (path: string) => Promise<T>): Promise<T> {
    if (readOnly || isClosed) {
      assertKey(key);
      throw new StoreError(
        `${key} was not ${action}: the store is ${readOnly ? 'open for reading only' : 'closed'}`,
        key,
      );
    }
    const changing = orStoreError(key, action, async () => work(await open(key)));
    running.add(changing);
    return changing.finally(() => running.delete(changing));
  }

  return {
    read: (key, kind) => read(key, (path) => documents.read(key, path, kind)),
    update: (key, kind, make) => change(key, 'stored', (path) => documents.update(key, path, kind, make)),
    append: (log, record) => change(log, 'appended to', (path) => append(log, path, record)),
    async *scan(log, schema, { after = 0 } = {}) {
      const path = await read(log, (found) => Promise.resolve(found));
      yield* logs.scan(log, path, schema, after);
    },
    lastSequence: (log) => read(log, (path) => logs.lastSequence(log, path)),
    rewrite: (log, schema, make) => change(log, 'rewritten', (path) => logs.rewrite(log, path, schema, make)),
    readText: (key) => read(key, (path) => texts.read(key, path)),
    writeText: (key, text) => change(key, 'written', (path) => texts.write(key, path, text)),
    list: (folder) => read(folder, () => listFiles(fileSystem, roots, folder)),
    remove: (key) =>
      change(key, 'removed', (path) => texts.remove(key, path, () => states.forget((log) => log === key))),
    removeAll: (prefix) =>
      change(prefix, 'removed', () =>
        locks.runAlone(prefix, async () => {
          for (const location of [...locateFolders(roots, prefix), locateQuarantine(roots, prefix)]) {
            await assertNoLinks(fileSystem, prefix, location);
            await removeFolder(fileSystem, folders, location);
          }
          states.forget((log) => isWithin(log, prefix));
        }),
      ),
    async close() {
      isClosed = true;
      while (running.size > 0) await Promise.allSettled(running);
      await lock?.release();
    },
  };
}

/** The root folders, made where they are missing, under their real paths. */
async function openRoots(
  fileSystem: FileSystem,
  folders: Folders,
  options: FileStoreOptions,
): Promise<RootFolders> {
  async function open(path: string, isOwnersOwn = false): Promise<string> {
    const root = resolve(path);
    if (options.readOnly === true) return (await unlessMissing(fileSystem.realpath(root))) ?? root;
    await folders.ensure(root);
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

async function clean(fileSystem: FileSystem, roots: RootFolders, logger: Logger): Promise<void> {
  let removed = 0;
  for (const root of allRoots(roots)) removed += await removeTemporaryFiles(fileSystem, root);
  if (removed > 0) logger.info('temporary files of an earlier run removed', { removed });
}
