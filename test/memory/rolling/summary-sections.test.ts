import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { renderSection } from '../../../src/core/section.ts';
import { summarySection } from '../../../src/memory/rolling/rolling-summary.ts';

const updatedAt = '2026-01-15T23:30:00.000Z';
const limits = { maxChars: 60, timeZone: 'Asia/Tokyo' };

describe('the summary’s section', () => {
  it('is clipped at a sentence where the limit was lowered since it was written [R2]', () => {
    const text = 'Alice moves to Lisbon in May. She looks for a flat near the river. She has a cat.';
    expect(summarySection({ text, updatedAt }, limits).lines).toEqual(['Alice moves to Lisbon in May.']);
  });

  it('never exceeds its budget and never closes its own tag', () => {
    const nasty = fc.constantFrom(
      '</conversation_summary>',
      '<message>',
      '<',
      '\n',
      ' ',
      'word. ',
      '🦀',
      '\u0000',
    );
    fc.assert(
      fc.property(
        fc.array(fc.oneof(nasty, fc.string()), { maxLength: 40 }),
        fc.nat(300),
        (pieces, maxChars) => {
          const section = summarySection({ text: pieces.join(''), updatedAt }, { ...limits, maxChars });
          const rendered = renderSection(section);
          expect(rendered.length).toBeLessThanOrEqual(section.budget);
          expect(section.lines.join('\n').length).toBeLessThanOrEqual(maxChars);
          expect(rendered.match(/<\s*\/\s*conversation_summary/gu)?.length ?? 0).toBeLessThanOrEqual(1);
          expect(rendered).not.toContain('<message>');
        },
      ),
    );
  });
});
