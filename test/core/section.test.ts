import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { dataLine, dataPiece, dataText, sectionNames } from '../../src/core/section.ts';
import { runs } from '../support/runs.ts';

/** What a reader sees who reads over everything invisible, and over white space and slashes in a tag. */
function tagsSeenIn(text: string): readonly string[] {
  const visible = text.replace(/[\p{Default_Ignorable_Code_Point}\p{Cc}\p{Cf}\p{Cs}]/gu, '');
  const tags = new RegExp(String.raw`<[\s/]*(?:${sectionNames.join('|')})\b`, 'giu');
  return visible.match(tags) ?? [];
}

const hidden = fc.constantFrom(
  '\u200b', '\u200c', '\u200d', '\u2060', '\ufeff', '\u00ad', '\u034f', '\u115f', '\u3164', '\uffa0', '\ufe0f', '\u180e', '\u2066', '\u202e',
  '\u{e0061}', '\u{e0100}', '\u0000', '\u001b', '\u0085', '\ud800', '\udfff', ' ', '\u00a0', '\u3000', '\u2028', '\n', '/', '//',
); // prettier-ignore
const between = fc.array(hidden, { maxLength: 4 }).map((parts) => parts.join(''));

/** `<`, then a tag's name, with anything in front of it or between its letters that is not seen. */
const disguised = fc
  .tuple(
    fc.constantFrom(...sectionNames),
    between,
    fc.array(fc.constantFrom('', '\u200d', '\u{e0061}', '\u00ad'), { minLength: 30, maxLength: 30 }),
    fc.boolean(),
  )
  .map(([name, before, inside, isUpper]) => {
    const letters = Array.from(isUpper ? name.toUpperCase() : name);
    return `<${before}${letters.map((letter, index) => letter + (inside[index] ?? '')).join('')}>`;
  });
const anyText = fc.array(fc.oneof(disguised, fc.string({ unit: 'binary' }), hidden, fc.constant('<')), {
  maxLength: 8,
});

describe('text as data', () => {
  it('opens and closes no tag, whatever invisible characters stand in it [P3]', () => {
    fc.assert(
      fc.property(anyText, (parts) => {
        const text = parts.join('');
        expect(tagsSeenIn(dataText(text))).toEqual([]);
        expect(tagsSeenIn(dataLine(text))).toEqual([]);
        expect(dataText(dataText(text))).toBe(dataText(text));
      }),
      { numRuns: runs(3000) },
    );
  });

  it('makes no tag together with what comes after it [P3]', () => {
    fc.assert(
      fc.property(anyText, between, fc.constantFrom(...sectionNames), (parts, gap, name) => {
        expect(tagsSeenIn(`${dataPiece(parts.join(''))}${gap}${name}>`)).toEqual([]);
      }),
      { numRuns: runs(1000) },
    );
  });

  it('leaves what forges nothing as it is', () => {
    for (const text of [
      'a < b and c > d',
      '<b>bold</b>',
      '<messages>',
      '</notes2>',
      'x <- y',
      '＜message＞',
      '🏳️‍🌈 <3',
    ])
      expect(dataText(text)).toBe(text);
  });
});
