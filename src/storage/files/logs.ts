import { constants, type BigIntStats } from 'node:fs';
import { dirname } from 'node:path';

import { z } from 'zod';

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
export function parseLine(bytes: Buffer) {
  try {
    return lineSchema.safeParse(parseJson(bytes.toString('utf8'))).data;
  } catch {
    return undefined;
  }
}

/** Without line breaks. */
export function linesOf(bytes: Buffer): readonly Buffer[] {
  const lines: Buffer[] = [];
  for (let from = 0; from < bytes.length;) {
    const at = bytes.indexOf(lineBreak, from);
    const end = at === -1 ? bytes.length : at;
    if (end > from) lines.push(bytes.subarray(from, end));
    from = end + 1;
  }
  return lines;
}

/** Without its line break; `start` is in the file. */
interface RawLine {
  readonly bytes: Buffer;
  readonly start: number;
}

/** The lines in the first `end` bytes, last to first, without empty ones; reads only as far back as needed. */
export async function* linesBackward(file: OpenFile, end: number): AsyncGenerator<RawLine> {
  let parts: Buffer[] = [];
  for (let position = end; position > 0;) {
    const length = Math.min(blockBytes, position);
    const block = await readBytes(file, position - length, length);
    if (block.length < length) break;
    position -= length;
    let to = block.length;
    for (
      let at = block.lastIndexOf(lineBreak);
      at !== -1;
      at = at === 0 ? -1 : block.lastIndexOf(lineBreak, at - 1)
    ) {
      const bytes = Buffer.concat([block.subarray(at + 1, to), ...parts]);
      if (bytes.length > 0) yield { bytes, start: position + at + 1 };
      parts = [];
      to = at;
    }
    parts.unshift(block.subarray(0, to));
  }
  const rest = Buffer.concat(parts);
  if (rest.length > 0) yield { bytes: rest, start: 0 };
}

export interface LogFile {
  /** `undefined` where there is no file. */
  readonly inode: bigint | undefined;
  readonly size: number;
  /** Bytes up to the end of the last good line. */
  readonly end: number;
  /** The last good line lacks its line break. */
  readonly isOpenLine: boolean;
  /** Sequence number of the newest record, 0 where there is none. */
  readonly newest: number;
  /** The highest sequence number ever given out. */
  readonly highest: number;
}

const noFile: LogFile = {
  inode: undefined,
  size: 0,
  end: 0,
  isOpenLine: false,
  newest: 0,
  highest: 0,
};

/** Reads backward to the newest record. An incomplete last line was torn off [S4]. */
async function inspect(file: OpenFile): Promise<LogFile> {
  const stats = await file.stat();
  const inode = stats.ino;
  const size = Number(stats.size);
  let end = size;
  let isOpenLine = false;
  let highest = 0;
  let damagedAfter = 0;
  for await (const { bytes, start } of linesBackward(file, size)) {
    const line = parseLine(bytes);
    const isUnterminated = start + bytes.length === size;
    if (isUnterminated) {
      if (line === undefined) end = start;
      else isOpenLine = true;
    }
    if (line === undefined) {
      // A damaged line behind the last good one had a number too.
      if (!isUnterminated && highest === 0) damagedAfter += 1;
      continue;
    }
    if (highest === 0) highest = line.sequence + damagedAfter;
    if (line.record !== undefined) return { inode, size, end, isOpenLine, newest: line.sequence, highest };
  }
  return { inode, size, end, isOpenLine, newest: 0, highest: Math.max(highest, damagedAfter) };
}

async function rewriteLines<T>(
  file: OpenFile,
  { end, size, highest }: Pick<LogFile, 'end' | 'size' | 'highest'>,
  schema: z.ZodType<T>,
  change: (entry: LogEntry<T>) => T | undefined,
): Promise<{ readonly bytes: Buffer; readonly newest: number; readonly isChanged: boolean }> {
  const kept: Buffer[] = [];
  let newest = 0;
  const pause = createTimeSlice();
  // What is behind the end is of an append that was torn off or rejected.
  let isChanged = size > end;
  for (const bytes of linesOf(await readBytes(file, 0, end))) {
    await pause();
    const line = parseLine(bytes);
    // The mark at the end is set again below.
    if (line !== undefined && line.record === undefined) continue;
    const record = line === undefined ? undefined : schema.safeParse(line.record);
    let output: Buffer = Buffer.concat([bytes, newline]);
    if (line !== undefined && record?.success === true) {
      const before = formatRecord(record.data);
      const next = change({ sequence: line.sequence, record: record.data });
      const after = next === undefined ? undefined : formatRecord(next);
      isChanged ||= after !== before;
      if (after === undefined) continue;
      if (after !== before) output = formatLine(line.sequence, after);
    }
    kept.push(output);
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
      const flags = constants.O_RDWR | constants.O_NOFOLLOW;
      await withFile(fileSystem.open(path, flags), async (file) => cutOff(file, state));
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
        await cutOff(file, state).catch(() => cutLater(log, state));
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
        const written = await disk.replaceFile({ key: log, path, bytes });
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

/** A loss of power brings nothing of it back. */
async function cutOff(file: OpenFile, { end }: Pick<LogFile, 'end'>): Promise<void> {
  await file.truncate(end);
  await file.datasync();
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
