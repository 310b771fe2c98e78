/**
 * Loaded into the bot's process before the bot. While the file `FAILING_DISK` exists in its working folder, the
 * disk below `DISCOCLAW_DATA_DIR` is as that file says: `full` (a write stops halfway, the next one fails),
 * `read-only`, or `odd` (a share that knows neither rights nor links nor syncs of folders).
 */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const marker = process.env['FAILING_DISK'] ?? '';
const folder = process.env['DISCOCLAW_DATA_DIR'] ?? '';

function state(): string {
  try {
    return fs.readFileSync(marker, 'utf8').trim();
  } catch {
    return '';
  }
}

function failure(code: 'ENOSPC' | 'EROFS' | 'EPERM' | 'EINVAL'): Error {
  return Object.assign(new Error(`${code}: set by the test`), { code });
}

function isWriting(flags: unknown): boolean {
  const { O_WRONLY, O_RDWR, O_CREAT } = fs.constants;
  return typeof flags === 'number' ? (flags & (O_WRONLY | O_RDWR | O_CREAT)) !== 0 : flags !== 'r';
}

function refusesChange(path: unknown): boolean {
  return state() === 'read-only' && String(path).startsWith(folder);
}

function isOdd(path: unknown): boolean {
  return state() === 'odd' && String(path).startsWith(folder);
}

/** How many bytes the full disk still takes of a write. @throws where there is room for none. */
let takesHalf = true;
function roomFor(length: number): number {
  if (state() !== 'full') return length;
  takesHalf = !takesHalf;
  if (takesHalf || length < 2) throw failure('ENOSPC');
  return Math.floor(length / 2);
}

/** Calls what was there before, whatever its signature. */
function call(original: unknown, owner: object, values: readonly unknown[]): unknown {
  if (typeof original !== 'function') throw new TypeError('There is nothing to call');
  return Reflect.apply(original, owner, values);
}

// The store opens, writes and changes through promises.
const { promises } = fs;
const open = promises.open.bind(promises);
promises.open = async (path, flags, mode) => {
  if (isWriting(flags ?? 'r') && refusesChange(path)) throw failure('EROFS');
  const handle = await open(path, flags, mode);
  if (isOdd(path) && (await handle.stat()).isDirectory())
    Object.assign(handle, { sync: () => Promise.reject(failure('EINVAL')) });
  const write = handle.write.bind(handle);
  Object.assign(handle, {
    write: (bytes: Uint8Array, offset: number, length: number, position: number) =>
      Promise.resolve().then(() => {
        if (refusesChange(path)) throw failure('EROFS');
        return write(bytes, offset, roomFor(length), position);
      }),
  });
  return handle;
};
for (const name of ['mkdir', 'rename', 'unlink', 'utimes', 'rm'] as const) {
  const original: unknown = promises[name];
  Object.assign(promises, {
    [name]: async (...values: unknown[]) => {
      if (refusesChange(values[0])) throw failure('EROFS');
      return call(original, promises, values);
    },
  });
}

// write-file-atomic does the same through callbacks, and takes no notice of how much was written.
const { open: openFile, write: writeFile } = fs;
const pathOf = new Map<number, string>();
type Done = (error: unknown, result?: number) => void;
Object.assign(fs, {
  open(path: string, flags: string, mode: number | undefined, done: Done) {
    if (isWriting(flags) && refusesChange(path)) return done(failure('EROFS'));
    const opened: Done = (error, fd = -1) => {
      pathOf.set(fd, path);
      done(error, fd);
    };
    call(openFile, fs, [path, flags, mode, opened]);
  },
  write(fd: number, bytes: Buffer, offset: number, length: number, position: number, done: Done) {
    try {
      if (refusesChange(pathOf.get(fd))) throw failure('EROFS');
      call(writeFile, fs, [fd, bytes, offset, roomFor(length), position, done]);
    } catch (error) {
      done(error);
    }
  },
});

for (const owner of [fs, promises])
  for (const name of ['chmod', 'link'] as const) {
    const original: unknown = owner[name];
    Object.assign(owner, {
      [name]: (...values: unknown[]) => {
        if (!isOdd(values[0])) return call(original, owner, values);
        if (owner === promises) return Promise.reject(failure('EPERM'));
        return call(values.at(-1), fs, [failure('EPERM')]);
      },
    });
  }

syncBuiltinESMExports();
