import { constants } from 'node:fs';
import { dirname } from 'node:path';
import { StoreError } from '../../core/errors.ts';
import type { Disk } from './disk.ts';
import { isMissing, toStoreError } from './file-error.ts';
import type { FileSystem, OpenFile } from './file-system.ts';
import { withFile } from './file-system.ts';
import type { KeyLocks } from './key-locks.ts';
import type { PathOf } from './links.ts';
import { formatLine, formatRecord } from './log-lines.ts';
import type { LogState, LogStates } from './log-state.ts';

/** Appends a record to a log; resolves with its sequence number when it is on disk. */
export type AppendToLog = (log: string, record: object) => Promise<number>;

interface WaitingRecord {
  readonly json: string;
  readonly resolve: (sequence: number) => void;
  readonly reject: (reason: unknown) => void;
}

const appendFlags = constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW;

/** Writers that wait for the same log share one write and one sync [S2]. */
export function createLogAppend({
  fileSystem,
  disk,
  locks,
  pathOf,
  states,
}: {
  readonly fileSystem: FileSystem;
  readonly disk: Disk;
  readonly locks: KeyLocks;
  readonly pathOf: PathOf;
  readonly states: LogStates;
}): AppendToLog {
  const waiting = new Map<string, WaitingRecord[]>();

  async function open(path: string): Promise<OpenFile> {
    try {
      return await fileSystem.open(path, appendFlags, 0o600);
    } catch (error) {
      if (!isMissing(error)) throw error;
      await disk.ensureFolder(dirname(path));
      return fileSystem.open(path, appendFlags, 0o600);
    }
  }

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
    states.set(log, advanced(state, bytes.length, batch.length));
    return state.highest + 1;
  }

  async function writeBatch(log: string, batch: readonly WaitingRecord[]): Promise<number> {
    const path = await pathOf(log);
    return withFile(open(path), (file) => write(log, path, file, batch));
  }

  async function flush(log: string): Promise<void> {
    const batch = waiting.get(log);
    if (batch === undefined) return;
    waiting.delete(log);
    try {
      const first = await writeBatch(log, batch);
      for (const [index, { resolve }] of batch.entries()) resolve(first + index);
    } catch (error) {
      for (const { reject } of batch) reject(toStoreError(log, 'appended to', error));
    }
  }

  return (log, record) =>
    new Promise((resolve, reject) => {
      const json = formatRecord(record);
      const batch = waiting.get(log) ?? [];
      waiting.set(log, batch);
      batch.push({ json, resolve, reject });
      // Whichever turn comes first takes all that wait by then; the others find nothing left to do.
      locks.run(log, () => flush(log)).catch(reject);
    });
}

function advanced(state: LogState, bytes: number, records: number): LogState {
  const highest = state.highest + records;
  return { inode: state.inode, end: state.end + bytes, isOpenLine: false, newest: highest, highest };
}

async function writeAll(log: string, file: OpenFile, bytes: Buffer, position: number): Promise<void> {
  let written = 0;
  while (written < bytes.length) {
    const count = await file.write(bytes.subarray(written), position + written);
    if (count === 0) throw new StoreError(`${log} could not be appended to: the disk takes no more`, log);
    written += count;
  }
}
