import { constants, type BigIntStats, type Dirent } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';

import type { FileSystem, OpenFile } from '../../../src/storage/files/file-system.ts';
import { diskError } from './observed-file-system.ts';

const sectorBytes = 512;

/** A change of a file's content that no sync has brought on the disk. */
interface UnsyncedWrite {
  readonly position: number;
  /** Absent: the file was cut there, or made longer. */
  readonly bytes?: Buffer;
}

interface Inode {
  readonly number: bigint;
  readonly isFolder: boolean;
  content: Buffer;
  onDisk: Buffer;
  unsynced: UnsyncedWrite[];
  changedAt: bigint;
}

type Names = Map<string, Inode>;

/** Between 0 and 1, the next one with every call. */
export type Chance = () => number;

/**
 * A disk in memory that can lose its power: what was not synced is then there, or not, or in part, file by file and folder by folder, as on real disks.
 * A file's writes may come on disk in any order and torn; the changes to a folder's names in the order in which they were made.
 */
export class LossyDisk implements FileSystem {
  #names: Names = new Map();
  #namesOnDisk: Names = new Map();
  /** By folder. */
  #unsyncedNames = new Map<string, ((names: Names) => void)[]>();
  #lastInode = 0n;
  #lastTime = BigInt(Date.now() - 60_000) * 1_000_000n;
  /** How many operations the disk still does. */
  operationsLeft = Infinity;
  operations = 0;
  /** Milliseconds that an operation takes. */
  delayMs = 0;

  constructor() {
    const root = this.#newInode(true);
    for (const names of [this.#names, this.#namesOnDisk]) names.set('/', root);
  }

  /** The disk as a start after a loss of power finds it. */
  losePower(chance: Chance): void {
    for (const changes of this.#unsyncedNames.values())
      for (const change of changes.slice(0, Math.floor(chance() * (changes.length + 1))))
        change(this.#namesOnDisk);
    const names = [...this.#namesOnDisk].filter(([path]) => this.#isReachable(path) && isLeftByDead(path));
    for (const inode of new Set(names.map(([, each]) => each))) {
      inode.content = contentAfterLoss(inode, chance);
      inode.onDisk = inode.content;
      inode.unsynced = [];
    }
    this.#namesOnDisk = new Map(names);
    this.#names = new Map(names);
    this.#unsyncedNames = new Map();
    this.operationsLeft = Infinity;
  }

  /** The disk as a start after `kill -9` finds it: the system has all that was done. */
  loseProcess(): void {
    // Its lock is there, but no process with this number.
    const left = [...this.#names].map(([path, inode]): [string, Inode] => [
      path.replace(/(?<=\.owner-(?!0{8})[0-9a-f]{8}-)\d+/u, String(noProcess)),
      inode,
    ]);
    this.#names = new Map(left);
    this.operationsLeft = Infinity;
  }

  /** The content of all files. */
  everything(): string {
    return Array.from(this.#names.values(), ({ content }) => content.toString('utf8')).join('\n');
  }

  #isReachable(path: string): boolean {
    const folder = dirname(path);
    if (folder === path) return true;
    return this.#namesOnDisk.get(folder)?.isFolder === true && this.#isReachable(folder);
  }

  async #do<T>(work: () => T): Promise<T> {
    this.operations += 1;
    if (this.delayMs > 0) await setTimeout(this.delayMs);
    if (this.operationsLeft <= 0) throw diskError('EIO');
    this.operationsLeft -= 1;
    return work();
  }

  #find(path: string): Inode {
    const inode = this.#names.get(path);
    if (inode === undefined) throw diskError('ENOENT');
    return inode;
  }

  #time(): bigint {
    this.#lastTime += 1_000_000n;
    return this.#lastTime;
  }

  #newInode(isFolder: boolean): Inode {
    this.#lastInode += 1n;
    const empty = Buffer.alloc(0);
    return {
      number: this.#lastInode,
      isFolder,
      content: empty,
      onDisk: empty,
      unsynced: [],
      changedAt: this.#time(),
    };
  }

  /** A change to the names in a folder, made now, and on disk with the folder's next sync. */
  #rename(folder: string, change: (names: Names) => void): void {
    this.#find(folder).changedAt = this.#time();
    change(this.#names);
    this.#unsyncedNames.set(folder, [...(this.#unsyncedNames.get(folder) ?? []), change]);
  }

  #add(path: string, inode: Inode): void {
    this.#rename(dirname(path), (names) => names.set(path, inode));
  }

  #write(inode: Inode, write: UnsyncedWrite): void {
    inode.content = written(inode.content, write);
    inode.unsynced.push(write);
    inode.changedAt = this.#time();
  }

  #sync(path: string, inode: Inode): void {
    if (!inode.isFolder) {
      inode.onDisk = inode.content;
      inode.unsynced = [];
      return;
    }
    for (const change of this.#unsyncedNames.get(path) ?? []) change(this.#namesOnDisk);
    this.#unsyncedNames.delete(path);
  }

  readonly open = (path: string, flags: number): Promise<OpenFile> =>
    this.#do(() => {
      if (path.startsWith('/proc/')) throw diskError('ENOENT');
      // oxlint-disable-next-line no-bitwise -- how the system combines them
      const [makes, isExclusive] = [(flags & constants.O_CREAT) !== 0, (flags & constants.O_EXCL) !== 0];
      if (isExclusive && this.#names.has(path)) throw diskError('EEXIST');
      if (makes && !this.#names.has(path)) this.#add(path, this.#newInode(false));
      return this.#openFile(path, this.#find(path));
    });

  #openFile(path: string, inode: Inode): OpenFile {
    return {
      stat: () => this.#do(() => statsOf(inode)),
      read: (buffer, position) =>
        this.#do(() => inode.content.copy(buffer, 0, position, position + buffer.length)),
      write: (bytes, position) =>
        this.#do(() => {
          this.#write(inode, { position, bytes: Buffer.from(bytes) });
          return bytes.length;
        }),
      truncate: (length) => this.#do(() => this.#write(inode, { position: length })),
      datasync: () => this.#do(() => this.#sync(path, inode)),
      sync: () => this.#do(() => this.#sync(path, inode)),
      close: () => Promise.resolve(),
    };
  }

  readonly lstat = (path: string) => this.#do(() => statsOf(this.#find(path)));
  readonly realpath = (path: string) =>
    this.#do(() => {
      this.#find(path);
      return path;
    });
  readonly readdir = (path: string) =>
    this.#do(() => {
      this.#find(path);
      const found = [...this.#names].filter(([each]) => each !== path && dirname(each) === path);
      return found.map(([each, inode]) => entryOf(each, inode));
    });
  readonly mkdir = (path: string) => this.#do(() => this.#makeFolder(path));
  readonly chmod = (path: string) => this.#do(() => void this.#find(path));
  readonly touch = this.chmod;
  readonly chown = this.chmod;
  readonly link = (from: string, to: string) =>
    this.#do(() => {
      if (this.#names.has(to)) throw diskError('EEXIST');
      this.#add(to, this.#find(from));
    });
  readonly copyFile = (): Promise<void> =>
    this.#do(() => {
      throw diskError('ENOSYS');
    });
  readonly rename = (from: string, to: string) =>
    this.#do(() => {
      const inode = this.#find(from);
      // Two names of one file: the system leaves both.
      if (this.#names.get(to) === inode) return;
      this.#rename(dirname(to), (names) => {
        names.set(to, inode);
        names.delete(from);
        for (const [path, below] of [...names].filter(([each]) => each.startsWith(`${from}/`))) {
          names.set(to + path.slice(from.length), below);
          names.delete(path);
        }
      });
    });
  readonly unlink = (path: string) =>
    this.#do(() => {
      this.#find(path);
      this.#rename(dirname(path), (names) => void names.delete(path));
    });
  readonly removeTree = (path: string) =>
    this.#do(() => {
      if (!this.#names.has(path)) return;
      this.#rename(dirname(path), (names) => {
        for (const each of names.keys()) if (each === path || each.startsWith(`${path}/`)) names.delete(each);
      });
    });
  readonly syncAll = () =>
    this.#do(() => {
      for (const [path, inode] of this.#names) this.#sync(path, inode);
    });

  #makeFolder(path: string): string | undefined {
    if (this.#names.has(path)) return undefined;
    const first = this.#makeFolder(dirname(path));
    this.#add(path, this.#newInode(true));
    return first ?? path;
  }
}

/** The lock of a process that is dead tells so by its number. */
/** More than any system gives a process. */
const noProcess = 2 ** 22 + 1;

function isLeftByDead(path: string): boolean {
  return !basename(path).startsWith('.owner-');
}

function written(content: Buffer, { position, bytes = Buffer.alloc(0) }: UnsyncedWrite): Buffer {
  const isCut = bytes.length === 0;
  const next = Buffer.alloc(isCut ? position : Math.max(content.length, position + bytes.length));
  content.copy(next);
  bytes.copy(next, position);
  return next;
}

/** Of the writes that were not synced some are there, some not, and some in part. */
function contentAfterLoss({ onDisk, unsynced }: Inode, chance: Chance): Buffer {
  let content = onDisk;
  for (const { position, bytes } of unsynced) {
    const fate = chance();
    if (bytes === undefined) {
      if (fate < 0.5) content = written(content, { position });
      continue;
    }
    for (let from = 0; from < bytes.length; from += sectorBytes) {
      if (fate < 0.3 || (fate < 0.7 && chance() < 0.5)) continue;
      content = written(content, {
        position: position + from,
        bytes: bytes.subarray(from, from + sectorBytes),
      });
    }
  }
  return content;
}

function statsOf({ number, content, changedAt, isFolder }: Inode): BigIntStats {
  const stats = {
    ino: number,
    size: BigInt(content.length),
    mtimeNs: changedAt,
    mtimeMs: changedAt / 1_000_000n,
    uid: 0n,
    gid: 0n,
    isFile: () => !isFolder,
    isDirectory: () => isFolder,
    isSymbolicLink: () => false,
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- all that the store asks for
  return stats as BigIntStats;
}

function entryOf(path: string, { isFolder }: Inode): Dirent {
  const entry = {
    name: basename(path),
    parentPath: dirname(path),
    isFile: () => !isFolder,
    isDirectory: () => isFolder,
    isSymbolicLink: () => false,
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- all that the store asks for
  return entry as Dirent;
}

/** All paths of the store lie below this folder. */
export const lossyFolder = join('/', 'lossy');
