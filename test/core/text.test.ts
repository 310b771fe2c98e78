import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import {
  clip,
  clipAtSentence,
  clipAtWord,
  nfkc,
  toSingleLine,
  normalizeText,
  sameItemForm,
  terms,
  withoutFence,
} from '../../src/core/text.ts';

const anyText = fc.string({ unit: 'binary', maxLength: 60 });

describe('plain ASCII', () => {
  it('gives the same terms, line and normal form as it does beside a letter of another script', () => {
    const ascii = fc.string({ unit: 'binary-ascii', maxLength: 60 });
    const words = fc.array(fc.constantFrom('Running', 'cats', 'B2', ' ', '\t', '  ', '\n', ' \n', "'"));
    fc.assert(
      fc.property(
        fc.oneof(
          ascii,
          words.map((parts) => parts.join('')),
        ),
        (text) => {
          expect([...terms(text), 'д']).toEqual(terms(`${text} д`));
          expect(`${toSingleLine(text)} д`.trim()).toBe(toSingleLine(`${text} д`));
          expect(`${normalizeText(text)} д`.trim()).toBe(normalizeText(`${text} д`));
          expect(normalizeText(text)).toBe(text.toLowerCase().split(/\s+/u).filter(Boolean).join(' '));
        },
      ),
    );
  });
});

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

  it('ends at the last whole word and says that something is missing', () => {
    expect(clipAtWord('the quick brown fox', 12)).toBe('the quick…');
    expect(clipAtWord('the quick', 12)).toBe('the quick');
  });

  it('ends at the last whole sentence', () => {
    expect(clipAtSentence('First one. Second one. Third one is longer.', 30)).toBe('First one. Second one.');
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

describe('normalising', () => {
  it('makes texts the same that differ in case, width and white space', () => {
    expect(normalizeText('  Ｐrefers \n RUST ')).toBe(normalizeText('prefers rust'));
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

describe('a structured answer', () => {
  it.each(['{"a": 1}', '```json\n{"a": 1}\n```', '```\n{"a": 1}\n```\n', ' ```json\n\n{"a": 1}\n```'])(
    'is read with and without a code fence: %j',
    (text) => expect(JSON.parse(withoutFence(text))).toEqual({ a: 1 }),
  );

  it('keeps fences inside it', () => {
    const text = JSON.stringify({ a: '```js\n1\n```' });
    expect(withoutFence(text)).toBe(text);
  });
});

describe('two spellings of one item [D2]', () => {
  /** The same words with other case, white space, Unicode form and final dots. */
  const spelling = fc.record({
    isUpper: fc.boolean(),
    isDecomposed: fc.boolean(),
    space: fc.constantFrom(' ', '  ', '\n', '\u00a0', ' \t '),
    around: fc.constantFrom('', ' ', '\n'),
    end: fc.constantFrom(
      '',
      '.',
      '..',
      '...',
      '…',
      ' .',
      '. ',
      '。',
      '．',
      '!',
      '！',
      '!..',
      ' !',
      ' :)',
      '. xD',
      ' 🙂🙂',
      '😅!',
    ),
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
