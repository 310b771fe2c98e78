import { constants } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { crc32 } from 'node:zlib';

import type { z } from 'zod';

import type { LogEntry } from '../../core/store.ts';
import { createTimeSlice } from '../../core/time.ts';
import type { Disk } from './disk.ts';
import { readBytes, readWhole, unlessMissing, withFile, writeWhole, type FileSystem } from './file-system.ts';
import { linesOf, parseLine, sequenceOf } from './log-lines.ts';

const lineBreak = Buffer.from('\n');
const headBytes = 8;
const nothing = Buffer.alloc(0);
const readFlags = constants.O_RDONLY | constants.O_NOFOLLOW;
const writeFlags = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW;

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

/** The blocks of a log, by its lines without their line breaks. Damaged lines belong to the block that they stand in. */
export async function* blocksOf(
  lines: AsyncIterable<Buffer> | Iterable<Buffer>,
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
  for await (const bytes of lines) {
    await pause();
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

/**
 * What is kept of a log's blocks: a hidden file each, beside the log. It begins with the checksum of the lines that it was made of and with its own, so that
 * one that is torn, or belongs to lines which a person or an earlier backup changed, counts as absent. Nothing is synced but its removal.
 */
export function createKeptBlocks(fileSystem: FileSystem, disk: Disk) {
  async function read(log: string, { number, checksum }: RawBlock): Promise<Uint8Array | undefined> {
    const opening = fileSystem.open(pathOf(log, number), readFlags);
    const bytes = await withFile(opening, readWhole).catch(() => nothing);
    const content = bytes.subarray(headBytes);
    const isWhole = bytes.length >= headBytes && bytes.readUInt32LE(4) === crc32(content);
    return isWhole && bytes.readUInt32LE() === checksum ? content : undefined;
  }

  async function write(
    log: string,
    key: string,
    { number, checksum }: RawBlock,
    content: Uint8Array,
  ): Promise<void> {
    const head = Buffer.alloc(headBytes);
    head.writeUInt32LE(checksum);
    head.writeUInt32LE(crc32(content), 4);
    await withFile(fileSystem.open(pathOf(log, number), writeFlags, 0o600), (file) =>
      writeWhole(file, key, Buffer.concat([head, content]), 0),
    );
  }

  /** Takes off the disk what is kept of other lines than those that the log at a path is to have [S7]. */
  async function eraseOthers(log: string, present: Buffer, size: number): Promise<void> {
    const entries = (await unlessMissing(fileSystem.readdir(dirname(log)))) ?? [];
    const names = entries.map(({ name }) => name);
    const kept = names.filter((name) => name.startsWith(`.${basename(log)}.`) && name.endsWith('.index'));
    if (kept.length === 0) return;
    const checksums = new Map<string, number>();
    for await (const { number, checksum, isWhole } of blocksOf(linesOf(present), size))
      if (isWhole) checksums.set(pathOf(log, number), checksum);
    for (const path of kept.map((name) => join(dirname(log), name))) {
      const reading = withFile(fileSystem.open(path, readFlags), (file) => readBytes(file, 0, headBytes));
      const head = await reading.catch(() => nothing);
      if (head.length < headBytes || head.readUInt32LE() !== checksums.get(path))
        await fileSystem.unlink(path);
    }
    await disk.syncFolder(dirname(log));
  }

  return { read, write, eraseOthers };
}

function pathOf(log: string, number: number): string {
  return join(dirname(log), `.${basename(log)}.${number}.index`);
}
