import { createHash, randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { StoreError } from '../../core/errors.ts';
import { unlessAborted } from '../../core/time.ts';
import { errorCode, readBytes, unlessMissing, withFile, type FileSystem } from './file-system.ts';

/** The name says all, so that it is never half-written: where processes are seen, process, when that began, and a mark. */
interface Owner {
  readonly name: string;
  readonly view: string;
  readonly pid: number;
  readonly began: string;
}

export class FolderInUseError extends StoreError {}

/** The folder may be another's by now: nothing more is written there [S8]. */
export class FolderLostError extends StoreError {}

const lockName = /^\.owner-([0-9a-f]{8})-(\d+)-(\d+)-[0-9a-f]{8}$/;
const heartbeatMs = 5000;
/** A process that cannot be seen is dead when its lock did not change for so long while one looked [S8]. */
const silenceMs = 3 * heartbeatMs;
/** After so long without a heartbeat, such as in a process that stood still, the lock is looked at before a write. */
const overdueMs = 2 * heartbeatMs;
const lookEveryMs = 250;

export const waitNotice = `waiting up to ${silenceMs / 1000} seconds: a bot that cannot be seen from here may have the data folder`;

export type OwnerLock = Awaited<ReturnType<typeof takeOwnerLock>>;

/** How long to look at locks of processes that cannot be seen. */
interface Watch {
  /** Called once, before such a wait begins. */
  readonly onWait?: (() => void) | undefined;
  /** Ends the wait, with its reason. */
  readonly signal?: AbortSignal | undefined;
}

interface LockOptions extends Watch {
  /** Called at every heartbeat. */
  readonly onBeat?: () => void;
  /** Called once, when the lock is found gone; not after its release. */
  readonly onLost?: (error: FolderLostError) => void;
  /** 8 hexadecimal digits. Asking again with the same ones ignores what a failure left. */
  readonly mark?: string;
}

/**
 * Takes a data folder's lock, which one process has at a time [S8]; a dead process's is taken over.
 * @throws {FolderInUseError} where another process, or another store of this one, has it.
 */
export async function takeOwnerLock(
  fileSystem: FileSystem,
  folder: string,
  {
    onBeat = () => {},
    onLost = () => {},
    mark = randomBytes(4).toString('hex'),
    ...waiting
  }: LockOptions = {},
) {
  const began = (await processSeen(fileSystem, 'self')).began ?? '0';
  const view = (await ownView(fileSystem)) ?? randomBytes(4).toString('hex');
  const path = join(folder, `.owner-${view}-${process.pid}-${began}-${mark}`);
  // A failure leaves the file to the next owner.
  const discard = () => fileSystem.unlink(path).catch(() => undefined);
  let beatAt = Date.now();
  async function touch(): Promise<void> {
    await fileSystem.touch(path, new Date());
    beatAt = Date.now();
  }
  try {
    // Announced before looking: of two who start together, at least one notices the other.
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_NOFOLLOW;
    await withFile(fileSystem.open(path, flags, 0o600), () => Promise.resolve());
    await touch();
    const { alive, isSeen, dead } = await look(fileSystem, folder, { ...waiting, mark, meanwhile: touch });
    if (alive !== undefined) throw inUse(folder, alive, isSeen);
    // What a killed process wrote last may be only in memory: nothing is built on that.
    if (dead.length > 0) await fileSystem.syncAll(folder);
    // One that only stood still finds its lock gone.
    for (const { name } of dead) await unlessMissing(fileSystem.unlink(join(folder, name)));
  } catch (error) {
    await discard();
    throw error;
  }

  let lost: FolderLostError | undefined;
  let beating: Promise<void> | undefined;
  const heartbeat = setInterval(() => {
    // A full or read-only disk does not stop the bot; the next beat tries again.
    beat().catch(() => undefined);
    if (lost === undefined) onBeat();
  }, heartbeatMs).unref();

  /** One at a time: a share that hangs gathers none. */
  function beat(): Promise<void> {
    beating ??= touch()
      .catch((error: unknown) => {
        if (!['ENOENT', 'ENOTDIR'].includes(errorCode(error) ?? '')) throw error;
        const text = `The lock of the data folder ${folder} is gone: another bot may have the folder by now, so this one writes nothing more and stops`;
        clearInterval(heartbeat);
        lost ??= new FolderLostError(text, folder, { cause: error });
        onLost(lost);
      })
      .finally(() => (beating = undefined));
    return beating;
  }

  return {
    /** Resolves while the folder is this process's. @throws {FolderLostError} */
    async assertHeld(): Promise<void> {
      if (lost === undefined && Math.abs(Date.now() - beatAt) > overdueMs) await beat();
      if (lost !== undefined) throw lost;
    },
    async release(): Promise<void> {
      clearInterval(heartbeat);
      await beating?.catch(() => undefined);
      await discard();
    },
  };
}

/** Changes nothing, for where no lock can be taken. @throws {FolderInUseError} */
export async function assertFree(fileSystem: FileSystem, folder: string, mark: string): Promise<void> {
  const { alive, isSeen } = await look(fileSystem, folder, { mark });
  if (alive !== undefined) throw inUse(folder, alive, isSeen);
}

/** The process that uses a data folder, if any; changes nothing. */
export async function findOwner(fileSystem: FileSystem, folder: string) {
  const { alive, isSeen } = await look(fileSystem, folder);
  return alive && { pid: alive.pid, lockFile: alive.name, isHere: isSeen };
}

function inUse(folder: string, { pid, name }: Owner, isSeen: boolean) {
  const owner = isSeen ? `process ${pid}` : 'a bot on another machine or in another container';
  const text = `The data folder ${folder} is in use by ${owner} (its lock file: ${name}): stop that one, or give each a folder of its own`;
  return new FolderInUseError(text, name);
}

/** Whether the first living owner was seen, or only its heartbeats. */
interface Found {
  readonly alive?: Owner;
  readonly isSeen: boolean;
  readonly dead: readonly Owner[];
}

/** The first living owner without this mark, or all dead ones. */
async function look(
  fileSystem: FileSystem,
  folder: string,
  { mark, ...watching }: Watch & { readonly mark?: string; readonly meanwhile?: () => Promise<void> } = {},
): Promise<Found> {
  const dead: Owner[] = [];
  const unseen: Owner[] = [];
  const view = await ownView(fileSystem);
  for (const { name } of (await unlessMissing(fileSystem.readdir(folder))) ?? []) {
    const [, itsView = '', pid, began = ''] = lockName.exec(name) ?? [];
    if (pid === undefined || name.endsWith(`-${mark}`)) continue;
    const owner = { name, view: itsView, pid: Number(pid), began };
    const state = owner.view === view ? await stateOf(fileSystem, owner) : 'unseen';
    if (state === 'alive') return { alive: owner, isSeen: true, dead };
    (state === 'dead' ? dead : unseen).push(owner);
  }
  if (unseen.length === 0) return { isSeen: true, dead };
  return {
    alive: await firstBeating(fileSystem, folder, unseen, watching),
    isSeen: false,
    dead: [...dead, ...unseen],
  };
}

/** The first whose lock changes while one looks: clocks of other machines, and of disks, may differ from one's own. */
async function firstBeating(
  fileSystem: FileSystem,
  folder: string,
  owners: readonly Owner[],
  { onWait, signal, meanwhile }: Watch & { readonly meanwhile?: () => Promise<void> },
): Promise<Owner | undefined> {
  const touches = () => Promise.all(owners.map(({ name }) => touchedAt(fileSystem, join(folder, name))));
  const first = await touches();
  onWait?.();
  for (const end = performance.now() + silenceMs; performance.now() < end;) {
    await unlessAborted(signal, wait(lookEveryMs));
    await meanwhile?.();
    const now = await touches();
    const changed = owners.find((_, index) => now[index] !== undefined && now[index] !== first[index]);
    if (changed !== undefined) return changed;
    if (now.every((time) => time === undefined)) return undefined;
  }
  return undefined;
}

/** By opening it, which network shares answer from the server and not from a cache. */
async function touchedAt(fileSystem: FileSystem, path: string): Promise<bigint | undefined> {
  const opening = fileSystem.open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  return unlessMissing(withFile(opening, async (file) => (await file.stat()).mtimeNs));
}

/**
 * Names the processes that this one can see for certain: those of its PID namespace, under this running kernel. A
 * host's name says neither: containers may share it. `undefined` where the system does not tell.
 */
async function ownView(fileSystem: FileSystem): Promise<string | undefined> {
  const opening = fileSystem.open('/proc/self/ns/pid', constants.O_RDONLY);
  const namespace = await withFile(opening, (file) => file.stat()).catch(() => undefined);
  const boot = await textOf(fileSystem, '/proc/sys/kernel/random/boot_id');
  // Where /proc is another namespace's, it shows others under this one's numbers.
  const isOwn = (await processSeen(fileSystem, 'self')).pid === process.pid;
  if (namespace === undefined || boot === undefined || !isOwn) return undefined;
  return createHash('sha256').update(`${hostname()} ${boot} ${namespace.ino}`).digest('hex').slice(0, 8);
}

async function stateOf(fileSystem: FileSystem, { pid, began }: Owner): Promise<'alive' | 'dead' | 'unseen'> {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (errorCode(error) === 'ESRCH') return 'dead';
  }
  const seen = await processSeen(fileSystem, pid);
  if (seen.isDead) return 'dead';
  // Other users' processes may be hidden.
  if (seen.began === undefined || began === '0') return 'unseen';
  // The number may belong to another process by now: a restarted container's bot has the same one.
  return seen.began === began ? 'alive' : 'dead';
}

/** Of what the system tells: when it began, in ticks since the machine did, and whether only its number is left. */
async function processSeen(fileSystem: FileSystem, pid: number | 'self') {
  const stat = (await textOf(fileSystem, `/proc/${pid}/stat`)) ?? '';
  // The second field is the program's name in brackets, which may itself hold spaces and brackets.
  const [state = '', ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return { pid: Number.parseInt(stat, 10), began: fields[18], isDead: state === 'Z' || state === 'X' };
}

async function textOf(fileSystem: FileSystem, path: string): Promise<string | undefined> {
  const opening = fileSystem.open(path, constants.O_RDONLY);
  return withFile(opening, (file) => readBytes(file, 0, 4096)).then(String, () => undefined);
}

/** A start has nothing else yet that keeps the process alive. */
function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
