import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readBytes, type OpenFile } from '../../../src/storage/files/file-system.ts';
import { formatLine, linesBackward, linesOf, parseLine } from '../../../src/storage/files/logs.ts';
import { formatRecord } from '../../../src/storage/document-text.ts';

const refuse = () => Promise.reject(new Error('only read'));

/** An open file over bytes in memory that gives at most `most` bytes a read, as a real one may. */
function fileOf(content: Buffer, most: number): OpenFile {
  return {
    read: (buffer, position) =>
      Promise.resolve(content.copy(buffer, 0, position, position + Math.min(most, buffer.length))),
    stat: refuse,
    write: refuse,
    truncate: refuse,
    datasync: refuse,
    sync: refuse,
    close: refuse,
  };
}

async function textsOf(
  lines: AsyncIterable<{ bytes: Buffer; start: number }>,
  content: Buffer,
): Promise<string[]> {
  const texts = [];
  for await (const { bytes, start } of lines) {
    expect(content.subarray(start, start + bytes.length).equals(bytes)).toBe(true);
    texts.push(bytes.toString());
  }
  return texts;
}

const lengths = fc.oneof(
  { weight: 4, arbitrary: fc.nat({ max: 40 }) },
  fc.integer({ min: 65_000, max: 140_000 }),
);
const manyLines = fc.array(lengths, { maxLength: 12 });

describe('the lines of a log', () => {
  it('are the same forward and backward, whatever their lengths and however the disk gives them', async () => {
    await fc.assert(
      fc.asyncProperty(
        manyLines,
        fc.boolean(),
        fc.integer({ min: 1000, max: 70_000 }),
        async (sizes, ends, most) => {
          const lines = sizes.map((size, index) => String.fromCodePoint(97 + index).repeat(size));
          const content = Buffer.from(lines.join('\n') + (ends ? '\n' : ''));
          const file = fileOf(content, most);
          const expected = lines.filter((line) => line !== '');
          const forward = linesOf(await readBytes(file, 0, content.length)).map(String);
          expect(forward.join('\n')).toBe(expected.join('\n'));
          const backward = await textsOf(linesBackward(file, content.length), content);
          expect(backward.toReversed().join('\n')).toBe(expected.join('\n'));
        },
      ),
      { numRuns: 60 },
    );
  });
});

describe('a line', () => {
  it('comes back as the record that went in, and is one line', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
        fc.dictionary(fc.string(), fc.string()),
        (sequence, record) => {
          const bytes = formatLine(sequence, formatRecord(record));
          expect(bytes.indexOf('\n')).toBe(bytes.length - 1);
          const parsed = parseLine(bytes);
          expect(parsed?.sequence).toBe(sequence);
          expect(JSON.stringify(parsed?.record)).toBe(JSON.stringify(record));
        },
      ),
    );
  });

  it('is never understood when its end is missing', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.string()), fc.nat(), (record, cut) => {
        const bytes = formatLine(1, formatRecord(record)).subarray(0, -1);
        expect(parseLine(bytes.subarray(0, cut % bytes.length))).toBeUndefined();
      }),
    );
  });
});
