import { LRUCache } from 'lru-cache';

import { parseJson } from '../../core/text.ts';
import { readBytes, type OpenFile } from './file-system.ts';

/**
 * A log's line: a record under its sequence number, or only the number, which marks that it was given out though its record
 * was removed.
 */
export interface LogLine {
  readonly sequence: number;
  /** Absent in a mark. */
  readonly record?: object;
}

/** A line's bytes without its line break, and where it begins in the file. */
export interface RawLine {
  readonly bytes: Buffer;
  readonly start: number;
}

const lineBreak = 0x0a;
const blockBytes = 64 * 1024;

/** @throws {TypeError} for what has no JSON or is no object in JSON. */
export function formatRecord(record: unknown): string {
  const json: unknown = JSON.stringify(record);
  if (typeof json !== 'string' || !/^[[{]/.test(json)) throw new TypeError('A log takes objects only');
  return json;
}

/** A record's line, or a mark where there is no record. */
export function formatLine(sequence: number, json?: string): Buffer {
  const rest = json === undefined ? '' : `,"record":${json}`;
  return Buffer.from(`{"sequence":${sequence}${rest}}\n`);
}

/** The line, or `undefined` where it is damaged. */
export function parseLine(bytes: Buffer): LogLine | undefined {
  let data: unknown;
  try {
    data = parseJson(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
  if (typeof data !== 'object' || data === null || !('sequence' in data)) return undefined;
  const { sequence } = data;
  if (typeof sequence !== 'number' || !Number.isSafeInteger(sequence) || sequence < 1) return undefined;
  if (!('record' in data)) return { sequence };
  const { record } = data;
  return typeof record === 'object' && record !== null ? { sequence, record } : undefined;
}

/** The lines in the first `end` bytes, first to last. A last line without line break counts; empty lines do not. */
export async function* linesForward(file: OpenFile, end: number): AsyncGenerator<RawLine> {
  let parts: Buffer[] = [];
  let start = 0;
  for (let position = 0; position < end;) {
    const block = await readBytes(file, position, Math.min(blockBytes, end - position));
    if (block.length === 0) break;
    let from = 0;
    for (let at = block.indexOf(lineBreak); at !== -1; at = block.indexOf(lineBreak, from)) {
      const bytes = Buffer.concat([...parts, block.subarray(from, at)]);
      if (bytes.length > 0) yield { bytes, start };
      parts = [];
      from = at + 1;
      start = position + from;
    }
    parts.push(block.subarray(from));
    position += block.length;
  }
  const rest = Buffer.concat(parts);
  if (rest.length > 0) yield { bytes: rest, start };
}

/** The same lines, last to first; reads only as far back as is asked for. */
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

const knownLogs = 1000;

/** The states of logs, found out at first use and again after somebody else changed the file. */
export function createLogStates() {
  const known = new LRUCache<string, LogState>({ max: knownLogs });
  const rejectedFrom = new Map<string, number>();

  return {
    async of(log: string, file: OpenFile): Promise<LogState> {
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
    set(log: string, state: LogState): void {
      known.set(log, state);
      rejectedFrom.delete(log);
    },
    /** Bytes behind `end` are of an append that was rejected; they do not exist for anybody until `set`. */
    rejected(log: string, end: number): void {
      rejectedFrom.set(log, end);
    },
    forget(isForgotten: (log: string) => boolean): void {
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
