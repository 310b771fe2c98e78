import { constants, type BigIntStats } from 'node:fs';
import { dirname } from 'node:path';

import { z } from 'zod';

import { lruCache } from '../../core/limits.ts';
import type { LogEntry, LogState } from '../../core/store.ts';
import { createTimeSlice } from '../../core/time.ts';
import { formatRecord, rewrittenRecord } from '../document-text.ts';
import type { FileParts } from './documents.ts';
import {
  closeQuietly,
  readBytes,
  toStoreError,
  unlessMissing,
  withFile,
  writeWhole,
  type OpenFile,
} from './file-system.ts';
import { parseJson } from '../../core/text.ts';

const newline = Buffer.from('\n');
const lineBreak = 0x0a;
const blockBytes = 64 * 1024;

/** A record under its sequence number; without one, a mark that a removed record had it. */
const lineSchema = z.object({
  sequence: z.int().min(1),
  record: z.custom<object>((value) => typeof value === 'object' && value !== null).optional(),
});

export function formatLine(sequence: number, json?: string): Buffer {
  const rest = json === undefined ? '' : `,"record":${json}`;
  return Buffer.from(`{"sequence":${sequence}${rest}}\n`);
}

/** `undefined` where it is damaged. */
function parseLine(bytes: Buffer) {
  try {
    return lineSchema.safeParse(parseJson(bytes.toString('utf8'))).data;
  } catch {
    return undefined;
  }
}

/** Without line breaks. */
function linesOf(bytes: Buffer): readonly Buffer[] {
  const lines: Buffer[] = [];
  for (let from = 0; from < bytes.length;) {
    const at = bytes.indexOf(lineBreak, from);
    const end = at === -1 ? bytes.length : at;
    if (end > from) lines.push(bytes.subarray(from, end));
    from = end + 1;
  }
  return lines;
}

/**
 * The whole lines in the first `size` bytes, from the last blocks that hold one that `isEnough`, or from all. Resolves
 * with them in order, and with where the last one ends.
 */
async function lastLines(file: OpenFile, size: number, isEnough: (line: Buffer) => boolean) {
  for (let length = blockBytes; ; length *= 4) {
    const from = Math.max(0, size - length);
    const block = await readBytes(file, from, size - from);
    // The first line may have begun before.
    const begin = from === 0 ? 0 : block.indexOf(lineBreak) + 1;
    const whole = block.lastIndexOf(lineBreak) + 1;
    const lines = linesOf(block.subarray(begin, whole));
    if (from === 0 || lines.some(isEnough)) return { lines, end: from + whole };
  }
}

interface LogFile {
  /** `undefined` where there is no file. */
  readonly inode: bigint | undefined;
  /** Bytes up to the end of the last whole line. */
  readonly end: number;
  /** Sequence number of the newest record, 0 where there is none. */
  readonly newest: number;
  /** The highest sequence number ever given out. */
  readonly highest: number;
}

const noFile: LogFile = { inode: undefined, end: 0, newest: 0, highest: 0 };

/** Reads back to the newest record. A last line without its line break was torn off [S4]. */
async function inspect(file: OpenFile): Promise<LogFile> {
  const { ino: inode, size } = await file.stat();
  const { lines, end } = await lastLines(file, Number(size), hasRecord);
  const newest = lines.findLast(hasRecord);
  const good = lines.findLastIndex((line) => parseLine(line) !== undefined);
  // Damaged lines behind the last good one had numbers too.
  const highest = (sequenceOf(lines[good]) ?? 0) + lines.length - 1 - good;
  return { inode, end, newest: sequenceOf(newest) ?? 0, highest };
}

function hasRecord(line: Buffer): boolean {
  return parseLine(line)?.record !== undefined;
}

function sequenceOf(line: Buffer | undefined): number | undefined {
  return line === undefined ? undefined : parseLine(line)?.sequence;
}

async function rewriteLines<T>(
  file: OpenFile,
  { end, highest }: LogFile,
  schema: z.ZodType<T>,
  change: (entry: LogEntry<T>) => T | undefined,
): Promise<{ readonly bytes: Buffer; readonly newest: number; readonly isChanged: boolean }> {
  const kept: Buffer[] = [];
  let newest = 0;
  const pause = createTimeSlice();
  // What is behind the end is of an append that was torn off or rejected.
  let isChanged = (await file.stat()).size > BigInt(end);
  for (const bytes of linesOf(await readBytes(file, 0, end))) {
    await pause();
    const line = parseLine(bytes);
    // The mark at the end is set again below.
    if (line !== undefined && line.record === undefined) continue;
    const after = line === undefined ? false : rewrittenRecord(line, schema, change);
    isChanged ||= after !== false;
    if (after === undefined) continue;
    const isKept = line === undefined || after === false;
    kept.push(isKept ? Buffer.concat([bytes, newline]) : formatLine(line.sequence, after));
    newest = line?.sequence ?? newest;
  }
  if (newest < highest) kept.push(formatLine(highest));
  return { bytes: Buffer.concat(kept), newest, isChanged };
}

interface WaitingRecord {
  readonly json: string;
  readonly resolve: (sequence: number) => void;
  readonly reject: (reason: unknown) => void;
}

const readFlags = constants.O_RDONLY | constants.O_NOFOLLOW;
const appendFlags = constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW;
const keptLogs = 1000;

interface KnownLog extends LogFile {
  readonly edition: number;
  /** Whether this process has brought the file's name on disk. */
  readonly isNamed: boolean;
  /** A write did not end well: what stands behind `end` was rejected. */
  readonly isTorn: boolean;
}

/** Files of JSON lines, changed only by their owner. Failures are the file system's or `StoreError`. */
export function createLogs(
  { fileSystem, disk, locks, pathOf, quarantine, logger }: FileParts,
  isOwner: () => boolean,
) {
  const known = lruCache<string, KnownLog>(keptLogs);
  const waiting = new Map<string, WaitingRecord[]>();
  let editions = 0;

  /** Only while the log's lock is held. */
  async function stateOf(log: string, path: string): Promise<KnownLog> {
    const before = known.get(log);
    const stats = await unlessMissing(fileSystem.lstat(path));
    if (before !== undefined && isAsKnown(before, stats)) return before;
    const isOwn = before?.isTorn === true && before.inode === stats?.ino;
    const state = isOwn ? before : await inspected(path, before, stats);
    return Number(stats?.size ?? 0) > state.end ? cut(log, path, state) : whole(log, state);
  }

  async function inspected(
    path: string,
    before: KnownLog | undefined,
    stats: BigIntStats | undefined,
  ): Promise<KnownLog> {
    const file = stats === undefined ? noFile : await withFile(fileSystem.open(path, readFlags), inspect);
    // Shortening the file by hand frees no numbers: cursors stand on them.
    const highest = Math.max(file.highest, before?.highest ?? 0);
    return { ...file, highest, edition: (editions += 1), isNamed: false, isTorn: false };
  }

  /** Cuts off the rest of an unfinished write, whose words no deletion would find [S7]; where that fails, the next call tries. */
  async function cut(log: string, path: string, state: KnownLog): Promise<KnownLog> {
    if (!isOwner()) return state;
    try {
      const flags = constants.O_RDWR | constants.O_NOFOLLOW;
      await withFile(fileSystem.open(path, flags), async (file) => cutOff(file, state));
      return whole(log, state);
    } catch {
      return state;
    }
  }

  /** Nothing stands behind the end. */
  function whole(log: string, state: KnownLog): KnownLog {
    const kept = { ...state, isTorn: false };
    known.set(log, kept);
    return kept;
  }

  function forget(isForgotten: (log: string) => boolean): void {
    for (const log of [...known.keys()].filter(isForgotten)) known.delete(log);
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
    const bytes = Buffer.concat(lines);
    if (!state.isNamed) await disk.ensureFolder(dirname(path));
    await withFile(fileSystem.open(path, appendFlags, 0o600), async (file) => {
      const { ino: inode, size: before } = await file.stat();
      known.set(log, { ...state, inode, isTorn: true });
      if (before > BigInt(state.end)) await file.truncate(state.end);
      try {
        await writeWhole(file, log, bytes, state.end);
        await file.datasync();
        if (!state.isNamed) await disk.syncFolder(dirname(path));
      } catch (error) {
        await cutOff(file, state).catch(() => undefined);
        throw error;
      }
      const end = state.end + bytes.length;
      const newest = state.highest + records.length;
      whole(log, { ...state, inode, end, newest, highest: newest, isNamed: true });
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

  async function* scan<T>(
    log: string,
    schema: z.ZodType<T>,
    { after = 0 }: { readonly after?: number } = {},
  ): AsyncGenerator<LogEntry<T>> {
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
    const {
      newest: last,
      edition,
      highest,
    } = before !== undefined && isAsKnown(before, stats)
      ? before
      : await locks.run(log, () => stateOf(log, path));
    return { last, edition, highest };
  }

  /** Erases what it replaces [S7]. Lines that `schema` refuses stay as they are. */
  async function rewrite<T>(
    log: string,
    schema: z.ZodType<T>,
    change: (entry: LogEntry<T>) => T | undefined,
  ): Promise<void> {
    return locks.run(log, async () => {
      await quarantine.eraseCopies(log);
      const { path, file, state } = await open(log);
      if (file === undefined) return;
      try {
        const { bytes, newest, isChanged } = await rewriteLines(file, state, schema, change);
        if (!isChanged) return;
        const written = await disk.replaceFile({ key: log, path, bytes });
        const edition = (editions += 1);
        const inode = written?.ino;
        whole(log, { ...state, inode, end: bytes.length, newest, edition, isNamed: true });
      } finally {
        closeQuietly(file);
      }
    });
  }

  return { append, scan, logState, rewrite, forget };
}

/** A loss of power brings nothing of it back. */
async function cutOff(file: OpenFile, { end }: LogFile): Promise<void> {
  await file.truncate(end);
  await file.datasync();
}

/** Whether a file is as it was left, and nothing stands behind its last whole line. */
function isAsKnown({ inode, end, isTorn }: KnownLog, stats: BigIntStats | undefined): boolean {
  return !isTorn && inode === stats?.ino && end === Number(stats?.size ?? 0);
}

/** The lines with a higher number, in order; reads hardly further back than the nearest other line. */
async function linesAfter(file: OpenFile, end: number, after: number): Promise<readonly Buffer[]> {
  // Much cheaper than to read all of the line.
  const isBefore = (line: Buffer) => {
    const [, sequence] = /^\{"sequence":(\d+)/u.exec(line.toString('latin1', 0, 40)) ?? [];
    return sequence !== undefined && Number(sequence) <= after;
  };
  if (after === 0) return linesOf(await readBytes(file, 0, end));
  const { lines } = await lastLines(file, end, isBefore);
  return lines.slice(lines.findLastIndex(isBefore) + 1);
}
