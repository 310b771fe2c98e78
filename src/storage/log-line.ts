import { parseJson } from '../core/text.ts';

const lineBreak = 0x0a;

/** A log's line: a record under its sequence number, or only the number, which marks that it was given out though its record was removed. */
export interface LogLine {
  readonly sequence: number;
  /** Absent in a mark. */
  readonly record?: object;
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

/** The lines of bytes in memory, without their line breaks. */
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
