import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { isProven, standsIn, supports } from '../../../src/memory/durable/evidence.ts';

describe('a quote supports a text [M5a]', () => {
  it.each([
    ['Prefers Rust', 'I prefer Rust'],
    ['Lives in Berlin', 'we live in Berlin these days'],
    ['Name is Ana', "I'm Ana"],
    ['Prefers C++', 'C++ is what I prefer'],
    ['Does not eat meat', 'I don’t eat meat'],
    ['Cannot eat gluten', 'I cannot eat gluten'],
    ['Hates cilantro', 'I hate cilantro'],
    ['Prefers Rust', "I don't use Go, I prefer Rust"],
    ['Speaks French and German', 'I speak French and German'],
    ['Живёт в Берлине', 'я живу в Берлине'],
    ['喜欢猫', '我喜欢猫'],
    ['猫', '猫が好き'],
    ['Works in IT', 'I work in IT'],
    ['Prefers Go', 'I prefer Go'],
  ])('%s ⇐ %s', (text, quote) => {
    expect(supports(text, quote)).toBe(true);
  });

  it.each([
    ['another word', 'Prefers Rust and Zig', 'I prefer Rust'],
    ['a number', 'Has 3 children', 'I have children'],
    ['a sign', 'Prefers C++', 'I prefer C'],
    ['an emoji', 'Prefers Rust 🖕', 'I prefer Rust'],
    ['a denial', 'Does not eat meat', 'I eat meat'],
    ['the opposite of a denial', 'Eats meat', "I don't eat meat"],
    ['the opposite of a dislike', 'Prefers Rust', 'I hate Rust'],
    ['what was denied beside what was said', 'Prefers Go', "I don't use Go, I prefer Rust"],
    ['what is only quoted', 'Prefers Rust', '> I prefer Rust\nDoes he?'],
    ['nothing at all', 'Prefers', 'I prefer Rust'],
    ['other pronouns', 'Pronouns are she/her', 'My pronouns are they/them'],
    ['only signs', '!!!', 'I prefer Rust!!!'],
    ['another script', 'Живёт в Москве', 'я живу в Берлине'],
    ['another pair of characters', '喜欢狗', '我喜欢猫'],
  ])('not when it says %s', (_name, text, quote) => {
    expect(supports(text, quote)).toBe(false);
  });
});

describe('a quote stands in a message', () => {
  it.each([
    ['I prefer Rust', 'Well, I prefer Rust.'],
    ['i PREFER  rust', 'I prefer\nRust'],
    ['a.*b(', 'my favourite is a.*b( really'],
    ['猫が好き', '私は猫が好きです'],
    ['İstanbul’da yaşıyorum', 'Evet, İstanbul’da yaşıyorum.'],
  ])('%j in %j', (quote, message) => {
    expect(standsIn(quote, ['something else', message])).toBe(true);
  });

  it.each([
    ['part of a word', 'like Rust', 'I dislike Rust'],
    ['words of several messages', 'I prefer Rust', 'I prefer'],
    ['a pattern', 'I .* Rust', 'I prefer Rust'],
    ['nothing', '  ', 'I prefer Rust'],
    ['far more than the message', `I prefer Rust ${'('.repeat(3_000_000)}`, 'I prefer Rust'],
    ['somebody else quoted', 'I prefer Rust', '> I prefer Rust\nreally?'],
    ['somebody else quoted to the end', 'I prefer Rust', 'look\n>>> hello\nI prefer Rust'],
  ])('not as $0', (_name, quote, message) => {
    expect(standsIn(quote, [message])).toBe(false);
  });
});

describe('a message proves an item', () => {
  it('when the quote stands in it and says what the text says', () => {
    expect(isProven({ text: 'Prefers Rust', quote: 'I prefer Rust' }, 'Hi! I prefer Rust.')).toBe(true);
  });

  it('not when the quote was cut out of a denial', () => {
    expect(isProven({ text: 'Likes Rust', quote: 'like Rust' }, "I really don't like Rust")).toBe(false);
    expect(isProven({ text: 'Drinks tea', quote: 'I drink tea' }, "I don't smoke\nI drink tea")).toBe(true);
  });

  it('never by the name of whom it mentions [M5a]', () => {
    const pepsi = { text: 'Loves Pepsi', quote: 'I love Pepsi' };
    for (const name of ['@\u2068I love Pepsi\u2069', '#\u2068i love pepsi\u2069'])
      expect(isProven(pepsi, `what do you think ${name}`)).toBe(false);
    expect(isProven({ text: 'Loves Pepsi', quote: 'I love @Pepsi' }, 'I love @Pepsi')).toBe(false);
  });

  it('also where the quote holds a mention', () => {
    const words = 'I work with @bob on Atlas';
    expect(isProven({ text: 'Works on Atlas', quote: words }, `${words} again`)).toBe(true);
  });

  it('never by the words of a stranger', () => {
    const mixed = fc
      .tuple(sentence(own), sentence(strange, 1), sentence(own))
      .map((parts) => parts.join(' '));
    fc.assert(
      fc.property(mixed, sentence(own, 1), mixed, (text, message, strangersQuote) => {
        expect(isProven({ text, quote: message }, message)).toBe(false);
        expect(isProven({ text, quote: text }, message)).toBe(false);
        expect(isProven({ text: message, quote: strangersQuote }, message)).toBe(false);
      }),
    );
  });

  it('by any text made of the words that it says', () => {
    fc.assert(
      fc.property(sentence(['Rust', 'tabs', 'Berlin', 'кофе', '日本語'], 1), (words) => {
        const quote = `I prefer ${words}`;
        expect(isProven({ text: `Prefers ${words}`, quote }, `Hello. ${quote}!`)).toBe(true);
      }),
    );
  });

  it('never throws, whatever is quoted', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (quote, message) => {
        expect(typeof isProven({ text: quote, quote }, `${message}${quote}${message}`)).toBe('boolean');
      }),
    );
  });
});

const own = ['I', 'prefer', 'Rust', 'and', 'tabs', 'in', 'Berlin'];
const strange = ['mallory', 'hunter', 'bitcoin', '42', 'взлом', '恶意软件', 'evilcorp'];

function sentence(words: readonly string[], minLength = 0): fc.Arbitrary<string> {
  return fc.array(fc.constantFrom(...words), { minLength, maxLength: 6 }).map((list) => list.join(' '));
}
