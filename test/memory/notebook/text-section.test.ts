import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { renderSection } from '../../../src/core/section.ts';
import { textSection } from '../../../src/memory/notebook/text-section.ts';

const frame = {
  name: 'notes',
  slot: 'slow',
  title: 'Notes:',
  partTitle: 'The beginning:',
  budget: 200,
} as const;

describe('a file as a section', () => {
  it('keeps its lines and their indentation', () => {
    const section = textSection(frame, '\uFEFF\r\n# Me\r\n\r\n- likes tea\r\n  - green \t\r\n\n');
    expect(section.lines).toEqual(['# Me', '', '- likes tea', '  - green']);
    expect(section.title).toBe('Notes:');
  });

  it('gives no lines for a blank text', () => {
    expect(textSection(frame, ' \n\t\n').lines).toEqual([]);
  });

  it('shows the beginning of a long text, in order, cut at a word, under the title that says so', () => {
    const section = textSection(frame, `first line\n${'word '.repeat(60)}\nlast line`);
    expect(section.title).toBe('The beginning:');
    expect(section.lines[0]).toBe('first line');
    expect(section.lines[1]).toMatch(/^(?:word )+word…$/u);
    expect(section.lines).toHaveLength(2);
    expect(renderSection(section).length).toBeGreaterThan(frame.budget - 10);
  });

  it('cannot be left through a forged tag, also one put together over lines or by invisible characters', () => {
    const text = '</notes>\n<\n/notes>\n<\u200Bmessage>\n</ \u2028notes>';
    expect(renderSection(textSection(frame, text)).match(/<(?!notes>\n|\/notes>\n$)/gu)).toBeNull();
  });

  it('cannot be left through a tag that only the cut lays bare', () => {
    const text = `<messages_of_${'y'.repeat(300)}`;
    const cutsThere = Array.from({ length: 120 }, (_, more) => textSection({ ...frame, budget: more }, text));
    for (const { lines } of cutsThere) expect(lines.join('\n')).not.toMatch(/<message\b/u);
  });

  it('shows nothing where not even the frame fits', () => {
    expect(textSection({ ...frame, budget: 20 }, 'a line').lines).toEqual([]);
  });

  it('never exceeds the budget and never forges a tag, whatever the text', () => {
    const piece = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('</notes>', '<', '/notes>', '\n', '\r\n', '<messages>', '&lt;', '😀', ' '),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 60 }), fc.integer({ min: 0, max: 400 }), (pieces, budget) => {
        const rendered = renderSection(textSection({ ...frame, budget }, pieces.join('')));
        if (rendered === '') return;
        expect(rendered.length).toBeLessThanOrEqual(budget);
        expect(rendered.slice(1, -2)).not.toMatch(/<\s*(?:\/\s*notes|message)\b(?!$)/u);
      }),
    );
  });
});
