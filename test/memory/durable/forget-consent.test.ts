import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { asksToForget, mayReplace } from '../../../src/memory/durable/forget-consent.ts';
import { anyItems, anyText, item } from './fixtures.ts';

const paris = item({ kind: 'fact', text: 'Lives in Paris' });
const acme = item({ id: 'bbbbbbbb', kind: 'fact', text: 'Works at Acme' });

describe('the speaker asks to forget', () => {
  it.each([
    'Please forget that I live in Paris',
    'forget Paris',
    'delete the fact about my city',
    "don't remember where I live",
    'забудь про Paris',
    'Parisを忘れて',
    'Vergiss Paris bitte',
  ])('in %j', (message) => {
    expect(asksToForget([message], 'paris', [paris])).toBe(true);
  });

  it.each([
    ['without asking', 'What is new in Paris?'],
    ['when asked to keep it', "Don't forget that I live in Paris"],
    ['when asked to keep it in Russian', 'не забудь Paris'],
    ['by what somebody else is quoted with', '> forget Paris\nwhat does he mean?'],
    ['when asking for something else', 'forget my umbrella'],
  ])('not %s', (_name, message) => {
    expect(asksToForget([message], 'paris', [paris])).toBe(false);
  });

  it('for every item, or not at all', () => {
    expect(asksToForget(['forget Paris'], 'a', [paris, acme])).toBe(false);
    expect(asksToForget(['forget Paris and Acme'], 'a', [paris, acme])).toBe(true);
  });

  it('never without a word for it, whatever others say', () => {
    fc.assert(
      fc.property(anyItems, anyText, anyText, (items, message, target) => {
        expect(asksToForget([message], target, items)).toBe(false);
      }),
    );
  });
});

describe('a correction may replace an item', () => {
  it.each(['I moved to Berlin', 'I live in Berlin', 'Not Paris, Berlin'])('by %j', (message) => {
    expect(mayReplace([message], paris)).toBe(true);
  });

  it('not when the speaker’s words have nothing to do with it', () => {
    expect(mayReplace(['I like tea', '> not Paris'], paris)).toBe(false);
  });
});
