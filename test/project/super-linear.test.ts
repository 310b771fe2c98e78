import { describe, expect, it } from 'vitest';

import { superLinearLoops } from '../../scripts/super-linear.ts';

function loopsOf({ source, flags }: RegExp): string | undefined {
  return superLinearLoops(source, flags);
}

describe('the check of regular expressions [L4]', () => {
  it.each([
    { expression: /\s+$/u, says: 'the search … \\s' },
    { expression: /<(?=\s*\/?\s*(?:facts|notes)\b)/giu, says: '\\s … \\s' },
    { expression: /^(?:a+)+$/u, says: 'a … a' },
    { expression: /^(?:a|a)*b/u, says: 'a … a' },
    { expression: /^(?:a|b|ab)*c/u, says: 'a … a' },
    { expression: /^(.*)x?(.*)$/u, says: '. … .' },
    { expression: /^# +(.*\S)\s*$/u, says: '  … .' },
    { expression: /<!--[\s\S]*?-->/gu, says: 'the search … [\\s\\S]' },
    { expression: /a(?:[ab]*c)?/gu, says: 'the search … [ab]' },
    { expression: /\beyJ[\w-]{8,}\.[\w-]{8,}/u, says: 'the search … [\\w-]' },
    { expression: /^[^\S\n]*>.*$/gmu, says: 'the search … [^\\S\\n]' },
  ])('refuses $expression', ({ expression, says }) => {
    expect(loopsOf(expression)).toBe(says);
  });

  it.each([
    { expression: /\s+/gu },
    { expression: /(?<!\s)\s+$/u },
    { expression: /^a+$/u },
    { expression: /(?:ab)+/gu },
    { expression: /^(\S*)\s*([\s\S]*)$/u },
    { expression: /^(?:a|ab)*c/u },
    { expression: /<(?=[\s/]*(?:facts|notes)\b)/giu },
    { expression: /[\w-]{23,28}\.[\w-]{27,}/u },
    { expression: /\s*<@([0-9]+)>[\s,:]*/uy },
  ])('accepts $expression', ({ expression }) => {
    expect(loopsOf(expression)).toBeUndefined();
  });

  it('refuses what it cannot analyse', () => {
    expect(() => loopsOf(/(a+)\1/u)).toThrow('Backreferences');
    expect(() => loopsOf(/(?<=\s+)x/u)).toThrow('looks back in a loop');
  });
});
