import type { OpenFile } from './file-system.ts';

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
    data = JSON.parse(bytes.toString('utf8'));
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
    const block = await readBlock(file, position, Math.min(blockBytes, end - position));
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
    const block = await readBlock(file, position - length, length);
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

async function readBlock(file: OpenFile, position: number, length: number): Promise<Buffer> {
  const block = Buffer.alloc(length);
  let filled = 0;
  while (filled < length) {
    const count = await file.read(block.subarray(filled), position + filled);
    if (count === 0) break;
    filled += count;
  }
  return block.subarray(0, filled);
}
