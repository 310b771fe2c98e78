import { constants, type BigIntStats } from 'node:fs';
import { dirname } from 'node:path';

import type { z } from 'zod';

import { lruCache } from '../../core/limits.ts';
import type { LogEntry, LogState, RewrittenLog } from '../../core/store.ts';
import { createTimeSlice } from '../../core/time.ts';
import { formatRecord } from '../document-text.ts';
import { editingMs, type FileParts } from './documents.ts';
import {
  closeQuietly,
  readBytes,
  toStoreError,
  unlessMissing,
  withFile,
  writeWhole,
  type OpenFile,
} from './file-system.ts';
import {
  formatLine,
  inspect,
  linesBackward,
  linesOf,
  newline,
  noFile,
  parseLine,
  rewriteLines,
  type LogFile,
} from './log-lines.ts';

interface WaitingRecord {
  readonly json: string;
  readonly resolve: (sequence: number) => void;
  readonly reject: (reason: unknown) => void;
}

const readFlags = constants.O_RDONLY | constants.O_NOFOLLOW;
const appendFlags = constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW;
const keptLogs = 1000;
/** Until the rest of a failed append is cut off. */
const cutAgainMs = 5000;

interface KnownLog extends LogFile {
  readonly edition: number;
  /** Whether this process has brought the file's name on disk. */
  readonly isNamed: boolean;
}

/** Files of JSON lines, changed only by their owner. Failures are the file system's or `StoreError`. */
export function createLogs(
  { fileSystem, disk, locks, pathOf, quarantine, logger }: FileParts,
  isOwner: () => boolean,
) {
  const known = lruCache<string, KnownLog>(keptLogs);
  /** Logs whose file may go on behind its last good line, after a rejected append. */
  const torn = new Map<string, KnownLog>();
  /** Those of them that are looked at again soon. */
  const cutting = new Set<string>();
  const waiting = new Map<string, WaitingRecord[]>();
  let editions = 0;

  /** Only while the log's lock is held. */
  async function stateOf(log: string, path: string): Promise<KnownLog> {
    const before = torn.get(log) ?? known.get(log);
    const stats = await unlessMissing(fileSystem.lstat(path));
    if (before !== undefined && isAsKnown(before, stats)) return before;
    const isOwn = torn.has(log) && before?.inode === stats?.ino;
    const state = before !== undefined && isOwn ? before : await inspected(log, path, before, stats);
    if (state.size === state.end) return state;
    const age = stats === undefined ? 0 : Date.now() - Number(stats.mtimeMs);
    return isOwn || age >= editingMs ? cut(log, path, state) : cutLater(log, state);
  }

  async function inspected(
    log: string,
    path: string,
    before: KnownLog | undefined,
    stats: BigIntStats | undefined,
  ): Promise<KnownLog> {
    const file = stats === undefined ? noFile : await withFile(fileSystem.open(path, readFlags), inspect);
    // Shortening the file by hand frees no numbers: cursors stand on them.
    const highest = Math.max(file.highest, before?.highest ?? 0);
    return remember(log, { ...file, highest, edition: (editions += 1), isNamed: false });
  }

  /** Cuts off the rest of an unfinished write, whose words no deletion would find [S7]. */
  async function cut(log: string, path: string, state: KnownLog): Promise<KnownLog> {
    if (!isOwner()) return cutLater(log, state);
    try {
      await withFile(fileSystem.open(path, constants.O_RDWR | constants.O_NOFOLLOW), async (file) => {
        await file.truncate(state.end);
        await file.datasync();
      });
      return remember(log, { ...state, size: state.end });
    } catch {
      return cutLater(log, state);
    }
  }

  function cutLater(log: string, state: KnownLog): KnownLog {
    if (cutting.has(log)) return state;
    cutting.add(log);
    const again = async (): Promise<unknown> => stateOf(log, await pathOf(log));
    const retry = (): void => {
      cutting.delete(log);
      locks.run(log, again).catch(() => cutLater(log, state));
    };
    setTimeout(retry, cutAgainMs).unref();
    return state;
  }

  function remember(log: string, state: KnownLog): KnownLog {
    torn.delete(log);
    known.set(log, state);
    return state;
  }

  function forget(isForgotten: (log: string) => boolean): void {
    for (const log of [...known.keys(), ...torn.keys()].filter(isForgotten)) {
      known.delete(log);
      torn.delete(log);
    }
  }

  /** Writers that wait for the same log share one write and one sync. */
  function append(log: string, record: object): Promise<number> {
    return new Promise((resolve, reject) => {
      const json = formatRecord(record);
      const batch = waiting.get(log) ?? [];
      waiting.set(log, batch);
      batch.push({ json, resolve, reject });
      // Whichever turn comes first takes all that wait by then; the others find nothing left to do.
      if (batch.length === 1) locks.run(log, () => flush(log)).catch(reject);
    });
  }

  async function flush(log: string): Promise<void> {
    const batch = waiting.get(log) ?? [];
    waiting.delete(log);
    try {
      const first = await write(
        log,
        batch.map(({ json }) => json),
      );
      for (const [index, { resolve }] of batch.entries()) resolve(first + index);
    } catch (error) {
      for (const { reject } of batch) reject(toStoreError(log, 'appended to', error));
    }
  }

  /** Resolves with the first record's sequence number when all are on disk. */
  async function write(log: string, records: readonly string[]): Promise<number> {
    const path = await pathOf(log);
    const state = await stateOf(log, path);
    const first = state.highest + 1;
    const lines = records.map((json, index) => formatLine(first + index, json));
    const bytes = Buffer.concat(state.isOpenLine ? [newline, ...lines] : lines);
    if (!state.isNamed) await disk.ensureFolder(dirname(path));
    await withFile(fileSystem.open(path, appendFlags, 0o600), async (file) => {
      const { ino: inode, size: before } = await file.stat();
      torn.set(log, { ...state, inode, size: state.end + bytes.length });
      if (before > BigInt(state.end)) await file.truncate(state.end);
      try {
        await writeWhole(file, log, bytes, state.end);
        await file.datasync();
        if (!state.isNamed) await disk.syncFolder(dirname(path));
      } catch (error) {
        await file.truncate(state.end).catch(() => cutLater(log, state));
        throw error;
      }
      const size = state.end + bytes.length;
      const newest = state.highest + records.length;
      remember(log, { ...state, inode, ...wholeUpTo(size), newest, highest: newest });
    });
    return first;
  }

  /** The log's file, if any, and a matching state; only while the log's lock is held. The caller closes the file. */
  async function open(log: string) {
    const path = await pathOf(log);
    const file = await unlessMissing(fileSystem.open(path, readFlags));
    try {
      return { path, file, state: await stateOf(log, path) };
    } catch (error) {
      if (file !== undefined) closeQuietly(file);
      throw error;
    }
  }

  /** How many lines are not records; the last one may still be on its way. */
  async function damagedLines(log: string): Promise<number> {
    const opening = fileSystem.open(await pathOf(log), readFlags);
    const content =
      (await unlessMissing(
        withFile(opening, async (file) => readBytes(file, 0, Number((await file.stat()).size))),
      )) ?? Buffer.alloc(0);
    const lines = linesOf(content.subarray(0, content.lastIndexOf(newline) + 1));
    return lines.filter((bytes) => parseLine(bytes) === undefined).length;
  }

  async function* scan<T>(log: string, schema: z.ZodType<T>, after: number): AsyncGenerator<LogEntry<T>> {
    // Appends go behind `end`, rewrites go into another file: the snapshot holds without the lock.
    const { file, state } = await locks.run(log, () => open(log));
    if (file === undefined) return;
    let skipped = 0;
    const pause = createTimeSlice();
    try {
      for (const bytes of await linesAfter(file, state.end, after)) {
        await pause();
        const line = parseLine(bytes);
        const record = line === undefined ? undefined : schema.safeParse(line.record);
        if (line !== undefined && record?.success === true)
          yield { sequence: line.sequence, record: record.data };
        else if (line?.record !== undefined || line === undefined) skipped += 1;
      }
    } finally {
      closeQuietly(file);
      if (skipped > 0) logger.warn('log lines skipped', { log, skipped });
    }
  }

  async function logState(log: string): Promise<LogState> {
    const path = await pathOf(log);
    const stats = await unlessMissing(fileSystem.lstat(path));
    const before = known.get(log);
    const { newest: last, edition } =
      before !== undefined && isAsKnown(before, stats)
        ? before
        : await locks.run(log, () => stateOf(log, path));
    return { last, edition };
  }

  /** Erases what it replaces [S7]. Lines that `schema` refuses stay as they are. */
  async function rewrite<T>(
    log: string,
    schema: z.ZodType<T>,
    change: (entry: LogEntry<T>) => T | undefined,
  ): Promise<RewrittenLog> {
    return locks.run(log, async () => {
      await quarantine.eraseCopies(log);
      const { path, file, state } = await open(log);
      const from = state.edition;
      if (file === undefined) return { from, to: from };
      try {
        const { bytes, newest, isChanged } = await rewriteLines(file, state, schema, change);
        if (!isChanged) return { from, to: from };
        const written = await disk.replaceFile({ key: log, path, bytes, backup: 'none' });
        const to = (editions += 1);
        const inode = written?.ino;
        remember(log, { ...state, inode, ...wholeUpTo(bytes.length), newest, edition: to });
        return { from, to };
      } finally {
        closeQuietly(file);
      }
    });
  }

  return { append, scan, damagedLines, logState, rewrite, forget };
}

/** Whether a file is as it was left, and nothing stands behind its last good line. */
function isAsKnown({ inode, size, end }: KnownLog, stats: BigIntStats | undefined): boolean {
  return inode === stats?.ino && size === end && size === Number(stats?.size ?? 0);
}

/** Of a file just written and synced. */
function wholeUpTo(size: number) {
  return { size, end: size, isOpenLine: false, isNamed: true };
}

/** The lines with a higher number, in order; reads no further back than the nearest other line. */
async function linesAfter(file: OpenFile, end: number, after: number): Promise<readonly Buffer[]> {
  if (after === 0) return linesOf(await readBytes(file, 0, end));
  const found: Buffer[] = [];
  const pause = createTimeSlice();
  for await (const { bytes } of linesBackward(file, end)) {
    await pause();
    const line = parseLine(bytes);
    if (line !== undefined && line.sequence <= after) break;
    found.push(bytes);
  }
  return found.toReversed();
}
