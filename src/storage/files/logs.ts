import { constants } from 'node:fs';
import { dirname } from 'node:path';
import type { z } from 'zod';
import { StoreError } from '../../core/errors.ts';
import { createTimeSlice } from '../../core/time.ts';
import type { LogEntry } from '../../core/store.ts';
import type { FileParts } from './documents.ts';
import {
  closeQuietly,
  isMissing,
  toStoreError,
  unlessMissing,
  withFile,
  type OpenFile,
} from './file-system.ts';
import {
  createLogStates,
  formatLine,
  formatRecord,
  linesBackward,
  linesForward,
  parseLine,
  type LogLine,
  type LogState,
} from './log-lines.ts';

interface WaitingRecord {
  readonly json: string;
  readonly resolve: (sequence: number) => void;
  readonly reject: (reason: unknown) => void;
}

const readFlags = constants.O_RDONLY | constants.O_NOFOLLOW;
const appendFlags = constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW;

/** Logs, files of JSON lines; failures are those of the file system or `StoreError`. */
export function createLogs({ fileSystem, disk, locks, pathOf, quarantine, logger }: FileParts) {
  const states = createLogStates();
  const waiting = new Map<string, WaitingRecord[]>();

  /** Writers that wait for the same log share one write and one sync [S2]. */
  function append(log: string, record: object): Promise<number> {
    return new Promise((resolve, reject) => {
      const json = formatRecord(record);
      const batch = waiting.get(log) ?? [];
      waiting.set(log, batch);
      batch.push({ json, resolve, reject });
      // Whichever turn comes first takes all that wait by then; the others find nothing left to do.
      locks.run(log, () => flush(log)).catch(reject);
    });
  }

  async function flush(log: string): Promise<void> {
    const batch = waiting.get(log);
    if (batch === undefined) return;
    waiting.delete(log);
    try {
      const path = await pathOf(log);
      const first = await withFile(openToAppend(path), (file) => write(log, path, file, batch));
      for (const [index, { resolve }] of batch.entries()) resolve(first + index);
    } catch (error) {
      for (const { reject } of batch) reject(toStoreError(log, 'appended to', error));
    }
  }

  async function openToAppend(path: string): Promise<OpenFile> {
    try {
      return await fileSystem.open(path, appendFlags, 0o600);
    } catch (error) {
      if (!isMissing(error)) throw error;
      await disk.ensureFolder(dirname(path));
      return fileSystem.open(path, appendFlags, 0o600);
    }
  }

  /** Resolves with the first record's sequence number when all are on disk. */
  async function write(
    log: string,
    path: string,
    file: OpenFile,
    batch: readonly WaitingRecord[],
  ): Promise<number> {
    const state = await states.of(log, file);
    // What a kill tore off, or what is left of an append that failed.
    if ((await file.stat()).size > BigInt(state.end)) await file.truncate(state.end);
    const lines = batch.map(({ json }, index) => formatLine(state.highest + 1 + index, json));
    const bytes = Buffer.concat(state.isOpenLine ? [Buffer.from('\n'), ...lines] : lines);
    try {
      await writeAll(log, file, bytes, state.end);
      await file.datasync();
      // The file may be new in its folder.
      if (state.end === 0) await disk.syncFolder(dirname(path));
    } catch (error) {
      states.rejected(log, state.end);
      // Where this fails too, the next append does it; until then no reader looks behind the good end.
      await file.truncate(state.end).catch(() => undefined);
      throw error;
    }
    const highest = state.highest + batch.length;
    const end = state.end + bytes.length;
    states.set(log, { inode: state.inode, end, isOpenLine: false, newest: highest, highest });
    return state.highest + 1;
  }

  /** The open file with a state that fits it: only while the log's lock is held. The caller closes the file. */
  async function open(log: string) {
    const path = await pathOf(log);
    const file = await unlessMissing(fileSystem.open(path, readFlags));
    if (file === undefined) return undefined;
    try {
      return { path, file, state: await states.of(log, file) };
    } catch (error) {
      await closeQuietly(file);
      throw error;
    }
  }

  async function* scan<T>(log: string, schema: z.ZodType<T>, after: number): AsyncGenerator<LogEntry<T>> {
    // Appends go behind `end`, rewrites go into another file: the snapshot holds without the lock.
    const snapshot = await locks.run(log, () => open(log));
    if (snapshot === undefined) return;
    const { file, state } = snapshot;
    let skipped = 0;
    const pause = createTimeSlice();
    try {
      for await (const line of after > 0 ? linesAfter(file, state.end, after) : allLines(file, state.end)) {
        await pause();
        const record = line === undefined ? undefined : schema.safeParse(line.record);
        if (line !== undefined && record?.success === true)
          yield { sequence: line.sequence, record: record.data };
        else if (line?.record !== undefined || line === undefined) skipped += 1;
      }
    } finally {
      await closeQuietly(file);
      if (skipped > 0) logger.warn('log lines skipped', { log, skipped });
    }
  }

  async function lastSequence(log: string): Promise<number> {
    return locks.run(log, async () => {
      const snapshot = await open(log);
      if (snapshot === undefined) return 0;
      await closeQuietly(snapshot.file);
      return snapshot.state.newest;
    });
  }

  /** Erases what it replaces [S7]. Lines that `schema` refuses stay as they are. */
  async function rewrite<T>(
    log: string,
    schema: z.ZodType<T>,
    change: (entry: LogEntry<T>) => T | undefined,
  ): Promise<void> {
    await locks.run(log, async () => {
      const snapshot = await open(log);
      if (snapshot === undefined) return;
      const { path, file, state } = snapshot;
      try {
        await quarantine.eraseCopies(log, path);
        const rewritten = await rewriteLines(file, state, schema, change);
        if (rewritten === undefined) return;
        const { bytes, newest } = rewritten;
        const written = await disk.replaceFile({ key: log, path, bytes, former: 'erased' });
        if (written === undefined) return;
        const { highest } = state;
        states.set(log, { inode: written.ino, end: bytes.length, isOpenLine: false, newest, highest });
      } finally {
        await closeQuietly(file);
      }
    });
  }

  return { append, scan, lastSequence, rewrite, states };
}

async function writeAll(log: string, file: OpenFile, bytes: Buffer, position: number): Promise<void> {
  let written = 0;
  while (written < bytes.length) {
    const count = await file.write(bytes.subarray(written), position + written);
    if (count === 0) throw new StoreError(`${log} could not be appended to: the disk takes no more`, log);
    written += count;
  }
}

async function* allLines(file: OpenFile, end: number): AsyncGenerator<LogLine | undefined> {
  for await (const { bytes } of linesForward(file, end)) yield parseLine(bytes);
}

/** The lines with a higher number, first to last; of what is before them only the nearest line is read. */
async function* linesAfter(file: OpenFile, end: number, after: number): AsyncGenerator<LogLine | undefined> {
  const found: (LogLine | undefined)[] = [];
  const pause = createTimeSlice();
  for await (const { bytes } of linesBackward(file, end)) {
    await pause();
    const line = parseLine(bytes);
    if (line !== undefined && line.sequence <= after) break;
    found.push(line);
  }
  yield* found.toReversed();
}

/** The log's new content and newest number, or `undefined` where every line stays as it is. */
async function rewriteLines<T>(
  file: OpenFile,
  state: LogState,
  schema: z.ZodType<T>,
  change: (entry: LogEntry<T>) => T | undefined,
): Promise<{ readonly bytes: Buffer; readonly newest: number } | undefined> {
  const kept: Buffer[] = [];
  let newest = 0;
  const pause = createTimeSlice();
  // What is behind the end is of an append that was torn off or rejected.
  let isChanged = (await file.stat()).size > BigInt(state.end);
  for await (const { bytes } of linesForward(file, state.end)) {
    await pause();
    const line = parseLine(bytes);
    // The mark at the end is set anew.
    if (line !== undefined && line.record === undefined) continue;
    const record = line === undefined ? undefined : schema.safeParse(line.record);
    let output: Buffer = Buffer.concat([bytes, Buffer.from('\n')]);
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
  if (!isChanged) return undefined;
  if (newest < state.highest) kept.push(formatLine(state.highest));
  return { bytes: Buffer.concat(kept), newest };
}
