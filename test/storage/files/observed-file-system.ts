import { nodeFileSystem, type FileSystem, type OpenFile } from '../../../src/storage/files/file-system.ts';

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

/** The real file system, with `decide` asked before each operation. */
export function createObservedFileSystem(decide: (operation: Operation) => Fate): FileSystem {
  async function perform<T>(
    operation: Operation,
    work: () => Promise<T>,
    half: () => Promise<T> = work,
  ): Promise<T> {
    const fate = decide(operation);
    if (fate instanceof Error) throw fate;
    return fate === 'short' ? half() : work();
  }

  function observe(file: OpenFile, path: string): OpenFile {
    return {
      stat: () => perform({ name: 'stat', path }, () => file.stat()),
      read: (buffer, position) => perform({ name: 'read', path }, () => file.read(buffer, position)),
      write: (bytes, position) =>
        perform(
          { name: 'write', path },
          () => file.write(bytes, position),
          () => file.write(halfOf(bytes), position),
        ),
      truncate: (length) => perform({ name: 'truncate', path }, () => file.truncate(length)),
      datasync: () => perform({ name: 'datasync', path }, () => file.datasync()),
      sync: () => perform({ name: 'sync', path }, () => file.sync()),
      // The real file is closed in any case: a test must not leak what it lets fail.
      close: () => file.close().then(() => perform({ name: 'close', path }, () => Promise.resolve())),
    };
  }

  const real = nodeFileSystem;
  return {
    open: (path, flags, mode) =>
      perform({ name: 'open', path }, async () => observe(await real.open(path, flags, mode), path)),
    lstat: (path) => perform({ name: 'lstat', path }, () => real.lstat(path)),
    realpath: (path) => perform({ name: 'realpath', path }, () => real.realpath(path)),
    readdir: (path) => perform({ name: 'readdir', path }, () => real.readdir(path)),
    mkdir: (path, mode) => perform({ name: 'mkdir', path }, () => real.mkdir(path, mode)),
    chmod: (path, mode) => perform({ name: 'chmod', path }, () => real.chmod(path, mode)),
    touch: (path) => perform({ name: 'touch', path }, () => real.touch(path)),
    link: (from, to) => perform({ name: 'link', path: to }, () => real.link(from, to)),
    copyFile: (from, to) => perform({ name: 'copyFile', path: to }, () => real.copyFile(from, to)),
    rename: (from, to) => perform({ name: 'rename', path: to }, () => real.rename(from, to)),
    unlink: (path) => perform({ name: 'unlink', path }, () => real.unlink(path)),
    removeTree: (path) => perform({ name: 'removeTree', path }, () => real.removeTree(path)),
    writeFileAtomic: (path, data, options) =>
      perform(
        { name: 'writeFileAtomic', path },
        () => real.writeFileAtomic(path, data, options),
        () => real.writeFileAtomic(path, Buffer.from(halfOf(data)), options),
      ),
  };
}

function halfOf(bytes: Uint8Array): Uint8Array {
  return bytes.subarray(0, Math.floor(bytes.length / 2));
}
