import { constants } from 'node:fs';
import { join } from 'node:path';

import pLimit from 'p-limit';

import type { LazyOption } from '../../core/store.ts';
import type { Disk } from './disk.ts';
import {
  closeQuietly,
  readWhole,
  unlessMissing,
  withFile,
  writeWhole,
  type FileSystem,
  type OpenFile,
} from './file-system.ts';
import { formatLine, inOrder, parseLine, type JournalChange, type JournalRecord } from './journal-lines.ts';

const segmentName = /^\.journal-(\d+)$/;
const flags = constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW;
/** Milliseconds until lazy changes are written, unless one comes that cannot wait, and takes them along: each write on its way to a thread and back costs a turn a twentieth. */
const lazyMs = 20;
const newline = Buffer.from('\n');
const nothing = Buffer.alloc(0);

/** One of the journal's files, with where in it the changes of a key stand: bytes from the beginning, and how many. */
interface Segment {
  readonly path: string;
  readonly file: OpenFile;
  /** The same file, where what is written is on disk at once. */
  readonly synced: OpenFile;
  /** Bytes up to the end of the last good line. */
  end: number;
  /** The last of them, which no sync has brought on disk. They are written once more with the next change that must be there: one call does it all. */
  unsynced: Buffer;
  /** A write failed, and what it left behind `end` could not be cut off. */
  isTorn: boolean;
  readonly ranges: Map<string, { readonly at: number; readonly length: number }[]>;
  /** It has changes that still wait for a sync. */
  owesSync: boolean;
}

/** `reject` is of those that are synced now: all others count as made. */
interface Waiting {
  readonly record: JournalRecord;
  readonly when: 'now' | 'soon' | 'any time';
  readonly resolve?: () => void;
  readonly reject?: (reason: unknown) => void;
}

export interface JournalParts {
  readonly fileSystem: FileSystem;
  readonly disk: Disk;
  /** The data folder. */
  readonly folder: string;
}

export type Journal = ReturnType<typeof createJournal>;

/**
 * Where every change is on disk before it is acknowledged [S2]: JSON lines in hidden files of the data folder. Changes that wait share one write,
 * which is on disk when it is done; documents, texts and logs follow behind. Failures are those of the file system.
 */
export function createJournal({ fileSystem, disk, folder }: JournalParts) {
  const alone = pLimit(1);
  let open: Segment | undefined;
  let sealed: Segment[] = [];
  let waiting: Waiting[] = [];
  let lazily: NodeJS.Timeout | undefined;
  let lastNumber = 0;
  let lastWritten = 0;
  let lastSynced = 0;
  let lastSegment = 0;

  /** Resolves with its number when it is on disk; at once where that can wait. */
  async function add(change: JournalChange, when: Waiting['when']): Promise<number> {
    const record = numbered(change);
    if (when === 'now')
      await new Promise<void>((resolve, reject) => {
        waiting.push({ record, when, resolve, reject });
        // Whichever turn comes first takes all that wait by then; the others find nothing left to do.
        void alone(writeWaiting);
      });
    else {
      waiting.push({ record, when });
      lazily ??= setTimeout(() => {
        lazily = undefined;
        void alone(writeWaiting);
      }, lazyMs).unref();
    }
    return record.number;
  }

  function numbered(change: JournalChange): JournalRecord {
    lastNumber += 1;
    return { ...change, number: lastNumber };
  }

  /** Never rejects: what counts as made and cannot be written now goes with the next. */
  async function writeWaiting(): Promise<void> {
    const batch = waiting;
    waiting = [];
    if (batch.length === 0) return;
    try {
      await write(batch);
      for (const { resolve } of batch) resolve?.();
    } catch (error) {
      waiting.unshift(...batch.filter(({ when }) => when !== 'now'));
      for (const { reject } of batch) reject?.(error);
    }
  }

  async function write(batch: readonly Pick<Waiting, 'record' | 'when'>[]): Promise<void> {
    open ??= await openSegment();
    const segment = open;
    const { path, file, synced, end, unsynced } = segment;
    const lines = batch.map(({ record }) => formatLine({ ...record, synced: lastSynced }));
    const last = batch.at(-1)?.record.number ?? lastWritten;
    if (segment.isTorn) await file.truncate(end);
    segment.isTorn = true;
    try {
      const bytes = Buffer.concat([unsynced, ...lines]);
      if (batch.some(({ when }) => when === 'now')) {
        await writeWhole(synced, path, bytes, end - unsynced.length);
        isSynced(segment, last);
      } else {
        await writeWhole(file, path, bytes.subarray(unsynced.length), end);
        segment.unsynced = bytes;
        segment.owesSync ||= batch.some(({ when }) => when === 'soon');
      }
      lastWritten = last;
    } catch (error) {
      await segment.file.truncate(segment.end).catch(() => undefined);
      throw error;
    }
    segment.isTorn = false;
    for (const [index, { record }] of batch.entries()) {
      const length = lines[index]?.length ?? 0;
      const ranges = segment.ranges.get(record.key);
      if (ranges === undefined) segment.ranges.set(record.key, [{ at: segment.end, length }]);
      else ranges.push({ at: segment.end, length });
      segment.end += length;
    }
  }

  async function sync(segment: Segment): Promise<void> {
    await segment.file.datasync();
    isSynced(segment, lastWritten);
  }

  function isSynced(segment: Segment, upTo: number): void {
    segment.unsynced = nothing;
    segment.owesSync = false;
    lastSynced = upTo;
  }

  async function openSegment(): Promise<Segment> {
    lastSegment += 1;
    const path = join(folder, `.journal-${lastSegment}`);
    const file = await fileSystem.open(path, flags, 0o600);
    try {
      await disk.syncFolder(folder);
      const synced = await fileSystem.openSynced(path);
      return {
        path,
        file,
        synced,
        end: 0,
        unsynced: nothing,
        isTorn: false,
        ranges: new Map(),
        owesSync: false,
      };
    } catch (error) {
      await closeQuietly(file);
      throw error;
    }
  }

  function segments(): readonly Segment[] {
    return open === undefined ? sealed : [...sealed, open];
  }

  /** Of the key's changes the newest `kept` stay. */
  async function blank(segment: Segment, key: string, kept: number): Promise<void> {
    const { file, ranges, unsynced } = segment;
    const found = ranges.get(key);
    if (found === undefined && !segment.isTorn) return;
    if (segment.isTorn) await file.truncate(segment.end);
    segment.isTorn = false;
    const blanked = found?.slice(0, found.length - kept) ?? [];
    for (const { at, length } of blanked) {
      const spaces = Buffer.alloc(length, ' ');
      newline.copy(spaces, length - 1);
      // Nor is it written once more.
      const behindSync = at - (segment.end - unsynced.length);
      if (behindSync >= 0) spaces.copy(unsynced, behindSync);
      await writeWhole(file, key, spaces, at);
    }
    await file.datasync();
    if (found === undefined || kept === 0) ranges.delete(key);
    else ranges.set(key, found.slice(-kept));
  }

  return {
    /** Resolves with the change's number when it is on disk; at once with that of a lazy one, which is written a moment later. When it rejects, the change was never made. */
    commit: (change: JournalChange, { isLazy = false }: LazyOption = {}) =>
      add(change, isLazy ? 'soon' : 'now'),
    /** The same of what only saves work after a kill: no sync need come. */
    note: (change: JournalChange) => add(change, 'any time'),
    get owesSync(): boolean {
      return open?.owesSync === true || waiting.length > 0;
    },
    /** Puts on disk what was lazy. */
    sync: () =>
      alone(async () => {
        await writeWaiting();
        if (open?.owesSync === true) await sync(open);
      }),
    /** Whether it may hold anything of a key, be it of a change that was rejected. */
    mayHold: (key: string) =>
      waiting.some(({ record }) => record.key === key) ||
      segments().some(({ ranges, isTorn }) => isTorn || ranges.has(key)),
    /** All keys that it holds changes of. */
    keys: (): ReadonlySet<string> =>
      new Set([
        ...waiting.map(({ record }) => record.key),
        ...segments().flatMap(({ ranges }) => [...ranges.keys()]),
      ]),
    /** Bytes on disk. */
    get size(): number {
      return segments().reduce((sum, { end }) => sum + end, 0);
    },
    /** Takes a key's changes off the disk, all of which must be in its file by now, synced [S7]. */
    erase: (key: string) =>
      alone(async () => {
        // Of what is blanked a power loss may keep any part, which must not be carried out again. A full disk takes no more lines.
        waiting = waiting.filter(({ record }) => record.key !== key);
        const settled = write([{ record: numbered({ kind: 'settled', key }), when: 'now' }]);
        const isSettled = await settled.then(
          () => true,
          () => false,
        );
        for (const segment of segments()) await blank(segment, key, isSettled && segment === open ? 1 : 0);
        if (isSettled && open !== undefined) await blank(open, key, 0);
      }),
    /** From here on changes go into a new segment; resolves with the keys that have changes in those before. */
    seal: () =>
      alone(async () => {
        await writeWaiting();
        if (open?.owesSync === true) await sync(open);
        if (open !== undefined) sealed = [...sealed, open];
        open = undefined;
        return { segments: sealed, keys: new Set(sealed.flatMap(({ ranges }) => [...ranges.keys()])) };
      }),
    /** Removes what was sealed, all of whose changes must be in their files by now, synced; what was sealed since stays. */
    removeSealed: (emptied: readonly Segment[]) =>
      alone(async () => {
        if (emptied.length === 0) return;
        for (const segment of emptied) {
          await unlessMissing(fileSystem.unlink(segment.path));
          await close(segment);
        }
        sealed = sealed.filter((segment) => !emptied.includes(segment));
        // Before the next segment goes: were one to come back after that, its changes would be made once more.
        await disk.syncFolder(folder);
      }),
    /** What an earlier process left, in order; what was taken out is passed over, and what was not on disk counts up to the first line that is not whole. */
    async read(): Promise<readonly JournalRecord[]> {
      const records: JournalRecord[] = [];
      const former = await formerSegments(fileSystem, folder);
      for (const { path } of former) {
        const bytes = await withFile(
          fileSystem.open(path, constants.O_RDONLY | constants.O_NOFOLLOW),
          readWhole,
        );
        const lines = bytes.toString('utf8').split('\n').map(parseLine);
        // All of a segment is on disk before the next is begun.
        records.push(
          ...(path === former.at(-1)?.path ? inOrder(lines) : lines.flatMap((line) => line.records)),
        );
      }
      return records;
    },
    /** Removes what `read` has told, when it is in its files, synced. */
    async removeFormer(): Promise<void> {
      const former = await formerSegments(fileSystem, folder);
      for (const { path } of former) await unlessMissing(fileSystem.unlink(path));
      if (former.length > 0) await disk.syncFolder(folder);
    },
    /** Lets go of the files, and leaves them where they are; what the disk still refuses is lost. */
    close: () =>
      alone(async () => {
        await writeWaiting();
        waiting = [];
        for (const segment of segments()) await close(segment);
        open = undefined;
        sealed = [];
      }),
  };
}

async function close({ file, synced }: Segment): Promise<void> {
  await closeQuietly(synced);
  await closeQuietly(file);
}

async function formerSegments(fileSystem: FileSystem, folder: string) {
  const entries = (await unlessMissing(fileSystem.readdir(folder))) ?? [];
  return entries
    .flatMap(({ name }) => {
      const number = segmentName.exec(name)?.[1];
      return number === undefined ? [] : [{ path: join(folder, name), number: Number(number) }];
    })
    .toSorted((a, b) => a.number - b.number);
}
