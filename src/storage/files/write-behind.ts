import pLimit from 'p-limit';

import type { Logger } from '../../core/logger.ts';
import type { Disk } from './disk.ts';
import { orStoreError } from './file-system.ts';
import type { Journal } from './journal.ts';
import type { KeyLocks } from '../key-locks.ts';
import { isWithin } from '../keys.ts';

/** Milliseconds from a change until its file follows [S2]. */
const delayMs = 300;
/** Milliseconds until lazy changes are synced: about what comes after a turn. */
const syncMs = 50;
/** What the journal holds is brought into the files, synced, and taken out of it when it has so many bytes, or when nothing was changed for so many milliseconds. */
const journalBytes = 4 * 1024 * 1024;
const restMs = 10_000;

/** Files that follow at the same time: what people wait for comes first. At a stop nobody waits for anything else. */
const followingAtOnce = 2;
const atOnceAtStop = 16;

export type WriteBehind = ReturnType<typeof createWriteBehind>;

/** Brings into the files what the journal has acknowledged. A file that cannot be written is tried again; until then the journal keeps what it lacks. */
export function createWriteBehind({
  journal,
  disk,
  locks,
  pathOf,
  logger,
}: {
  readonly journal: Journal;
  readonly disk: Disk;
  readonly locks: KeyLocks;
  readonly pathOf: (key: string) => string;
  readonly logger: Logger;
}) {
  const owed = new Map<string, { readonly work: () => Promise<void>; readonly isListed: boolean }>();
  const erasures = new Map<string, () => Promise<unknown>>();
  const erasing = pLimit(1);
  const checkpoints = pLimit(1);
  let following: NodeJS.Timeout | undefined;
  let resting: NodeJS.Timeout | undefined;
  let syncing: NodeJS.Timeout | undefined;
  const underWay = new Set<Promise<unknown>>();
  let isBusy = false;
  let isStopping = false;

  /** Only while the key's lock is held. */
  async function write(key: string): Promise<void> {
    await owed.get(key)?.work();
    owed.delete(key);
  }

  /** Takes a key out of the journal, after which its file alone tells what it holds; resolves with whether there was anything. Only while the key's lock is held. */
  async function settle(key: string): Promise<boolean> {
    if (!journal.mayHold(key)) return false;
    await write(key);
    await disk.sync(pathOf(key));
    await journal.erase(key);
    return true;
  }

  /** Resolves with whether all of these could be written. */
  async function writeAll(keys: readonly string[]): Promise<boolean> {
    if (keys.length === 0) return true;
    const limit = pLimit(isStopping ? atOnceAtStop : followingAtOnce);
    const written = await limit.map(keys, async (key) => {
      try {
        await locks.run(key, () => write(key));
        return true;
      } catch (error) {
        logger.error('a file could not follow the journal, which keeps what it lacks', { key, error });
        return false;
      }
    });
    return written.every(Boolean);
  }

  /** Does all that was to be erased a moment later. Rejects where something cannot be erased yet, which stays owed. */
  const eraseOwed = (): Promise<void> =>
    erasing(async () => {
      const failures: unknown[] = [];
      for (const [key, work] of erasures) {
        try {
          await work();
          if (erasures.get(key) === work) erasures.delete(key);
        } catch (error) {
          failures.push(error);
        }
      }
      if (failures.length > 0) throw failures[0];
    });

  /** Empties the journal, but for what comes meanwhile; one after the other, so that none takes out what another has yet to write. */
  const checkpoint = (): Promise<void> => checkpoints(emptyJournal);

  async function emptyJournal(): Promise<void> {
    await writeAll([...owed.keys()]);
    // What was acknowledged before this is owed when its lock is free.
    const { segments, keys } = await journal.seal();
    if (!(await writeAll([...keys]))) return;
    // Only the journal tells a start after a kill to do it.
    await eraseOwed();
    await disk.eraseLeftovers();
    await disk.sync();
    await journal.removeSealed(segments);
  }

  async function follow(): Promise<void> {
    if (isBusy) return;
    isBusy = true;
    try {
      await writeAll([...owed.keys()]);
      await eraseOwed();
      if (journal.size > journalBytes) await checkpoint();
    } finally {
      isBusy = false;
      if (owed.size + erasures.size > 0) schedule();
    }
  }

  function inBackground(work: () => Promise<unknown>): void {
    const job = work()
      .catch(notEmptied)
      .finally(() => underWay.delete(job));
    underWay.add(job);
  }

  function notEmptied(error: unknown): void {
    logger.error('the journal could not be brought into the files', { error });
  }

  function schedule(): void {
    if (isStopping) return;
    if (journal.owesSync)
      syncing ??= setTimeout(() => {
        syncing = undefined;
        inBackground(journal.sync);
      }, syncMs).unref();
    following ??= setTimeout(() => {
      following = undefined;
      inBackground(follow);
    }, delayMs).unref();
    resting ??= setTimeout(rest, restMs).unref();
    resting.refresh();
  }

  function rest(): void {
    resting = undefined;
    inBackground(checkpoint);
  }

  return {
    /**
     * The journal has more of a key than its file: `work` brings all of it there. Only while the key's lock is held, which `work` finds held too.
     * A key that `isListed` has a file by now, in which a listing need not look.
     */
    owe(key: string, work: () => Promise<void>, isListed: boolean): void {
      owed.set(key, { work, isListed });
      schedule();
    },
    /** Erases a moment later, or with the next erasure; `work`, of which a key's last one counts, takes the key's lock. */
    oweErasure(key: string, work: () => Promise<unknown>): void {
      erasures.set(key, work);
      schedule();
    },
    /** The same when something was erased: a checkpoint is to follow, which brings on disk that its names are gone. */
    async eraseOwed(): Promise<void> {
      await eraseOwed();
      schedule();
    },
    write,
    /** Brings a file up to date; resolves with whether the disk allowed it. */
    tryWriting: (key: string) => writeAll(owed.has(key) ? [key] : []),
    /** Brings below a folder the files that a listing would miss, as far as the disk allows. */
    writeUnlisted: (folder: string) =>
      writeAll([...owed].flatMap(([key, { isListed }]) => (isListed || !isWithin(key, folder) ? [] : [key]))),
    /** Brings all files up to date. Rejects where one cannot be written. */
    async written(): Promise<void> {
      await eraseOwed();
      const keys = [...owed.keys()];
      for (const key of keys) await locks.run(key, () => orStoreError(key, 'written', () => write(key)));
    },
    /** The same while nothing else runs. */
    async writeAlone(): Promise<void> {
      for (const key of owed.keys()) await orStoreError(key, 'written', () => write(key));
    },
    settle,
    /** The same of all keys below a folder. */
    async settleBelow(folder: string): Promise<void> {
      for (const key of journal.keys()) if (isWithin(key, folder)) await settle(key);
    },
    async close(): Promise<void> {
      isStopping = true;
      for (const timer of [following, resting, syncing]) clearTimeout(timer);
      await Promise.all(underWay);
      await checkpoint().catch(notEmptied);
      await journal.close();
    },
  };
}
