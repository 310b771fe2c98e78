import { constants, type BigIntStats, type Dirent } from 'node:fs';
import { basename, dirname } from 'node:path';

import type { FileSystem, OpenFile } from '../../src/storage/files/file-system.ts';
import type { VirtualClock } from './clock.ts';
import type { Random } from './random.ts';

const sectorBytes = 512;

/** A change of a file's content that no sync has brought to the disk; without bytes the file was cut, or made longer, there. */
interface UnsyncedWrite {
  readonly position: number;
  readonly bytes?: Buffer;
}

class File {
  content = Buffer.alloc(0);
  /** What is there after a loss of power whatever else happens. */
  onDisk = Buffer.alloc(0);
  unsynced: UnsyncedWrite[] = [];
  readonly ino: bigint;
  changedAt: bigint;
  /** Words of {@link content} and {@link onDisk}, until these change. */
  words: ReadonlySet<string> | undefined;

  constructor(ino: bigint, changedAt: bigint) {
    this.ino = ino;
    this.changedAt = changedAt;
  }
}

type Entry = File | Folder;
type NameChange = () => void;

class Folder {
  readonly entries = new Map<string, Entry>();
  /** The names that are there after a loss of power whatever else happens. */
  readonly onDisk = new Map<string, Entry>();
  /** Changes of names that no sync has brought to the disk, in their order. */
  unsynced: NameChange[] = [];
  readonly ino: bigint;
  changedAt: bigint;

  constructor(ino: bigint, changedAt: bigint) {
    this.ino = ino;
    this.changedAt = changedAt;
  }
}

/** How the disk behaves for now. */
export interface DiskMood {
  /** Milliseconds that an operation takes, at least and at most. */
  readonly slowMs: readonly [number, number];
  /** The same of what brings something to the disk for sure, which on real disks takes longest by far. */
  readonly syncMs?: readonly [number, number];
  /** What every operation that writes fails with, if anything: `ENOSPC` lets a part through. */
  readonly refusesWrites?: 'ENOSPC' | 'EIO' | 'EROFS' | undefined;
  /** How many of a hundred operations fail with `EIO`. */
  readonly failsPercent: number;
}

export const calmDisk: DiskMood = { slowMs: [0, 0], failsPercent: 0 };

/** Milliseconds since the epoch, and a wait. */
type DiskClock = Pick<VirtualClock, 'now' | 'delay'>;

/** The processes as a disk sees them. */
export interface ProcessLife {
  readonly isAlive: () => boolean;
}

/** A process that was killed never hears of what it waited for. */
const never = (): Promise<never> => new Promise(() => {});

/**
 * A disk in memory that can lose power. Synced data stays; the rest survives whole, in part or not at all, file by
 * file, as on real disks. Writes to a file arrive in any order and torn, and so do changes of names.
 */
export class SimulatedDisk {
  mood: DiskMood = calmDisk;
  operations = 0;
  /** How many operations it still does before each fails. */
  operationsLeft = Infinity;
  readonly #root: Folder;
  readonly #clock: DiskClock;
  readonly #random: () => Random;
  #lastIno = 1n;
  #dirtyFiles = new Set<File>();
  #dirtyFolders = new Set<Folder>();

  /** `random` gives what decides the fate of the next operation. */
  constructor(clock: DiskClock, random: () => Random) {
    this.#clock = clock;
    this.#random = random;
    this.#root = new Folder(this.#lastIno, this.#time());
  }

  /** The disk as the next start finds it after a loss of power. */
  losePower(): void {
    const random = this.#random();
    for (const folder of this.#dirtyFolders) {
      const kept = random.int(0, folder.unsynced.length);
      for (const change of folder.unsynced.slice(0, kept)) change();
      folder.unsynced = [];
    }
    for (const folder of this.#dirtyFolders) {
      folder.entries.clear();
      for (const [name, entry] of folder.onDisk) folder.entries.set(name, entry);
    }
    for (const file of this.#dirtyFiles) {
      file.content = contentAfterLoss(file, random);
      file.onDisk = file.content;
      file.unsynced = [];
      file.words = undefined;
    }
    this.#dirtyFiles = new Set();
    this.#dirtyFolders = new Set();
    this.mood = calmDisk;
  }

  /** Where each of the words stands that match, on the disk as it is or as it may be after a loss of power. */
  words(pattern: RegExp): Map<string, string[]> {
    const found = new Map<string, string[]>();
    this.#visit(this.#root, '', (path, file) => {
      file.words ??= new Set([
        ...(file.content.toString('latin1').match(pattern) ?? []),
        ...(file.onDisk === file.content ? [] : (file.onDisk.toString('latin1').match(pattern) ?? [])),
      ]);
      for (const word of file.words) found.set(word, [...(found.get(word) ?? []), path]);
    });
    return found;
  }

  /** Whether a text stands in a file that is synced, under a name that is. */
  holdsForSure(text: string): boolean {
    const look = (folder: Folder): boolean => {
      for (const entry of folder.onDisk.values())
        if (entry instanceof Folder ? look(entry) : entry.onDisk.includes(text)) return true;
      return false;
    };
    return look(this.#root);
  }

  /** Every file by its path, as a person would find it. */
  *files(): Iterable<readonly [path: string, content: Buffer]> {
    const found: [string, Buffer][] = [];
    this.#visit(this.#root, '', (path, file) => found.push([path, file.content]), false);
    yield* found;
  }

  #visit(folder: Folder, path: string, see: (path: string, file: File) => void, alsoOnDisk = true): void {
    for (const [name, entry] of folder.entries)
      if (entry instanceof Folder) this.#visit(entry, `${path}/${name}`, see, alsoOnDisk);
      else see(`${path}/${name}`, entry);
    if (!alsoOnDisk || folder.unsynced.length === 0) return;
    for (const [name, entry] of folder.onDisk)
      if (folder.entries.get(name) !== entry) {
        if (entry instanceof Folder) this.#visit(entry, `${path}/${name}`, see);
        else see(`${path}/${name}`, entry);
      }
  }

  get #isReadOnly(): boolean {
    return this.mood.refusesWrites === 'EROFS';
  }

  #time(): bigint {
    return BigInt(Math.round(this.#clock.now)) * 1_000_000n;
  }

  #ino(): bigint {
    this.#lastIno += 1n;
    return this.#lastIno;
  }

  #find(path: string): Entry {
    const found = this.#lookUp(path);
    if (found === undefined) throw diskError('ENOENT');
    return found;
  }

  /** @throws where a file stands in place of a folder. */
  #lookUp(path: string): Entry | undefined {
    let entry: Entry = this.#root;
    for (let from = 1; from < path.length;) {
      if (!(entry instanceof Folder)) throw diskError('ENOTDIR');
      const slash = path.indexOf('/', from);
      const to = slash === -1 ? path.length : slash;
      const next = entry.entries.get(path.slice(from, to));
      if (next === undefined) return undefined;
      entry = next;
      from = to + 1;
    }
    return entry;
  }

  #folder(path: string): Folder {
    const found = this.#find(path);
    if (!(found instanceof Folder)) throw diskError('ENOTDIR');
    return found;
  }

  /** Changes a folder's names now, and on the disk with its next sync. */
  #changeNames(folder: Folder, change: (names: (folder: Folder) => Map<string, Entry>) => void): void {
    change((each) => each.entries);
    folder.unsynced.push(() => change((each) => each.onDisk));
    folder.changedAt = this.#time();
    this.#dirtyFolders.add(folder);
  }

  #add(path: string, entry: Entry): void {
    const name = basename(path);
    const folder = this.#folder(dirname(path));
    this.#changeNames(folder, (names) => names(folder).set(name, entry));
  }

  #write(file: File, write: UnsyncedWrite): void {
    file.content = written(file.content, write);
    file.unsynced.push(write);
    file.changedAt = this.#time();
    file.words = undefined;
    this.#dirtyFiles.add(file);
  }

  #sync(entry: Entry): void {
    if (entry instanceof Folder) {
      for (const change of entry.unsynced) change();
      entry.unsynced = [];
      this.#dirtyFolders.delete(entry);
      return;
    }
    entry.onDisk = entry.content;
    entry.unsynced = [];
    entry.words = undefined;
    this.#dirtyFiles.delete(entry);
  }

  /** The disk as a process uses it, as long as that lives. */
  fileSystem({ isAlive }: ProcessLife): FileSystem {
    const perform = async <T>(work: () => T, isWrite = false, isSync = false): Promise<T> => {
      if (!isAlive()) return never();
      this.operations += 1;
      if (this.operationsLeft <= 0) throw diskError('EIO');
      this.operationsLeft -= 1;
      const random = this.#random();
      const { slowMs, syncMs = slowMs, refusesWrites, failsPercent } = this.mood;
      const [least, most] = isSync ? syncMs : slowMs;
      const ms = most === 0 ? 0 : least + random.next() * (most - least);
      const isLate = ms > 0 && random.chance(0.5);
      if (isLate) await this.#clock.delay(ms);
      if (!isAlive()) return never();
      const fails = failsPercent > 0 && random.chance(failsPercent / 100);
      let outcome: { readonly value: T } | { readonly error: unknown };
      try {
        if (fails) throw diskError('EIO');
        if (isWrite && refusesWrites !== undefined) throw diskError(refusesWrites);
        outcome = { value: work() };
      } catch (error) {
        outcome = { error };
      }
      if (ms > 0 && !isLate) await this.#clock.delay(ms);
      if (!isAlive()) return never();
      if ('error' in outcome) throw outcome.error;
      return outcome.value;
    };
    const write = (work: () => void): Promise<void> => perform(work, true);
    const sync = (work: () => void): Promise<void> => perform(work, true, true);

    const openFile = (file: File): OpenFile => ({
      stat: () => perform(() => statsOf(file)),
      read: (buffer, position) =>
        perform(() => file.content.copy(buffer, 0, position, position + buffer.length)),
      write: (bytes, position) => {
        const copy = Buffer.from(bytes);
        const writeFirst = (length: number): number => {
          this.#write(file, { position, bytes: copy.subarray(0, length) });
          return length;
        };
        // A disk that is filling up takes a part, and refuses the rest.
        const isPart = this.mood.refusesWrites === 'ENOSPC' && this.#random().chance(0.5);
        return isPart
          ? perform(() => writeFirst(Math.floor(copy.length / 2)))
          : perform(() => writeFirst(copy.length), true);
      },
      // A full disk can still cut a file shorter, and sync what it took.
      truncate: (length) => perform(() => this.#write(file, { position: length }), this.#isReadOnly),
      datasync: () => perform(() => this.#sync(file), this.#isReadOnly, true),
      sync: () => perform(() => this.#sync(file), this.#isReadOnly, true),
      close: () => (isAlive() ? Promise.resolve() : never()),
    });
    /** As write-file-atomic: a kill leaves its temporary file; a full disk's short write says nothing. */
    const writeAtomic = async (path: string, bytes: Buffer, isSynced: boolean): Promise<void> => {
      const temporary = `${path}.${this.#lastIno}`;
      try {
        const file = openFile(await perform(() => this.#make(temporary)));
        await file.write(bytes, 0);
        if (isSynced) await file.sync();
        await write(() => this.#move(temporary, path));
      } catch (error) {
        await perform(() => this.#remove(temporary)).catch(() => undefined);
        throw error;
      }
    };
    return {
      open: (path, flags) =>
        perform(() => {
          // Processes see themselves and each other's numbers, and nothing more.
          if (path.startsWith('/proc/s')) {
            const told = new File(1n, 0n);
            if (path === '/proc/self/stat') told.content = Buffer.from(String(process.pid));
            return openFile(told);
          }
          if (path.startsWith('/proc/')) throw diskError('ENOENT');
          const known = this.#lookUp(path);
          if (has(flags, constants.O_CREAT) && has(flags, constants.O_EXCL) && known !== undefined)
            throw diskError('EEXIST');
          if (known === undefined && has(flags, constants.O_CREAT)) return openFile(this.#make(path));
          const found = this.#find(path);
          // A folder is opened to be synced.
          if (found instanceof Folder)
            return {
              ...openFile(new File(0n, 0n)),
              sync: () => sync(() => this.#sync(found)),
              datasync: () => sync(() => this.#sync(found)),
            };
          if (has(flags, constants.O_TRUNC)) this.#write(found, { position: 0 });
          return openFile(found);
        }),
      writeAtomic: (path, bytes, isSynced) => writeAtomic(path, bytes, isSynced),
      lstat: (path) => perform(() => statsOf(this.#find(path))),
      realpath: (path) => perform(() => (this.#find(path), path)),
      readdir: (path) =>
        perform(() => [...this.#folder(path).entries].map(([name, entry]) => direntOf(path, name, entry))),
      mkdir: (path) => perform(() => this.#makeFolder(path), true),
      chmod: (path) => write(() => void this.#find(path)),
      touch: (path, time) =>
        write(() => {
          this.#find(path).changedAt = BigInt(Math.round(time.getTime())) * 1_000_000n;
        }),
      rename: (from, to) => write(() => this.#move(from, to)),
      unlink: (path) => perform(() => this.#remove(path)),
      removeTree: (path) =>
        perform(() => {
          if (this.#lookUp(path) !== undefined) this.#remove(path);
        }),
      syncAll: () =>
        write(() => {
          for (const file of this.#dirtyFiles) this.#sync(file);
          for (const folder of this.#dirtyFolders) this.#sync(folder);
        }),
    };
  }

  #make(path: string): File {
    if (this.mood.refusesWrites !== undefined) throw diskError(this.mood.refusesWrites);
    const file = new File(this.#ino(), this.#time());
    this.#add(path, file);
    return file;
  }

  #move(from: string, to: string): void {
    const entry = this.#find(from);
    // Two names of one file: the system leaves both.
    if (this.#lookUp(to) === entry) return;
    const [source, target] = [this.#folder(dirname(from)), this.#folder(dirname(to))];
    this.#changeNames(target, (names) => {
      names(source).delete(basename(from));
      names(target).set(basename(to), entry);
    });
    this.#dirtyFolders.add(source);
  }

  #remove(path: string): void {
    this.#find(path);
    const folder = this.#folder(dirname(path));
    this.#changeNames(folder, (names) => names(folder).delete(basename(path)));
  }

  #makeFolder(path: string): string | undefined {
    const known = this.#lookUp(path);
    if (known instanceof Folder) return undefined;
    if (known !== undefined) throw diskError('EEXIST');
    const first = path === '/' ? undefined : this.#makeFolder(dirname(path));
    this.#add(path, new Folder(this.#ino(), this.#time()));
    return first ?? path;
  }
}

/** Without its stack, which would take a third of the time on a day with a full disk. */
function diskError(code: string): Error {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  const error = Object.assign(new Error(`${code}: simulated`), { code });
  Error.stackTraceLimit = stackTraceLimit;
  return error;
}

function has(flags: number, flag: number): boolean {
  // oxlint-disable-next-line no-bitwise -- how the system combines them
  return (flags & flag) !== 0;
}

function written(content: Buffer, { position, bytes }: UnsyncedWrite): Buffer<ArrayBuffer> {
  const length = bytes === undefined ? position : Math.max(content.length, position + bytes.length);
  const next = Buffer.alloc(length);
  content.copy(next);
  bytes?.copy(next, position);
  return next;
}

/** Of the writes that were not synced some are there, some not, and some in part. */
function contentAfterLoss({ onDisk, unsynced }: File, random: Random): Buffer<ArrayBuffer> {
  let content = onDisk;
  for (const { position, bytes } of unsynced) {
    const fate = random.weighted({ whole: 3, lost: 3, torn: 4 });
    if (fate === 'lost') continue;
    if (bytes === undefined) {
      content = written(content, { position });
      continue;
    }
    for (let from = 0; from < bytes.length; from += sectorBytes) {
      if (fate === 'torn' && random.chance(0.5)) continue;
      content = written(content, {
        position: position + from,
        bytes: bytes.subarray(from, from + sectorBytes),
      });
    }
  }
  return content;
}

function statsOf(entry: Entry): BigIntStats {
  const isFolder = entry instanceof Folder;
  const stats = {
    ino: entry.ino,
    dev: 1n,
    nlink: 1n,
    mode: isFolder ? 0o40700n : 0o100600n,
    size: isFolder ? 0n : BigInt(entry.content.length),
    mtimeNs: entry.changedAt,
    mtimeMs: entry.changedAt / 1_000_000n,
    ctimeNs: entry.changedAt,
    ctimeMs: entry.changedAt / 1_000_000n,
    uid: 0n,
    gid: 0n,
    isFile: () => !isFolder,
    isDirectory: () => isFolder,
    isSymbolicLink: () => false,
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- all that the store asks for
  return stats as unknown as BigIntStats;
}

function direntOf(parentPath: string, name: string, entry: Entry): Dirent {
  const isFolder = entry instanceof Folder;
  const dirent = {
    name,
    parentPath,
    isFile: () => !isFolder,
    isDirectory: () => isFolder,
    isSymbolicLink: () => false,
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- all that the store asks for
  return dirent as unknown as Dirent;
}
