import { createHash, randomBytes, randomInt } from 'node:crypto';
import { constants } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { StoreError } from '../../core/errors.ts';
import { errorCode, unlessMissing, withFile, type FileSystem } from './file-system.ts';

/** A lock file's name says all, so that it is never half-written: machine, process id, when that process began. */
interface Owner {
  readonly name: string;
  readonly host: string;
  readonly pid: number;
  readonly began: string;
}

/** Another process has the data folder. */
export class FolderInUseError extends StoreError {}

const lockName = /^\.owner-([0-9a-f]{8})-(\d+)-(\d+)-[0-9a-f]{8}$/;
const heartbeatMs = 10_000;
/** A lock from another machine or container, whose processes cannot be seen from here, counts this long after its last heartbeat. */
const silenceMs = 3 * heartbeatMs;
const attempts = 3;

export type OwnerLock = Awaited<ReturnType<typeof takeOwnerLock>>;

/**
 * Takes the lock of a data folder, which one process owns at a time, so that two never interleave their changes; one whose process
 * is dead is taken over. While it is held, `onBeat` is called every ten seconds. Who asks again with the same `mark`, 8 hexadecimal digits, is not kept
 * out by what a failure left of the time before.
 * @throws {FolderInUseError} where another process, or another store of this one, has it.
 */
export async function takeOwnerLock(
  fileSystem: FileSystem,
  dataFolder: string,
  onBeat: () => void = () => {},
  mark: string = randomBytes(4).toString('hex'),
) {
  const host = ownHost();
  const began = (await processBegan(fileSystem, process.pid)) ?? '0';
  const dead = new Set<string>();
  const name = `.owner-${host}-${process.pid}-${began}-${mark}`;
  const path = join(dataFolder, name);
  try {
    for (let attempt = 1; ; attempt += 1) {
      // Everybody announces himself before he looks: of two who start together, at least one sees the other.
      await announce(fileSystem, path);
      const other = await findOther(fileSystem, dataFolder, name, dead);
      if (other === undefined) {
        // What a killed process wrote last may be nowhere but in memory: nothing is built on that.
        if (dead.size > 0) await fileSystem.syncAll(dataFolder);
        for (const each of dead) await discard(fileSystem, join(dataFolder, each));
        return keepAlive(fileSystem, path, onBeat);
      }
      await discard(fileSystem, path);
      if (attempt === attempts) throw inUse(dataFolder, other);
      await wait(randomInt(20, 100));
    }
  } catch (error) {
    await discard(fileSystem, path);
    throw error;
  }
}

/** Changes nothing, so that it can be asked where a lock cannot be taken, whose `mark` is no other's. @throws {FolderInUseError} where another process has the folder. */
export async function assertFree(fileSystem: FileSystem, dataFolder: string, mark: string): Promise<void> {
  const owner = await findOwner(fileSystem, dataFolder, mark);
  if (owner !== undefined) throw inUse(dataFolder, { pid: owner.pid, name: owner.lockFile });
}

function inUse(folder: string, { pid, name }: Pick<Owner, 'pid' | 'name'>) {
  const text = `The data folder ${folder} is in use by process ${pid} (its lock file: ${name}): stop that one, or give each a folder of its own`;
  return new FolderInUseError(text, name);
}

/** The process that uses a data folder, if any; nothing is changed. */
export async function findOwner(fileSystem: FileSystem, dataFolder: string, ownMark?: string) {
  const host = ownHost();
  for (const owner of await ownersIn(fileSystem, dataFolder))
    if (
      !owner.name.endsWith(`-${ownMark}`) &&
      (await isAlive(fileSystem, dataFolder, owner, { host, now: Date.now() }))
    )
      return { pid: owner.pid, lockFile: owner.name, isHere: owner.host === host };
  return undefined;
}

function ownHost(): string {
  return createHash('sha256').update(hostname()).digest('hex').slice(0, 8);
}

/** A failure leaves the file to whoever takes the lock next. */
async function discard(fileSystem: FileSystem, path: string): Promise<void> {
  await fileSystem.unlink(path).catch(() => undefined);
}

async function announce(fileSystem: FileSystem, path: string): Promise<void> {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_NOFOLLOW;
  await withFile(fileSystem.open(path, flags, 0o600), () => Promise.resolve());
  await fileSystem.touch(path, new Date());
}

/** The owner that is alive; those that are not are added to `dead`. */
async function findOther(
  fileSystem: FileSystem,
  folder: string,
  own: string,
  dead: Set<string>,
): Promise<Owner | undefined> {
  // The time as this very disk tells it: the other machine's clock may differ from ours.
  const now = await touchedAt(fileSystem, join(folder, own));
  const host = parseName(own)?.host;
  for (const owner of await ownersIn(fileSystem, folder)) {
    if (owner.name === own) continue;
    if (await isAlive(fileSystem, folder, owner, { host, now })) return owner;
    dead.add(owner.name);
  }
  return undefined;
}

/** Whom the lock files in a folder name, dead or alive. */
async function ownersIn(fileSystem: FileSystem, folder: string): Promise<readonly Owner[]> {
  const entries = (await unlessMissing(fileSystem.readdir(folder))) ?? [];
  return entries.flatMap(({ name }) => parseName(name) ?? []);
}

async function isAlive(
  fileSystem: FileSystem,
  folder: string,
  owner: Owner,
  { host, now }: { readonly host: string | undefined; readonly now: number },
): Promise<boolean> {
  if (owner.host === host) return isRunning(fileSystem, owner);
  return now - (await touchedAt(fileSystem, join(folder, owner.name))) < silenceMs;
}

function keepAlive(fileSystem: FileSystem, path: string, onBeat: () => void) {
  const heartbeat = setInterval(() => {
    // A full or read-only disk does not stop the bot; the next beat tries again.
    fileSystem.touch(path, new Date()).catch(() => undefined);
    onBeat();
  }, heartbeatMs);
  heartbeat.unref();
  return {
    async release(): Promise<void> {
      clearInterval(heartbeat);
      await discard(fileSystem, path);
    },
  };
}

function parseName(name: string): Owner | undefined {
  const [, host, pid, began] = lockName.exec(name) ?? [];
  if (host === undefined || pid === undefined || began === undefined) return undefined;
  return { name, host, pid: Number(pid), began };
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
  // The number may have gone to another process since: after a restart a container's bot has the same one again.
  return began === '0' || (await processBegan(fileSystem, pid)) === began;
}

/** When a process began, in ticks since the machine did; `undefined` where it is dead or the system does not tell. */
async function processBegan(fileSystem: FileSystem, pid: number): Promise<string | undefined> {
  const stat = await readProcess(fileSystem, pid);
  // The second field is the program's name in brackets, which may itself hold spaces and brackets.
  const [state, ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return state === 'Z' || state === 'X' ? undefined : fields[18];
}

async function readProcess(fileSystem: FileSystem, pid: number): Promise<string> {
  try {
    return await withFile(fileSystem.open(`/proc/${pid}/stat`, constants.O_RDONLY), async (file) => {
      const bytes = Buffer.alloc(4096);
      return bytes.toString('utf8', 0, await file.read(bytes, 0));
    });
  } catch {
    return '';
  }
}
