import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { sameItemForm, saysWords, searchForm, terms } from '../../src/core/text.ts';

/** What people have written, and how they type it when they look for it. */
const found: readonly (readonly [written: string, typed: string])[] = [
  ['I was born in İstanbul', 'istanbul'], ['I was born in istanbul', 'İSTANBUL'], ['Iğdır', 'igdir'], ['IĞDIR', 'ığdır'], ['ıspanak', 'ISPANAK'],
  ['ο Νίκος μένει εδώ', 'ΝΙΚΟΣ'], ['ΝΙΚΟΣ', 'νίκος'], ['Οδυσσεύς', 'οδυσσευσ'], ['Ἀθῆναι', 'αθηναι'], ['ᾠδή', 'ωδη'], ['Μαΐου', 'ΜΑΪΟΥ'],
  ['Hauptstraße 5', 'HAUPTSTRASSE 5'], ['HAUPTSTRAẞE', 'hauptstrasse'], ['Hauptstrasse', 'hauptstraße'], ['Müller', 'muller'], ['Zażółć gęślą jaźń', 'zazolc gesla jazn'],
  ['Łódź', 'lodz'], ['Đà Nẵng', 'da nang'], ['Đorđe', 'DORDE'], ['Ørsted', 'orsted'], ['Tromsø', 'TROMSO'], ['Encyclopædia', 'encyclopaedia'], ['cœur', 'COEUR'],
  ['Ægir', 'aegir'], ['São Paulo', 'sao paulo'], ['crème brûlée', 'CREME BRULEE'], ['Škoda', 'skoda'],
  ['ещё ёлка', 'еще елка'], ['ЕЛКА', 'ёлка'], ['за́мок', 'замок'], ['їжа', 'іжа'], ['Київ', 'КИЇВ'],
  ['I love القَهْوَة', 'القهوة'], ['القهوة', 'القَهْوَةُ'], ['قهـــوة', 'قهوة'], ['قهـَوة', 'قهوة'], ['ق\ufcf2هوة', 'قهوة'], ['أحمد', 'احمد'], ['می\u200cروم', 'میروم'], ['إسلام', 'اسلام'], ['القرآن', 'القران'],
  ['ﻗﻬﻮﺓ', 'قهوة'], ['שָׁלוֹם', 'שלום'], ['שׁלום', 'שלום'], ['ｆｕｌｌ ｗｉｄｔｈ', 'full width'], ['ｶﾞｷﾞ', 'ガギ'], ['ﬁnance', 'FINANCE'], ['don’t', "don't"],
]; // prettier-ignore

/** Pairs in which a mark, or a letter, makes another word of it also for finding. */
const apart: readonly (readonly [string, string])[] = [
  ['ไม่', 'ไม'], ['มา', 'ม้า'], ['कि', 'क'], ['की', 'कि'], ['काम', 'कम'], ['か', 'が'], ['ハ', 'パ'], ['ባ', 'በ'], ['мой', 'мои'], ['கா', 'க'], ['가', '각'], ['C', 'C#'],
]; // prettier-ignore

const withoutMarks = (text: string): string =>
  text
    .normalize('NFD')
    .replace(/(?<![Ии])\p{M}+/gu, '')
    .normalize('NFC');

describe('finding words, however they are typed [D2]', () => {
  it.each(found)('%j is found by %j', (written, typed) => {
    expect(saysWords(written, typed)).toBe(true);
    expect(searchForm(written)).toContain(searchForm(typed));
    expect(searchForm(typed).length).toBeGreaterThan(0);
  });

  it.each(apart)('%j and %j stay two words', (one, other) => {
    expect(searchForm(one)).not.toBe(searchForm(other));
    expect(sameItemForm(one)).not.toBe(sameItemForm(other));
  });

  /** Words of letters that have case, marks or several forms, in the scripts in which marks are dropped. */
  const word = fc.oneof(
    ...[
      'aäàåăbcçdeéêẽgğiïnñoöőøłđßsšşțuůżæœ',
      'İIıi',
      // Without the iota subscript: it is a mark, and JavaScript's capitals make a letter of it.
      'αάβγδεέηήθιίϊΐκλνοόρσςτυύϋΰωώ',
      'абвгдеёжийіїклґўмностуы',
      'אבגדהוזחשׁשׂתּלָםֹ',
      'اأإآبتةحسصعغفقكکلمنهويىیؤئءٱـًٌٍَُِّْ',
      'ＡＢｃｄﬁﬂ',
      'ｶﾞｷﾊﾟガパか',
    ].map((letters) =>
      fc.string({ unit: fc.constantFrom(...Array.from(letters)), minLength: 1, maxLength: 8 }),
    ),
  );
  const typings: readonly ((text: string) => string)[] = [
    (text) => text,
    (text) => text.toUpperCase(),
    (text) => text.toLowerCase(),
    (text) => text.normalize('NFC'),
    (text) => text.normalize('NFD'),
    (text) => text.normalize('NFKC'),
    (text) => (/[\u3040-\u30ff\uff61-\uff9f]/u.test(text) ? text : withoutMarks(text)),
  ];

  it('a word is found in a sentence by whatever case, Unicode form and marks it is typed with', () => {
    fc.assert(
      fc.property(word, fc.constantFrom(...typings), fc.constantFrom(...typings), (one, written, typed) => {
        fc.pre(searchForm(one) !== '' && /\p{L}/u.test(one[0] ?? ''));
        expect(searchForm(typed(one))).toBe(searchForm(written(one)));
        expect(saysWords(`now ${written(one)}, see`, typed(one))).toBe(true);
      }),
    );
  });

  it('a word that only its marks tell from a common one keeps them, and is found without', () => {
    expect(terms('J’aime le thé')).toContain('thé');
    expect(terms('THÉ')).toEqual(terms('the\u0301'));
    expect(terms('её')).toEqual(terms('ее'));
    expect(saysWords('J’aime le thé', 'the')).toBe(true);
  });

  it('the forms are settled: again, they change nothing', () => {
    const text = fc.oneof(word, fc.string({ unit: 'grapheme' }), fc.string({ unit: 'binary' }));
    fc.assert(
      fc.property(text, (any) => {
        expect(searchForm(searchForm(any))).toBe(searchForm(any));
        expect(sameItemForm(sameItemForm(any))).toBe(sameItemForm(any));
      }),
    );
  });
});
