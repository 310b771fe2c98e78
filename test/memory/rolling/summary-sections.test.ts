import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { renderSection } from '../../../src/core/section.ts';
import { summarySection } from '../../../src/memory/rolling/rolling-summary.ts';

const updatedAt = '2026-01-15T23:30:00.000Z';
const limits = { maxChars: 60, timeZone: 'Asia/Tokyo' };

describe('the summary’s section', () => {
  it('says that it may repeat others’ words, and when these were in view [M5a]', () => {
    const thirdPartyTextAt = '2026-01-15T20:00:00.000Z';
    expect(summarySection({ text: 'x', updatedAt, thirdPartyTextAt }, limits)).toMatchObject({
      thirdPartyTextAt,
      title: expect.stringContaining('which may repeat what other people said, or a file:'),
    });
    expect(summarySection({ text: 'x', updatedAt }, limits).thirdPartyTextAt).toBeUndefined();
  });

  it('is clipped at a sentence where the limit was lowered since it was written [R2]', () => {
    const text = 'Alice moves to Lisbon in May. She looks for a flat near the river. She has a cat.';
    expect(summarySection({ text, updatedAt }, limits).lines).toEqual(['Alice moves to Lisbon in May.']);
  });

  it('names day and time where the bot lives [N5]', () => {
    expect(summarySection({ text: 'x', updatedAt }, limits).title).toContain('2026-01-16 08:30 (Asia/Tokyo)');
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
