import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { asksToForget, corrects, namedItems } from '../../../src/memory/durable/naming.ts';
import { anyItems, anyText, item } from './fixtures.ts';

describe('the speaker asks to forget', () => {
  it.each([
    'Please forget that I live in Paris',
    'forget Paris',
    "don't remember where I live",
    'забудь про Paris',
    'Parisを忘れて',
    'Vergiss Paris bitte',
    'oublie Paris',
    'olvida lo de Paris',
  ])('in %j', (message) => {
    expect(asksToForget([message])).toBe(true);
  });

  it.each([
    ['without asking', 'What is new in Paris?'],
    ['when asked to keep it', "Don't forget that I live in Paris"],
    ['when asked to keep it in Russian', 'не забудь Paris'],
    ['when asked to keep it in French', "n'oublie pas Paris"],
    ['by what somebody else is quoted with', '> forget Paris\nwhat does he mean?'],
    ['by code', 'what does `forget Paris` do'],
  ])('not %s', (_name, message) => {
    expect(asksToForget([message])).toBe(false);
  });

  it('never without a word for it, whatever others say', () => {
    fc.assert(
      fc.property(anyText, (message) => {
        expect(asksToForget([message])).toBe(false);
      }),
    );
  });
});

const paris = item({ id: 'aaaaaaaa', kind: 'fact', text: 'Lives in Paris' });
const acme = item({ id: 'bbbbbbbb', kind: 'fact', text: 'Works at Acme' });
const rust = item({ id: 'cccccccc', kind: 'preference', text: 'Prefers Rust' });
const nuts = item({ id: 'dddddddd', kind: 'constraint', text: 'Allergic to nuts' });
const bornInParis = item({ id: 'eeeeeeee', kind: 'fact', text: 'Has a sister in Paris' });
const all = [paris, acme, rust, nuts];

function named(message: string, items = all, answerBefore = ''): readonly string[] {
  return namedItems([message], items, answerBefore).map(({ text }) => text);
}

describe('the speaker names', () => {
  it.each([
    ['forget Paris', ['Lives in Paris']],
    ['forget where I live', ['Lives in Paris']],
    ['I moved to Porto', ['Lives in Paris']],
    ['Not Paris, Porto', ['Lives in Paris']],
    ['forget my allergy', ['Allergic to nuts']],
    ['forget Paris and Acme', ['Lives in Paris', 'Works at Acme']],
    ['Parisを忘れて', ['Lives in Paris']],
  ])('in %j: %j', (message, texts) => {
    expect(named(message)).toEqual(texts);
  });

  it.each([
    ['by an item’s kind', 'forget the fact about me, my preference and my constraint'],
    ['by a verb that any item may have', 'forget that I prefer and like and have things'],
    ['by a word of correction', 'actually that is wrong, it changed'],
    ['by what is quoted', '> forget Paris\nwhat does he mean?'],
    ['by a part of a word', 'forget the Parisians'],
  ])('nothing %s', (_name, message) => {
    expect(named(message)).toEqual([]);
  });

  it('nothing by a word that stands in two items', () => {
    expect(named('forget Paris', [paris, bornInParis])).toEqual([]);
    expect(named('forget my sister in Paris', [paris, bornInParis])).toEqual(['Has a sister in Paris']);
  });

  it('without words of their own the one item that the answer before showed', () => {
    expect(named('forget that', all, 'I know this of you: lives in Paris.')).toEqual(['Lives in Paris']);
    expect(named('forget that', all, 'Lives in Paris, works at Acme')).toEqual([]);
    expect(named('forget Acme', all, 'Lives in Paris')).toEqual(['Works at Acme']);
  });

  it('only items that there are', () => {
    fc.assert(
      fc.property(anyItems, anyText, anyText, (items, message, answer) => {
        const found = namedItems([message], items, answer);
        expect(found.every((each) => items.includes(each))).toBe(true);
      }),
    );
  });
});

it('says that something is no longer so', () => {
  expect(corrects(['Actually, that changed'])).toBe(true);
  expect(corrects(['I like tea', '> actually not Paris'])).toBe(false);
});
