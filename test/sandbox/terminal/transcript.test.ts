import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { createTranscript, type Transcript } from '../../../src/sandbox/terminal/transcript.ts';

function written(use: (transcript: Transcript) => void, isColoured = false): string {
  let text = '';
  use(createTranscript({ write: (part) => (text += part), isColoured }));
  return text;
}

/** What a terminal of so many columns shows. */
function shownIn(columns: number, text: string): string {
  let shown = '';
  const transcript = createTranscript({
    write: (part) => (shown += part),
    isColoured: false,
    columns: () => columns,
  });
  transcript.line({ ...line, text });
  return shown;
}

const line = { place: '#dev', name: 'Discoclaw', isBot: true };

describe('what somebody said', () => {
  it('never reaches the terminal as a control character, nor as a line at its beginning', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (text) => {
        const shown = written((transcript) => transcript.line({ ...line, text }));
        expect(shown).toMatch(/^#dev {2}Discoclaw: /u);
        expect(shown.replaceAll(/[\n\t]/g, '')).not.toMatch(/\p{Cc}/u);
        expect(
          shown
            .trimEnd()
            .split('\n')
            .slice(1)
            .every((part) => part === '' || part.startsWith('      ')),
        ).toBe(true);
      }),
    );
    expect(written((transcript) => transcript.line({ ...line, text: '\u001B[2Jgone' }))).toBe(
      '#dev  Discoclaw: [2Jgone\n',
    );
  });
});

describe('a line that is longer than the terminal is wide', () => {
  it('has its words as they were, and no row that is too wide but by a single word', () => {
    const words = fc.array(fc.stringMatching(/^[a-zé東🍕]{1,20}$/u), { minLength: 1 });
    fc.assert(
      fc.property(words, fc.integer({ min: 30, max: 100 }), (said, columns) => {
        const shown = shownIn(columns, said.join(' '));
        expect(shown.replaceAll(/\s+/gu, ' ').trim()).toBe(`#dev Discoclaw: ${said.join(' ')}`);
        const tooWide = shown.split('\n').filter((row) => row.length >= columns);
        expect(tooWide.filter((row) => row.trim().includes(' ') && !row.startsWith('#dev'))).toEqual([]);
      }),
    );
  });
});
