import { constants, type BigIntStats } from 'node:fs';
import { dirname } from 'node:path';

import type { z } from 'zod';

import { growingCache } from '../../core/limits.ts';
import type { LazyOption, LogBlock, LogEntry, LogState, RewrittenLog } from '../../core/store.ts';
import { createTimeSlice } from '../../core/time.ts';
import { formatRecord } from '../document-text.ts';
import { blocksOf, entriesIn, recordIn } from '../log-blocks.ts';
import { formatLine, linesOf, parseLine, type LogLine } from '../log-line.ts';
import type { FileParts } from './documents.ts';
import {
  closeQuietly,
  isMissing,
  toStoreError,
  unlessMissing,
  withFile,
  writeWhole,
  type OpenFile,
} from './file-system.ts';
import type { JournalRecord } from './journal-lines.ts';
import { createKeptBlocks } from './kept-blocks.ts';
import { inspect, linesBackward, linesForward, noFile, rewriteLines, type LogFile } from './log-lines.ts';

interface WaitingRecord {
  readonly json: string;
  readonly isLazy: boolean;
  readonly resolve: (sequence: number) => void;
  readonly reject: (reason: unknown) => void;
}

const readFlags = constants.O_RDONLY | constants.O_NOFOLLOW;
const appendFlags = constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW;
const knownLogs = 1000;

/** A log as it is for everybody: its file, and what the journal has of it and the file has not. */
interface KnownLog {
  readonly file: LogFile;
  /** Lines that come behind the file's last good one. */
  readonly unwritten: readonly Buffer[];
  readonly newest: number;
  readonly highest: number;
  /** See {@link LogState}. */
  readonly edition: number;
}

/** Logs, files of JSON lines; failures are those of the file system or `StoreError`. */
export function createLogs(
  { fileSystem, disk, journal, behind, locks, pathOf, quarantine, logger }: FileParts,
  { readOnly, blockLines }: { readonly readOnly: boolean; readonly blockLines: number },
) {
  const keptBlocks = createKeptBlocks(fileSystem, disk);
  const known = growingCache<string, KnownLog>(knownLogs);
  /** Of logs whose file has not all yet. */
  const owed = new Map<string, KnownLog>();
  /** Logs that may have a part of what is owed behind their last good line. */
  const torn = new Set<string>();
  const waiting = new Map<string, WaitingRecord[]>();
  let editions = 0;

  /** Only while the log's lock is held. */
  async function stateOf(log: string, path: string): Promise<KnownLog> {
    const before = knownOf(log);
    const stats = await disk.glance(path);
    if (before !== undefined && (isAsKnown(before, stats) || torn.has(log))) return before;
    const file = stats === undefined ? noFile : await withFile(fileSystem.open(path, readFlags), inspect);
    const unwritten = before?.unwritten ?? [];
    // A person who shortened the file does not make numbers free that cursors stand on.
    const highest = Math.max(file.highest, before?.highest ?? 0);
    const newest = unwritten.length === 0 ? file.newest : Math.max(file.newest, before?.newest ?? 0);
    return remember(log, { file, unwritten, newest, highest, edition: (editions += 1) });
  }

  function knownOf(log: string): KnownLog | undefined {
    return owed.get(log) ?? known.get(log);
  }

  function remember(log: string, state: KnownLog): KnownLog {
    known.set(log, state);
    if (state.unwritten.length > 0) owed.set(log, state);
    else owed.delete(log);
    return state;
  }

  function forget(isForgotten: (log: string) => boolean): void {
    for (const log of [...known.keys(), ...owed.keys()].filter(isForgotten)) {
      known.delete(log);
      owed.delete(log);
      torn.delete(log);
    }
  }

  /** Writers that wait for the same log share one record of the journal. */
  function append(log: string, record: object, { isLazy = false }: LazyOption = {}): Promise<number> {
    return new Promise((resolve, reject) => {
      const json = formatRecord(record);
      const batch = waiting.get(log) ?? [];
      waiting.set(log, batch);
      batch.push({ json, isLazy, resolve, reject });
      // Whichever turn comes first takes all that wait by then; the others find nothing left to do.
      if (batch.length === 1) locks.run(log, () => flush(log)).catch(reject);
    });
  }

  async function flush(log: string): Promise<void> {
    const batch = waiting.get(log) ?? [];
    waiting.delete(log);
    try {
      const path = await pathOf(log);
      const first = await write(log, path, batch);
      for (const [index, { resolve }] of batch.entries()) resolve(first + index);
    } catch (error) {
      for (const { reject } of batch) reject(toStoreError(log, 'appended to', error));
    }
  }

  /** Resolves with the first record's sequence number when the journal has all. */
  async function write(log: string, path: string, batch: readonly WaitingRecord[]): Promise<number> {
    const state = await stateOf(log, path);
    const first = state.highest + 1;
    const isOpenLine = state.file.isOpenLine && state.unwritten.length === 0;
    const bytes = Buffer.concat([
      ...(isOpenLine ? [Buffer.from('\n')] : []),
      ...batch.map(({ json }, index) => formatLine(first + index, json)),
    ]);
    const at = state.file.end + state.unwritten.reduce((sum, { length }) => sum + length, 0);
    const isLazy = batch.every((each) => each.isLazy);
    await journal.commit({ kind: 'lines', key: log, at, lines: bytes.toString('utf8') }, { isLazy });
    const newest = state.highest + batch.length;
    remember(log, { ...state, unwritten: [...state.unwritten, bytes], newest, highest: newest });
    behind.owe(log, () => writeLines(log, path), state.file.inode !== undefined);
    return first;
  }

  async function writeLines(log: string, path: string): Promise<void> {
    disk.lookAgain();
    const state = await stateOf(log, path);
    if (state.unwritten.length === 0) return;
    const bytes = Buffer.concat(state.unwritten);
    const { end } = state.file;
    await withFile(openToAppend(path), async (opened) => {
      const { ino: inode, size: before } = await opened.stat();
      torn.add(log);
      // What a kill tore off, or what is left of a write that failed.
      if (before > BigInt(end)) await opened.truncate(end);
      await writeWhole(opened, log, bytes, end);
      torn.delete(log);
      disk.lookAgain();
      disk.defer(path, state.file.inode === undefined);
      const size = end + bytes.length;
      const { newest, highest } = state;
      const file: LogFile = { inode, size, end: size, isOpenLine: false, newest, highest };
      remember(log, { ...state, file, unwritten: [] });
    });
  }

  async function openToAppend(path: string): Promise<OpenFile> {
    try {
      return await fileSystem.open(path, appendFlags, 0o600);
    } catch (error) {
      if (!isMissing(error)) throw error;
      await disk.makeFolder(dirname(path));
      return fileSystem.open(path, appendFlags, 0o600);
    }
  }

  /** The open file, where there is one, with a state that fits it: only while the log's lock is held. The caller closes the file. */
  async function open(log: string) {
    const path = await pathOf(log);
    const file = await unlessMissing(fileSystem.open(path, readFlags));
    try {
      return { path, file, state: await stateOf(log, path) };
    } catch (error) {
      if (file !== undefined) await closeQuietly(file);
      throw error;
    }
  }

  /** How many lines of the file are no records; a last one may still be on its way. */
  async function damagedLines(log: string): Promise<number> {
    const opening = fileSystem.open(await pathOf(log), readFlags);
    const count = await unlessMissing(
      withFile(opening, async (file) => {
        const size = Number((await file.stat()).size);
        let [damaged, ended] = [0, 0];
        for await (const lines of linesForward(file, size)) {
          ended = damaged;
          damaged += lines.filter((bytes) => parseLine(bytes) === undefined).length;
        }
        return ended;
      }),
    );
    return count ?? 0;
  }

  async function* scan<T>(log: string, schema: z.ZodType<T>, after: number): AsyncGenerator<LogEntry<T>> {
    // Appends go behind `end`, rewrites go into another file: the snapshot holds without the lock.
    const { file, state } = await locks.run(log, () => open(log));
    let skipped = 0;
    const pause = createTimeSlice();
    try {
      for await (const line of after > 0 ? linesAfter(file, state, after) : allLines(file, state)) {
        await pause();
        const record = line === undefined ? undefined : schema.safeParse(line.record);
        if (line !== undefined && record?.success === true)
          yield { sequence: line.sequence, record: record.data };
        else if (line?.record !== undefined || line === undefined) skipped += 1;
      }
    } finally {
      if (file !== undefined) await closeQuietly(file);
      if (skipped > 0) logger.warn('log lines skipped', { log, skipped });
    }
  }

  async function* blocks<T>(log: string, schema: z.ZodType<T>): AsyncGenerator<LogBlock<T>> {
    const { path, file, state } = await locks.run(log, () => open(log));
    try {
      for await (const block of blocksOf(rawLines(file, state), blockLines)) {
        const { number, isWhole } = block;
        const kept = isWhole ? await keptBlocks.read(path, block) : undefined;
        // As long as the file is open no other has its inode's number: a log that was rewritten or removed meanwhile has another.
        const keep = async (bytes: Uint8Array): Promise<void> => {
          const stats = await unlessMissing(fileSystem.lstat(path));
          if (stats !== undefined && stats.ino === state.file.inode)
            await keptBlocks.write(path, log, block, bytes);
        };
        yield {
          end: (number + 1) * blockLines,
          kept,
          entries: () => entriesIn(block, schema),
          record: (sequence) => recordIn(block, sequence, schema),
          async keep(bytes) {
            if (!isWhole || readOnly) return;
            await locks
              .run(log, () => keep(bytes))
              .catch((error: unknown) => {
                logger.warn('what was made of a log could not be kept, and is made again', { log, error });
              });
          },
        };
      }
    } finally {
      if (file !== undefined) await closeQuietly(file);
    }
  }

  /** As of the last change that was acknowledged: where the file is as it is known, one that is under way is not waited for. */
  async function logState(log: string): Promise<LogState> {
    const path = await pathOf(log);
    const stats = await disk.glance(path);
    const before = knownOf(log);
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
      await behind.settle(log);
      const { path, file, state } = await open(log);
      const from = state.edition;
      if (file === undefined) {
        await eraseKept(path);
        return { from, to: from };
      }
      try {
        await quarantine.eraseCopies(log, path);
        const { bytes, newest, isChanged } = await rewriteLines(
          file,
          { ...state.file, highest: state.highest },
          schema,
          change,
        );
        await keptBlocks.eraseOthers(path, bytes, blockLines);
        if (!isChanged) return { from, to: from };
        const written = await disk.replaceFile({ key: log, path, bytes, former: 'erased' });
        if (written === undefined) return { from, to: from };
        const { highest } = state;
        const size = bytes.length;
        const now: LogFile = { inode: written.ino, size, end: size, isOpenLine: false, newest, highest };
        const { edition: to } = remember(log, {
          file: now,
          unwritten: [],
          newest,
          highest,
          edition: (editions += 1),
        });
        return { from, to };
      } finally {
        await closeQuietly(file);
      }
    });
  }

  /** Brings into the file what an earlier process acknowledged and did not come to write, or what did not come on disk. */
  async function restore(log: string, records: readonly JournalRecord[]): Promise<void> {
    const lines = records.flatMap((record) => (record.kind === 'lines' ? [record] : []));
    const [first] = lines;
    if (first === undefined) return;
    const path = await pathOf(log);
    await withFile(openToAppend(path), async (file) => {
      const { end } = await inspect(file);
      // A person may have shortened the file.
      let position = Math.min(first.at, end);
      const shift = first.at - position;
      for (const { at, lines: text } of lines) {
        // What comes behind a line that is missing was never acknowledged.
        if (at - shift !== position) break;
        const bytes = Buffer.from(text);
        await writeWhole(file, log, bytes, position);
        position += bytes.length;
      }
      await file.truncate(position);
      disk.defer(path, true);
    });
  }

  /** Erases what is kept of a log that goes. */
  const eraseKept = (path: string) => keptBlocks.eraseOthers(path, Buffer.alloc(0), blockLines);

  return { append, scan, blocks, damagedLines, logState, rewrite, restore, forget, eraseKept };
}

function isAsKnown({ file }: KnownLog, stats: BigIntStats | undefined): boolean {
  return file.inode === stats?.ino && file.size === Number(stats?.size ?? 0);
}

async function* allLines(file: OpenFile | undefined, state: KnownLog): AsyncGenerator<LogLine | undefined> {
  for await (const lines of rawLines(file, state)) for (const bytes of lines) yield parseLine(bytes);
}

async function* rawLines(
  file: OpenFile | undefined,
  { file: { end }, unwritten }: KnownLog,
): AsyncGenerator<readonly Buffer[]> {
  if (file !== undefined) yield* linesForward(file, end);
  yield unwritten.flatMap(linesOf);
}

/** The lines with a higher number, first to last; of what is before them only the nearest line is read. */
async function* linesAfter(
  file: OpenFile | undefined,
  { file: { end }, unwritten }: KnownLog,
  after: number,
): AsyncGenerator<LogLine | undefined> {
  const found: (LogLine | undefined)[] = [];
  const pause = createTimeSlice();
  for await (const bytes of backward(file, end, unwritten)) {
    await pause();
    const line = parseLine(bytes);
    if (line !== undefined && line.sequence <= after) break;
    found.push(line);
  }
  yield* found.toReversed();
}

async function* backward(
  file: OpenFile | undefined,
  end: number,
  unwritten: readonly Buffer[],
): AsyncGenerator<Buffer> {
  yield* unwritten.flatMap(linesOf).toReversed();
  if (file !== undefined) for await (const { bytes } of linesBackward(file, end)) yield bytes;
}
