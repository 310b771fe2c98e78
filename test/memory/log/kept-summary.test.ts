import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { parseNote, renderNote, type SummaryNote } from '../../../src/memory/log/kept-summary.ts';

const note: SummaryNote = {
  text: 'Alice deploys on Fridays.',
  updatedAt: '2026-01-15T23:30:00.000Z',
  visibility: 'here',
  homeId: '200000000000000001',
  from: 3,
  cursor: 42,
};

describe('a kept summary', () => {
  it('is always read back as it was written', () => {
    fc.assert(
      fc.property(
        fc.string({ minLength: 1, unit: 'grapheme' }).filter((text) => text === text.trim() && text !== ''),
        fc.constantFrom('everywhere' as const, 'server' as const, 'here' as const, 'dm' as const),
        (text, visibility) => {
          const written = { ...note, text: `${text}\n-->\n${text}`, visibility };
          expect(parseNote(renderNote(written, 'UTC'))).toEqual(written);
        },
      ),
    );
  });

  it('counts no longer as one when somebody made something else of it', () => {
    expect(parseNote('# My own notes\n\nfrom: 3\n')).toBeUndefined();
    expect(parseNote(renderNote(note, 'UTC').replace('visibility: here', 'visibility: all'))).toBeUndefined();
  });
});
