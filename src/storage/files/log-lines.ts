import type { z } from 'zod';

import type { LogEntry } from '../../core/store.ts';
import { createTimeSlice } from '../../core/time.ts';
import { formatRecord } from '../document-text.ts';
import { parseJson } from '../../core/text.ts';
import { readBytes, type OpenFile } from './file-system.ts';

export const newline = Buffer.from('\n');
const lineBreak = 0x0a;
const blockBytes = 64 * 1024;

/** A record under its sequence number, or a mark that a removed record had it. */
export interface LogLine {
  readonly sequence: number;
  /** Absent in a mark. */
  readonly record?: object;
}

export function formatLine(sequence: number, json?: string): Buffer {
  const rest = json === undefined ? '' : `,"record":${json}`;
  return Buffer.from(`{"sequence":${sequence}${rest}}\n`);
}

/** `undefined` where it is damaged. */
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

export const noFile: LogFile = {
  inode: undefined,
  size: 0,
  end: 0,
  isOpenLine: false,
  newest: 0,
  highest: 0,
};

/** Reads backward to the newest record. An incomplete last line was torn off [S4]. */
export async function inspect(file: OpenFile): Promise<LogFile> {
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

export async function rewriteLines<T>(
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
