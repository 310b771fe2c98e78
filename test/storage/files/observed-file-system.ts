import * as fs from 'node:fs';
import type { FileSystem, OpenFile } from '../../../src/storage/files/file-system.ts';

/** One operation on the disk, told before it happens. */
export interface Operation {
  readonly name: keyof FileSystem | keyof OpenFile;
  readonly path: string;
}

/** What happens to an operation: nothing special, a rejection, or a write that only does half and says nothing. */
export type Fate = 'works' | 'short' | Error;

export function diskError(code: string): Error {
  return Object.assign(new Error(`${code}: injected`), { code });
}

/**
 * The real file system, with `decide` asked before each operation. Its calls are synchronous, which takes a third of the time: most of it
 * goes into the threads that `node:fs/promises` uses.
 */
export function createObservedFileSystem(decide: (operation: Operation) => Fate): FileSystem {
  // oxlint-disable-next-line typescript/require-await -- what throws rejects
  async function perform<T>(operation: Operation, work: () => T, half: () => T = work): Promise<T> {
    const fate = decide(operation);
    if (fate instanceof Error) throw fate;
    return fate === 'short' ? half() : work();
  }

  function observe(fd: number, path: string): OpenFile {
    const write = (bytes: Uint8Array, position: number) => fs.writeSync(fd, bytes, 0, bytes.length, position);
    return {
      stat: () => perform({ name: 'stat', path }, () => fs.fstatSync(fd, { bigint: true })),
      read: (buffer, position) =>
        perform({ name: 'read', path }, () => fs.readSync(fd, buffer, 0, buffer.length, position)),
      write: (bytes, position) =>
        perform(
          { name: 'write', path },
          () => write(bytes, position),
          () => write(halfOf(bytes), position),
        ),
      truncate: (length) => perform({ name: 'truncate', path }, () => fs.ftruncateSync(fd, length)),
      datasync: () => perform({ name: 'datasync', path }, () => fs.fdatasyncSync(fd)),
      sync: () => perform({ name: 'sync', path }, () => fs.fsyncSync(fd)),
      // The real file is closed in any case: a test must not leak what it lets fail.
      close: () => {
        fs.closeSync(fd);
        return perform({ name: 'close', path }, () => undefined);
      },
    };
  }

  return {
    open: (path, flags, mode) =>
      perform({ name: 'open', path }, () => observe(fs.openSync(path, flags, mode), path)),
    writeAtomic: (path, bytes) =>
      perform(
        { name: 'writeAtomic', path },
        () => fs.writeFileSync(path, bytes),
        () => fs.writeFileSync(path, halfOf(bytes)),
      ),
    lstat: (path) => perform({ name: 'lstat', path }, () => fs.lstatSync(path, { bigint: true })),
    realpath: (path) => perform({ name: 'realpath', path }, () => fs.realpathSync.native(path)),
    readdir: (path) =>
      perform({ name: 'readdir', path }, () => fs.readdirSync(path, { withFileTypes: true })),
    mkdir: (path, mode) =>
      perform({ name: 'mkdir', path }, () => fs.mkdirSync(path, { recursive: true, mode })),
    chmod: (path, mode) => perform({ name: 'chmod', path }, () => fs.chmodSync(path, mode)),
    touch: (path) => perform({ name: 'touch', path }, () => fs.utimesSync(path, new Date(), new Date())),
    rename: (from, to) => perform({ name: 'rename', path: to }, () => fs.renameSync(from, to)),
    unlink: (path) => perform({ name: 'unlink', path }, () => fs.unlinkSync(path)),
    syncAll: (path) => perform({ name: 'syncAll', path }, () => undefined),
    removeTree: (path) =>
      perform({ name: 'removeTree', path }, () => fs.rmSync(path, { recursive: true, force: true })),
  };
}

/** The real file system by synchronous calls. */
export const quickFileSystem = createObservedFileSystem(() => 'works');

function halfOf(bytes: Uint8Array): Uint8Array {
  return bytes.subarray(0, Math.floor(bytes.length / 2));
}
