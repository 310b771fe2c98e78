import { createHash, randomBytes, randomInt } from 'node:crypto';
import { constants } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { StoreError } from '../../core/errors.ts';
import { errorCode, readBytes, unlessMissing, withFile, type FileSystem } from './file-system.ts';

/** The name says all, so that it is never half-written: machine, process, when that began, and a mark. */
interface Owner {
  readonly name: string;
  readonly host: string;
  readonly pid: number;
  readonly began: string;
}

export class FolderInUseError extends StoreError {}

const lockName = /^\.owner-([0-9a-f]{8})-(\d+)-(\d+)-[0-9a-f]{8}$/;
const heartbeatMs = 10_000;
/** How long a lock of another machine or container counts after its last heartbeat. */
const silenceMs = 3 * heartbeatMs;
const attempts = 3;

export type OwnerLock = Awaited<ReturnType<typeof takeOwnerLock>>;

/**
 * Takes a data folder's lock, which one process has at a time; a dead process's is taken over. `onBeat` is called
 * every ten seconds. Asking again with the same `mark`, 8 hexadecimal digits, ignores what a failure left.
 * @throws {FolderInUseError} where another process, or another store of this one, has it.
 */
export async function takeOwnerLock(
  fileSystem: FileSystem,
  folder: string,
  onBeat: () => void = () => {},
  mark: string = randomBytes(4).toString('hex'),
) {
  const began = (await processBegan(fileSystem, process.pid)) ?? '0';
  const path = join(folder, `.owner-${ownHost()}-${process.pid}-${began}-${mark}`);
  // A failure leaves the file to the next owner.
  const discard = (name: string) => fileSystem.unlink(name).catch(() => undefined);
  try {
    for (let attempt = 1; ; attempt += 1) {
      // Announced before looking: of two who start together, at least one notices the other.
      await announce(fileSystem, path);
      // By this disk's time: the other machine's clock may differ.
      const { alive: other, dead } = await look(fileSystem, folder, mark, await touchedAt(fileSystem, path));
      if (other === undefined) {
        // What a killed process wrote last may be only in memory: nothing is built on that.
        if (dead.length > 0) await fileSystem.syncAll(folder);
        for (const { name } of dead) await discard(join(folder, name));
        break;
      }
      await discard(path);
      if (attempt === attempts) throw inUse(folder, other);
      await wait(randomInt(20, 100));
    }
  } catch (error) {
    await discard(path);
    throw error;
  }
  const heartbeat = setInterval(() => {
    // A full or read-only disk does not stop the bot; the next beat tries again.
    fileSystem.touch(path, new Date()).catch(() => undefined);
    onBeat();
  }, heartbeatMs).unref();
  return {
    async release(): Promise<void> {
      clearInterval(heartbeat);
      await discard(path);
    },
  };
}

/** Changes nothing, for where no lock can be taken. @throws {FolderInUseError} */
export async function assertFree(fileSystem: FileSystem, folder: string, mark: string): Promise<void> {
  const { alive } = await look(fileSystem, folder, mark);
  if (alive !== undefined) throw inUse(folder, alive);
}

/** The process that uses a data folder, if any; changes nothing. */
export async function findOwner(fileSystem: FileSystem, folder: string) {
  const { alive } = await look(fileSystem, folder);
  return alive && { pid: alive.pid, lockFile: alive.name, isHere: alive.host === ownHost() };
}

function inUse(folder: string, { pid, name }: Owner) {
  const text = `The data folder ${folder} is in use by process ${pid} (its lock file: ${name}): stop that one, or give each a folder of its own`;
  return new FolderInUseError(text, name);
}

function ownHost(): string {
  return createHash('sha256').update(hostname()).digest('hex').slice(0, 8);
}

async function announce(fileSystem: FileSystem, path: string): Promise<void> {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_NOFOLLOW;
  await withFile(fileSystem.open(path, flags, 0o600), () => Promise.resolve());
  await fileSystem.touch(path, new Date());
}

/** The first living owner without this mark, and dead ones before it. */
async function look(fileSystem: FileSystem, folder: string, ownMark?: string, now = Date.now()) {
  const dead: Owner[] = [];
  for (const { name } of (await unlessMissing(fileSystem.readdir(folder))) ?? []) {
    const [, host = '', pid, began = ''] = lockName.exec(name) ?? [];
    if (pid === undefined || name.endsWith(`-${ownMark}`)) continue;
    const owner = { name, host, pid: Number(pid), began };
    const isAlive =
      host === ownHost()
        ? await isRunning(fileSystem, owner)
        : now - (await touchedAt(fileSystem, join(folder, name))) < silenceMs;
    if (isAlive) return { alive: owner, dead };
    dead.push(owner);
  }
  return { alive: undefined, dead };
}

async function touchedAt(fileSystem: FileSystem, path: string): Promise<number> {
  const stats = await unlessMissing(fileSystem.lstat(path));
  return stats === undefined ? 0 : Number(stats.mtimeMs);
}

async function isRunning(fileSystem: FileSystem, { pid, began }: Owner): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (errorCode(error) === 'ESRCH') return false;
  }
  // The number may belong to another process by now: a restarted container's bot has the same one.
  return began === '0' || (await processBegan(fileSystem, pid)) === began;
}

/** In ticks since the machine began; `undefined` where the process is dead or the system does not tell. */
async function processBegan(fileSystem: FileSystem, pid: number): Promise<string | undefined> {
  const opening = fileSystem.open(`/proc/${pid}/stat`, constants.O_RDONLY);
  const stat = await withFile(opening, (file) => readBytes(file, 0, 4096)).then(String, () => '');
  // The second field is the program's name in brackets, which may itself hold spaces and brackets.
  const [state, ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return state === 'Z' || state === 'X' ? undefined : fields[18];
}
