import { LRUCache } from 'lru-cache';
import type { OpenFile } from './file-system.ts';
import { linesBackward, parseLine } from './log-lines.ts';

/** What has to be known of a log to add to it. */
export interface LogState {
  readonly inode: bigint;
  /** Bytes up to the end of the last good line. */
  readonly end: number;
  /** The last good line lacks its line break. */
  readonly isOpenLine: boolean;
  /** Sequence number of the newest record, 0 where there is none. */
  readonly newest: number;
  /** The highest sequence number ever given out. */
  readonly highest: number;
}

/** The states of logs, found out at first use and again after somebody else changed the file. */
export interface LogStates {
  of(log: string, file: OpenFile): Promise<LogState>;
  set(log: string, state: LogState): void;
  /** Bytes behind `end` are of an append that was rejected; they do not exist for anybody until `set`. */
  rejected(log: string, end: number): void;
  forget(isForgotten: (log: string) => boolean): void;
}

const knownLogs = 1000;

export function createLogStates(): LogStates {
  const known = new LRUCache<string, LogState>({ max: knownLogs });
  const rejectedFrom = new Map<string, number>();

  return {
    async of(log, file) {
      const stats = await file.stat();
      const size = Number(stats.size);
      const end = Math.min(size, rejectedFrom.get(log) ?? size);
      const before = known.get(log);
      if (before?.inode === stats.ino && before.end === end) return before;
      const state = await inspect(file, stats.ino, end);
      // A person who shortened the file does not make numbers free that cursors stand on.
      const kept =
        before === undefined ? state : { ...state, highest: Math.max(state.highest, before.highest) };
      known.set(log, kept);
      return kept;
    },
    set(log, state) {
      known.set(log, state);
      rejectedFrom.delete(log);
    },
    rejected(log, end) {
      rejectedFrom.set(log, end);
    },
    forget(isForgotten) {
      for (const log of [...known.keys(), ...rejectedFrom.keys()]) {
        if (!isForgotten(log)) continue;
        known.delete(log);
        rejectedFrom.delete(log);
      }
    },
  };
}

/** Reads backward to the newest record. Whatever follows the last line break and is no whole line was torn off [S4]. */
async function inspect(file: OpenFile, inode: bigint, size: number): Promise<LogState> {
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
    if (line.record !== undefined) return { inode, end, isOpenLine, newest: line.sequence, highest };
  }
  return { inode, end, isOpenLine, newest: 0, highest: Math.max(highest, damagedAfter) };
}
