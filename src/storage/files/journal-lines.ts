import type { BigIntStats } from 'node:fs';
import { crc32 } from 'node:zlib';

import { z } from 'zod';

import { StoreError } from '../../core/errors.ts';
import { parseJson } from '../../core/text.ts';
import { patched, patchSchema } from './patch.ts';
import { fingerprintOf } from './reading.ts';

const recordSchema = z.discriminatedUnion('kind', [
  /** `erases`: what it takes away leaves the copies too, at the next start at the latest. */
  z.object({
    kind: z.literal('document'),
    key: z.string(),
    number: z.number(),
    patch: patchSchema,
    erases: z.literal(true).exactOptional(),
  }),
  z.object({ kind: z.literal('text'), key: z.string(), number: z.number(), text: z.string() }),
  /** Whole lines of a log, the first of which begins at the byte `at` of its file. */
  z.object({
    kind: z.literal('lines'),
    key: z.string(),
    number: z.number(),
    at: z.number(),
    lines: z.string(),
  }),
  /** The key's changes up to `upTo` are in its file; what that was then, and when it was changed, in milliseconds since the epoch. */
  z.object({
    kind: z.literal('written'),
    key: z.string(),
    number: z.number(),
    upTo: z.number(),
    fingerprint: z.string(),
    changedAt: z.number(),
  }),
  /** All that comes before it of the key is in its file, on disk, and being taken out of the journal. */
  z.object({ kind: z.literal('settled'), key: z.string(), number: z.number() }),
]);

/** Besides the change: the number of the newest record that was on disk when this was written. Absent where an earlier version wrote it, which did not say. */
const orderSchema = z.object({ synced: z.number().optional() });

/** A line of the journal; numbers grow by one. */
export type JournalRecord = z.infer<typeof recordSchema>;
type WithoutNumber<Record> = Record extends JournalRecord ? Omit<Record, 'number'> : never;
export type JournalChange = WithoutNumber<JournalRecord>;

/** Of a file's changes those that are not in it. Where it is older than when it was written, that did not come on disk; where it is newer, a person has changed it since. */
export function changesAfter(
  records: readonly JournalRecord[],
  stats: BigIntStats | undefined,
): readonly JournalRecord[] {
  const written = records.findLast((record) => record.kind === 'written');
  const isIn =
    written !== undefined &&
    stats !== undefined &&
    (fingerprintOf(stats) === written.fingerprint || Number(stats.mtimeMs) > written.changedAt);
  return records.filter(({ kind, number }) => kind !== 'written' && (!isIn || number > written.upTo));
}

export function patchedBy(records: readonly JournalRecord[], document: object): object {
  return records.reduce(
    (result, record) => (record.kind === 'document' ? patched(result, record.patch) : result),
    document,
  );
}

interface Line {
  /** One, or none where the line is not whole, or was taken out. */
  readonly records: readonly JournalRecord[];
  readonly isTorn: boolean;
  /** Up to which number all was on disk when it was written. */
  readonly synced: number;
}

/** A disk that loses its power may keep a later line and not one before it: then none counts from there on, but for what is known to have been on disk. */
export function inOrder(lines: readonly Line[]): readonly JournalRecord[] {
  const synced = Math.max(0, ...lines.map((line) => line.synced));
  const firstUnsynced = 1 + lines.findLastIndex(({ records }) => (records[0]?.number ?? Infinity) <= synced);
  const torn = lines.findIndex(({ isTorn }, index) => isTorn && index >= firstUnsynced);
  return (torn === -1 ? lines : lines.slice(0, torn)).flatMap(({ records }) => records);
}

/** With a checksum, by which a line that is not whole is told. */
export function formatLine(record: JournalRecord & { readonly synced: number }): Buffer {
  const json = JSON.stringify(record);
  return Buffer.from(`${checksum(json)} ${json}\n`);
}

/** @throws {StoreError} for a whole line of a kind that is not known here. */
export function parseLine(line: string): Line {
  const json = line.slice(9);
  if (json === '' || line.slice(0, 9) !== `${checksum(json)} `)
    return { records: [], isTorn: line.trim() !== '', synced: 0 };
  const parsed = parseJson(json);
  const record = recordSchema.safeParse(parsed);
  const order = orderSchema.safeParse(parsed);
  if (record.success && order.success)
    return { records: [record.data], isTorn: false, synced: order.data.synced ?? Infinity };
  throw new StoreError(
    'The journal has changes that a newer version made: start that version, which can read them',
    'journal',
  );
}

function checksum(json: string): string {
  return crc32(json).toString(16).padStart(8, '0');
}
