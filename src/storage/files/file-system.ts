import type { BigIntStats, Dirent } from 'node:fs';
import * as fs from 'node:fs/promises';
import writeFileAtomic from 'write-file-atomic';

/** An open file; positions and lengths in bytes. */
export interface OpenFile {
  stat(): Promise<BigIntStats>;
  /** Bytes read, 0 at the end. */
  read(buffer: Uint8Array, position: number): Promise<number>;
  /** Bytes written; fewer than given when the disk fills up. */
  write(bytes: Uint8Array, position: number): Promise<number>;
  truncate(length: number): Promise<void>;
  datasync(): Promise<void>;
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** The file operations that the store uses, so that a test can let any of them fail. They reject as node:fs does. */
export interface FileSystem {
  open(path: string, flags: number, mode?: number): Promise<OpenFile>;
  lstat(path: string): Promise<BigIntStats>;
  realpath(path: string): Promise<string>;
  readdir(path: string): Promise<readonly Dirent[]>;
  /** Makes missing parents too; resolves with the first folder that had to be made. */
  mkdir(path: string, mode: number): Promise<string | undefined>;
  chmod(path: string, mode: number): Promise<void>;
  /** Sets the modification time to now. */
  touch(path: string): Promise<void>;
  link(from: string, to: string): Promise<void>;
  copyFile(from: string, to: string): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  unlink(path: string): Promise<void>;
  removeTree(path: string): Promise<void>;
  writeFileAtomic(path: string, data: Buffer, options: AtomicWriteOptions): Promise<void>;
}

export interface AtomicWriteOptions {
  readonly mode: number;
  readonly owner?: { readonly uid: number; readonly gid: number };
}

/**
 * Opens a file, does the work, and closes it. A failure to close is no failure of the work: what was read is read, and what
 * must be on disk was synced before.
 */
export async function withFile<T>(
  opening: Promise<OpenFile>,
  work: (file: OpenFile) => Promise<T>,
): Promise<T> {
  const file = await opening;
  try {
    return await work(file);
  } finally {
    await closeQuietly(file);
  }
}

export async function closeQuietly(file: OpenFile): Promise<void> {
  await file.close().catch(() => undefined);
}

export const nodeFileSystem: FileSystem = {
  async open(path, flags, mode) {
    const handle = await fs.open(path, flags, mode);
    return {
      stat: () => handle.stat({ bigint: true }),
      read: async (buffer, position) => (await handle.read(buffer, 0, buffer.length, position)).bytesRead,
      write: async (bytes, position) => (await handle.write(bytes, 0, bytes.length, position)).bytesWritten,
      truncate: (length) => handle.truncate(length),
      datasync: () => handle.datasync(),
      sync: () => handle.sync(),
      close: () => handle.close(),
    };
  },
  lstat: (path) => fs.lstat(path, { bigint: true }),
  realpath: (path) => fs.realpath(path),
  readdir: (path) => fs.readdir(path, { withFileTypes: true }),
  mkdir: (path, mode) => fs.mkdir(path, { recursive: true, mode }),
  chmod: (path, mode) => fs.chmod(path, mode),
  touch: async (path) => {
    const now = new Date();
    await fs.utimes(path, now, now);
  },
  link: (from, to) => fs.link(from, to),
  copyFile: (from, to) => fs.copyFile(from, to),
  rename: (from, to) => fs.rename(from, to),
  unlink: (path) => fs.unlink(path),
  removeTree: (path) => fs.rm(path, { recursive: true, force: true }),
  // The library writes into the options that it is given, hence a fresh object for each call.
  writeFileAtomic: (path, data, { mode, owner }) =>
    writeFileAtomic(path, data, owner === undefined ? { mode } : { mode, chown: { ...owner } }),
};
