import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import {
  clip,
  clipAtSentence,
  clipAtWord,
  nfkc,
  toSingleLine,
  sameItemForm,
  terms,
} from '../../src/core/text.ts';

const anyText = fc.string({ unit: 'binary', maxLength: 60 });

describe('clipping', () => {
  it.each([
    ['clip', clip],
    ['clipAtWord', clipAtWord],
    ['clipAtSentence', clipAtSentence],
  ])('%s never exceeds the limit and never splits a code point', (_, cut) => {
    fc.assert(
      fc.property(anyText, fc.nat(70), (text, max) => {
        const clipped = cut(text, max);
        expect(clipped.length).toBeLessThanOrEqual(max);
        expect(clipped.isWellFormed()).toBe(true);
      }),
    );
  });
});

describe('flattening', () => {
  it('always gives one line without control characters', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(toSingleLine(text)).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}]/u);
      }),
    );
  });

  it('drops overrides of the writing direction and keeps what emoji need', () => {
    expect(toSingleLine('a\u202Eb\r\nc')).toBe('ab c');
    expect(toSingleLine('👩\u200D🔬')).toBe('👩\u200D🔬');
  });
});

describe('the compatible form', () => {
  it('is the usual one of what people write, and never many times longer than the text', () => {
    expect(nfkc('ﬁne ＡＢＣ ﷺ')).toBe('fine ABC صلى الله عليه وسلم');
    expect(nfkc('\ufdfa'.repeat(4000)).length).toBeLessThan(10_000);
  });
});

describe('terms', () => {
  it('stem English and Russian words', () => {
    expect(terms('Preferring')).toEqual(terms('prefers'));
    expect(terms('собаки')).toEqual(terms('собака'));
    expect(terms('rejection discussions')).toEqual(terms('reject discuss'));
  });

  it('split scripts without spaces into pairs of characters', () => {
    expect(terms('東京都')).toEqual(['東京', '京都']);
    expect(terms('茶')).toEqual(['茶']);
  });
});

describe('two spellings of one item [D2]', () => {
  /** The same words with other case, white space, Unicode form and final dots. */
  const spelling = fc.record({
    isUpper: fc.boolean(),
    isDecomposed: fc.boolean(),
    space: fc.constantFrom(' ', '  ', '\n', '\u00a0', ' \t '),
    around: fc.constantFrom('', ' ', '\n'),
    end: fc.constantFrom('', '...', ' .', '。', '!..', ' :)', '. xD', '😅!'),
  });
  const words = fc.array(fc.stringMatching(/^[a-zéß?!]{0,7}[a-zéß?]$/u), { minLength: 1, maxLength: 5 });

  it('have one form, whatever the case, final dots, white space and Unicode form are', () => {
    fc.assert(
      fc.property(words, spelling, (plain, { isUpper, isDecomposed, space, around, end }) => {
        const cased = isUpper ? plain.map((word) => word.toUpperCase()) : plain;
        const joined = cased.join(space);
        const written = isDecomposed ? joined.normalize('NFD') : joined;
        expect(sameItemForm(`${around}${written}${end}${around}`)).toBe(sameItemForm(plain.join(' ')));
      }),
    );
  });

  it('are not made of other words, nor of dots inside or alone', () => {
    const forms = [
      'I like tea', 'I like teas', 'I like tea?', 'I like t.ea', '.I like tea', '...', '。', '!', ':)', '🙂', 'I like tea ❤️', 'I like tea 🇵🇹',
      'I like cá', 'I like cà', 'I like C', 'I like C#', 'I like C++', 'ресто́ран', 'ресторан', 'кофе', 'кофё', 'قهوة', 'قَهوة', 'Isa', 'Ísa', 'isı', 'isi',
    ]; // prettier-ignore
    expect(new Set(forms.map(sameItemForm)).size).toBe(forms.length);
  });
});
