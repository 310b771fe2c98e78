import { constants } from 'node:fs';
import type { z } from 'zod';
import type { Logger } from '../../core/logger.ts';
import type { LogEntry } from '../../core/store.ts';
import type { Disk } from './disk.ts';
import { unlessMissing } from './file-error.ts';
import type { FileSystem, OpenFile } from './file-system.ts';
import { closeQuietly } from './file-system.ts';
import type { KeyLocks } from './key-locks.ts';
import type { PathOf } from './links.ts';
import type { LogLine } from './log-lines.ts';
import { formatLine, formatRecord, linesBackward, linesForward, parseLine } from './log-lines.ts';
import type { LogState, LogStates } from './log-state.ts';
import type { Quarantine } from './quarantine.ts';

/** Reads and rewrites logs, files of JSON lines, */
export interface Logs {
  scan<T>(log: string, schema: z.ZodType<T>, after: number): AsyncGenerator<LogEntry<T>>;
  lastSequence(log: string): Promise<number>;
  /** Erases what it replaces [S7]. Lines that `schema` refuses stay as they are. */
  rewrite<T>(log: string, schema: z.ZodType<T>, change: (entry: LogEntry<T>) => T | undefined): Promise<void>;
}

interface Snapshot {
  readonly path: string;
  readonly file: OpenFile;
  readonly state: LogState;
}

export function createLogs({
  fileSystem,
  disk,
  locks,
  pathOf,
  quarantine,
  states,
  logger,
}: {
  readonly fileSystem: FileSystem;
  readonly disk: Disk;
  readonly locks: KeyLocks;
  readonly pathOf: PathOf;
  readonly quarantine: Quarantine;
  readonly states: LogStates;
  readonly logger: Logger;
}): Logs {
  /** The open file with a state that fits it: only while the log's lock is held. The caller closes the file. */
  async function open(log: string): Promise<Snapshot | undefined> {
    const path = await pathOf(log);
    const file = await unlessMissing(fileSystem.open(path, constants.O_RDONLY | constants.O_NOFOLLOW));
    if (file === undefined) return undefined;
    try {
      return { path, file, state: await states.of(log, file) };
    } catch (error) {
      await closeQuietly(file);
      throw error;
    }
  }

  async function withLog<T>(log: string, work: (snapshot: Snapshot) => Promise<T>) {
    return locks.run(log, async () => {
      const snapshot = await open(log);
      if (snapshot === undefined) return undefined;
      try {
        return await work(snapshot);
      } finally {
        await closeQuietly(snapshot.file);
      }
    });
  }

  return {
    async *scan(log, schema, after) {
      // Appends go behind `end`, rewrites go into another file: the snapshot holds without the lock.
      const snapshot = await locks.run(log, () => open(log));
      if (snapshot === undefined) return;
      const { file, state } = snapshot;
      let skipped = 0;
      try {
        for await (const line of after > 0 ? linesAfter(file, state.end, after) : allLines(file, state.end)) {
          const record = line === undefined ? undefined : schema.safeParse(line.record);
          if (line !== undefined && record?.success === true)
            yield { sequence: line.sequence, record: record.data };
          else if (line?.record !== undefined || line === undefined) skipped += 1;
        }
      } finally {
        await closeQuietly(file);
        if (skipped > 0) logger.warn('log lines skipped', { log, skipped });
      }
    },

    async lastSequence(log) {
      return (await withLog(log, ({ state }) => Promise.resolve(state.newest))) ?? 0;
    },

    async rewrite(log, schema, change) {
      await withLog(log, async ({ path, file, state }) => {
        await quarantine.eraseCopies(log, path);
        const rewritten = await rewriteLines(file, state, schema, change);
        if (rewritten === undefined) return;
        const { bytes, newest } = rewritten;
        const written = await disk.replaceFile({ key: log, path, bytes, former: 'erased' });
        if (written === undefined) return;
        const { highest } = state;
        states.set(log, { inode: written.ino, end: bytes.length, isOpenLine: false, newest, highest });
      });
    },
  };
}

async function* allLines(file: OpenFile, end: number): AsyncGenerator<LogLine | undefined> {
  for await (const { bytes } of linesForward(file, end)) yield parseLine(bytes);
}

/** The lines with a higher number, first to last; of what is before them only the nearest line is read. */
async function* linesAfter(file: OpenFile, end: number, after: number): AsyncGenerator<LogLine | undefined> {
  const found: (LogLine | undefined)[] = [];
  for await (const { bytes } of linesBackward(file, end)) {
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
  // What is behind the end is of an append that was torn off or rejected.
  let isChanged = (await file.stat()).size > BigInt(state.end);
  for await (const { bytes } of linesForward(file, state.end)) {
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
