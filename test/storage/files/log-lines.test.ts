import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatLine, parseLine } from '../../../src/storage/files/logs.ts';
import { formatRecord } from '../../../src/storage/document-text.ts';

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
