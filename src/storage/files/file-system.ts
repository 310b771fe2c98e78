import { execFile } from 'node:child_process';
import { constants, lstatSync, type Dirent } from 'node:fs';
import * as fs from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

import writeFileAtomic from 'write-file-atomic';

import { StoreError } from '../../core/errors.ts';

/** Positions and lengths in bytes. */
export type OpenFile = Awaited<ReturnType<typeof open>>;

/** Tests can let any operation fail. They reject as node:fs does. */
export type FileSystem = typeof nodeFileSystem;

/** Nobody waits for the closing: what had to be on disk was synced before. */
export async function withFile<T>(
  opening: Promise<OpenFile>,
  work: (file: OpenFile) => Promise<T>,
): Promise<T> {
  const file = await opening;
  try {
    return await work(file);
  } finally {
    closeQuietly(file);
  }
}

/** Fewer only where the file ends. */
export async function readBytes(file: OpenFile, position: number, length: number): Promise<Buffer> {
  const bytes = Buffer.alloc(length);
  let filled = 0;
  while (filled < length) {
    const count = await file.read(bytes.subarray(filled), position + filled);
    if (count === 0) break;
    filled += count;
  }
  return bytes.subarray(0, filled);
}

/** Writes all of it, or rejects: a disk that fills up takes a part. */
export async function writeWhole(
  file: OpenFile,
  key: string,
  bytes: Buffer,
  position: number,
): Promise<void> {
  let written = 0;
  while (written < bytes.length) {
    const count = await file.write(bytes.subarray(written), position + written);
    if (count === 0) {
      const cause = Object.assign(new Error('The disk wrote nothing'), { code: 'ENOSPC' });
      throw new StoreError(`${key} could not be written: disk full`, key, { cause });
    }
    written += count;
  }
}

export function closeQuietly(file: OpenFile): void {
  file.close().catch(() => undefined);
}

/** The longest that people may wait for a sync. */
const syncMs = 10_000;

async function open(path: string, flags: number, mode?: number) {
  const handle = await fs.open(path, flags, mode);
  return {
    stat: () => handle.stat({ bigint: true }),
    /** Resolves with 0 at the end. */
    read: async (buffer: Uint8Array, position: number) =>
      (await handle.read(buffer, 0, buffer.length, position)).bytesRead,
    /** Fewer bytes than given when the disk fills up. */
    write: async (bytes: Uint8Array, position: number) =>
      (await handle.write(bytes, 0, bytes.length, position)).bytesWritten,
    truncate: (length: number) => handle.truncate(length),
    datasync: () => handle.datasync(),
    sync: () => handle.sync(),
    close: () => handle.close(),
  };
}

export const nodeFileSystem = {
  open,
  /**
   * All of it or nothing, at a path where nothing stands; without a sync a power loss may leave a part. A disk that
   * fills up may take a part and say nothing: the caller looks at the size.
   */
  writeAtomic: (path: string, bytes: Buffer, isSynced: boolean) =>
    writeFileAtomic(path, bytes, { fsync: isSynced }),
  // Called most by far, and a tenth of the price of going through libuv's threads.
  lstat: async (path: string) => lstatSync(path, { bigint: true }),
  realpath: (path: string) => fs.realpath(path),
  readdir: (path: string): Promise<readonly Dirent[]> => fs.readdir(path, { withFileTypes: true }),
  /** Makes missing parents too; resolves with the first folder made. */
  mkdir: (path: string, mode: number) => fs.mkdir(path, { recursive: true, mode }),
  chmod: (path: string, mode: number) => fs.chmod(path, mode),
  /** Sets the modification time. */
  touch: (path: string, time: Date) => fs.utimes(path, time, time),
  rename: (from: string, to: string) => fs.rename(from, to),
  unlink: (path: string) => fs.unlink(path),
  removeTree: (path: string) => fs.rm(path, { recursive: true, force: true }),
  /** Syncs all that any process wrote to a folder's file system, if the system can: coreutils' `sync -f` may be missing. */
  async syncAll(folder: string): Promise<void> {
    if (process.platform !== 'linux') return;
    await promisify(execFile)('sync', ['-f', folder], { timeout: syncMs }).catch(() => undefined);
  },
};

const writingFlags = [constants.O_WRONLY, constants.O_RDWR, constants.O_CREAT];

/** The same file system, which changes nothing where `mayChange` rejects at that moment. */
export function guardChanges(fileSystem: FileSystem, mayChange: () => Promise<void>): FileSystem {
  const guard =
    <Values extends readonly unknown[], T>(change: (...values: Values) => Promise<T>) =>
    async (...values: Values): Promise<T> => {
      await mayChange();
      return change(...values);
    };
  const { open: openAny } = fileSystem;
  const openGuarded = guard(openAny);
  return {
    ...fileSystem,
    open: (path, flags, mode) =>
      // oxlint-disable-next-line no-bitwise -- how the system combines them
      (writingFlags.some((flag) => (flags & flag) !== 0) ? openGuarded : openAny)(path, flags, mode),
    writeAtomic: guard(fileSystem.writeAtomic),
    mkdir: guard(fileSystem.mkdir),
    rename: guard(fileSystem.rename),
    unlink: guard(fileSystem.unlink),
    removeTree: guard(fileSystem.removeTree),
  };
}

/** Such as `ENOENT`; only the operating system's. */
export function errorCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return undefined;
  return /^E[A-Z0-9]+$/.test(error.code) ? error.code : undefined;
}

/** The disk, or this user's quota, is full. */
export function isDiskFull(error: unknown): boolean {
  const code = errorCode(error instanceof StoreError ? error.cause : error);
  return code === 'ENOSPC' || code === 'EDQUOT';
}

/** Resolves with `undefined` where `work` finds nothing at its path. */
export async function unlessMissing<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(errorCode(error) ?? '')) return undefined;
    throw error;
  }
}

/** Paths of files, folder after folder, without those that are left out. */
export async function* filesBelow(
  fileSystem: FileSystem,
  folder: string,
  isLeftOut: (name: string, path: string) => boolean = () => false,
): AsyncGenerator<string> {
  for (const entry of (await unlessMissing(fileSystem.readdir(folder))) ?? []) {
    const path = join(folder, entry.name);
    if (isLeftOut(entry.name, path)) continue;
    if (entry.isDirectory()) yield* filesBelow(fileSystem, path, isLeftOut);
    else if (entry.isFile()) yield path;
  }
}

/** A failure of the file system becomes a `StoreError` for `key`; other errors pass. */
export async function orStoreError<T>(key: string, action: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw toStoreError(key, action, error);
  }
}

export function toStoreError(key: string, action: string, error: unknown): unknown {
  const code = errorCode(error);
  if (error instanceof StoreError || code === undefined) return error;
  return new StoreError(`${key} could not be ${action} (${code})`, key, { cause: error });
}
