import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { mention } from '../../../src/core/own-words.ts';
import { questionAtEnd, sentencesQuoted, stillSays } from '../../../src/memory/durable/evidence.ts';

describe('the sentences that a quote touches [M5a]', () => {
  it.each([
    ['the whole sentence, whatever piece is cut out of it', "I'm dying", "I'm dying to eat sushi."],
    ['the denial that a piece leaves out', 'eat meat', 'I never eat meat.'],
    ['both of two', 'tea. I hate coffee', 'I like tea. I hate coffee.'],
    ['a line', 'tea', 'tea\nmilk', 'tea'],
    ['white space and case aside', 'i PREFER  rust!', 'I prefer\tRust', 'I prefer\tRust'],
    [
      'of a question what precedes its last comma',
      'live in Porto',
      'I live in Porto, and you?',
      'I live in Porto',
    ],
    ['no question beside it', 'Porto. Do you know', 'I live in Porto. Do you know it?', 'I live in Porto.'],
    [
      'with a mention inside it, by one word of a name, which can say anything',
      'work with',
      `I work with ${mention('@', 'Bob Ross')} in Rome`,
      'I work with @Bob in Rome',
    ],
    ['with a mention at its end', 'live with', 'I live with @Bob'],
    ['with a mention at its beginning', 'is my brother', '@Bob is my brother'],
    ['without a name that it is addressed to', 'like tea', '@Bob, I like tea :smile:', 'I like tea'],
    ['with an emoji inside it', 'in team', 'I play :soccer: in team three'],
    ['with code', 'never use', 'I never use `eval`.'],
    ['with a link', 'wrote', 'I wrote https://a.example/x_y_z last year'],
    ['without a block quote inside it', 'like', 'I like\n> spam\ntea', 'I like'],
  ])('%s', (_name, quote, message, stored = message) => {
    expect(sentencesQuoted(quote, message)).toBe(stored);
  });

  it.each([
    ['what was not said', 'I prefer Rust and Zig', 'I prefer Rust'],
    ['a translation', 'I live in Porto', 'Vivo en Porto'],
    ['joined pieces', 'I like coffee', 'I like tea. I hate coffee.'],
    ['a bare question', 'I prefer Rust', 'Do you think that I prefer Rust?'],
    ['a question in Chinese', '我喜欢猫', '你觉得我喜欢猫吗？'],
    ['a question without a mark', '猫が好きです', '猫が好きですか'],
    ['what follows the comma of a question', 'am I rich', 'I live in Porto, am I rich?'],
    ['a block quote', 'I prefer Rust', '> I prefer Rust\nDoes he'],
    ['a quote to the end', 'I prefer Rust', 'he says\n>>> I prefer Rust'],
    ['code', 'I prefer Rust', '`I prefer Rust`'],
    ['a fence', 'I prefer Rust', 'look:\n```\nI prefer Rust\n```'],
    ['a fence of tildes that is not closed', 'I prefer Rust', '~~~\nI prefer Rust'],
    ['the name of a mention', 'I love spam', `hi ${mention('@', 'I love spam')}`],
    ['the name of an emoji', 'i_love_spam', 'hi :i_love_spam:'],
    ['a piece across a mention', 'I love Rome', `I love ${mention('@', 'Bob Ross')} Rome`],
    ['a piece across code', 'I love Rome', 'I love `nothing` Rome'],
    ['a piece across a block quote', 'I love Rome', 'I love\n> spam\nRome'],
    ['a pattern', 'I .* Rust', 'I prefer Rust'],
    ['nothing', ' ', 'I prefer Rust'],
    ['signs alone', '!!!', 'I prefer Rust!!!'],
  ])('never %s', (_name, quote, message) => {
    expect(sentencesQuoted(quote, message)).toBeUndefined();
  });

  it('never anything but what the message says, whatever is quoted', () => {
    const piece = fc.constantFrom(
      'I',
      'like',
      'tea',
      '. ',
      '? ',
      ', ',
      '\n',
      '`',
      '> ',
      '```',
      '@Bob',
      ':x_y:',
      ' ',
    );
    const text = fc.array(piece, { maxLength: 20 }).map((pieces) => pieces.join(''));
    fc.assert(
      fc.property(text, text, (quote, message) => {
        const stored = sentencesQuoted(quote, message);
        if (stored === undefined) return;
        const said = message.replaceAll(/\s+/gu, ' ');
        for (const part of stored.replaceAll(/\s+/gu, ' ').split(' … '))
          expect(part.split(/(?<=[.,]) /u).every((each) => said.includes(each.trim()))).toBe(true);
        expect(stillSays(stored, message)).toBe(true);
      }),
    );
  });
});

describe('what a message still says', () => {
  it.each([
    ['the same', 'I like tea', 'Hello! I like tea.'],
    ['the same in another case, with other signs at its end', 'I like tea.', 'i LIKE tea!'],
    ['two sentences', 'I like tea. I hate coffee.', 'Well. I like tea. I hate coffee. Bye.'],
  ])('%s', (_name, text, message) => {
    expect(stillSays(text, message)).toBe(true);
  });

  it.each([
    ['its opposite', 'I like tea', "I don't like tea"],
    ['more in the same sentence', 'I like tea', 'I like tea no more'],
    ['as a question', 'I like tea', 'I like tea?'],
    ['one of two sentences', 'I like tea. I hate coffee.', 'I like tea.'],
    ['nothing', 'I like tea', ''],
  ])('not %s', (_name, text, message) => {
    expect(stillSays(text, message)).toBe(false);
  });
});

describe('the question with which an answer ends [D1a]', () => {
  it.each([
    ['Nice to meet you! Where do you live?', 'Where do you live?'],
    ['Where do you live? 😊', 'Where do you live?'],
    ['Do you know Dr. Ito?', 'Do you know Dr. Ito?'],
    ['Πού μένεις;', 'Πού μένεις;'],
    ['鍵はどこだっけ。', '鍵はどこだっけ。'],
    ['犯人はあいつ。', undefined],
    ['What a day? Noted.', undefined],
    ['😊', undefined],
  ])('of %s', (answer, question) => {
    expect(questionAtEnd(answer)).toBe(question);
  });
});
