import { crc32 } from 'node:zlib';

import type { z } from 'zod';

import type { LogEntry } from '../core/store.ts';
import { createTimeSlice } from '../core/time.ts';
import { parseLine, sequenceOf } from './log-line.ts';

const lineBreak = Buffer.from('\n');

export interface RawBlock {
  /** From 0. */
  readonly number: number;
  readonly lines: Buffer;
  /** Each line's number, and where it begins. */
  readonly sequences: Float64Array;
  readonly starts: readonly number[];
  readonly checksum: number;
  /** No line comes to it any more. */
  readonly isWhole: boolean;
}

/** Lines between two looks at the time. */
const atOnce = 32;

/** The blocks of a log, by its lines without their line breaks, some at a time. Damaged lines belong to the block that they stand in. */
export async function* blocksOf(
  groups: AsyncIterable<Iterable<Buffer>> | Iterable<Iterable<Buffer>>,
  size: number,
): AsyncGenerator<RawBlock> {
  let number = 0;
  let parts: Buffer[] = [];
  let sequences: number[] = [];
  let starts: number[] = [];
  let end = 0;
  const take = (isWhole: boolean): RawBlock => {
    const bytes = Buffer.concat(parts, end);
    const numbers = Float64Array.from(sequences);
    const block = { number, lines: bytes, sequences: numbers, starts, checksum: crc32(bytes), isWhole };
    [parts, sequences, starts, end] = [[], [], [], 0];
    return block;
  };
  const pause = createTimeSlice();
  for await (const lines of groups)
    for (const bytes of lines) {
      if (sequences.length % atOnce === 0) await pause();
      const sequence = sequenceOf(bytes);
      const itsNumber = Math.floor((sequence - 1) / size);
      if (itsNumber > number) {
        if (parts.length > 0) yield take(true);
        number = itsNumber;
      }
      parts.push(bytes, lineBreak);
      sequences.push(sequence);
      starts.push(end);
      end += bytes.length + 1;
    }
  if (parts.length > 0) yield take(sequences.at(-1) === (number + 1) * size);
}

/** The records of a block that a schema takes. */
export async function* entriesIn<T>(block: RawBlock, schema: z.ZodType<T>): AsyncGenerator<LogEntry<T>> {
  const pause = createTimeSlice();
  for (const sequence of new Set(block.sequences)) {
    await pause();
    const record = recordIn(block, sequence, schema);
    if (record !== undefined) yield { sequence, record };
  }
}

/** The record with a number, the last of several; `undefined` where there is none that the schema takes. */
export function recordIn<T>(
  { lines, sequences, starts }: RawBlock,
  sequence: number,
  schema: z.ZodType<T>,
): T | undefined {
  const at = sequences.lastIndexOf(sequence);
  const line = at === -1 ? undefined : parseLine(lines.subarray(starts[at], starts[at + 1]));
  return line === undefined ? undefined : schema.safeParse(line.record).data;
}
