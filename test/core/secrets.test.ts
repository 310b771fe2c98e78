import fc from 'fast-check';
import { expect, it } from 'vitest';

import { hasSecret, maskNewSecrets, maskSecrets, secretMark, secretValues } from '../../src/core/secrets.ts';
import { runs } from '../support/runs.ts';
import { ordinarySentences, secretsSaid } from './secrets-said.ts';

it.each(secretsSaid)('masks the secret in %j, and nothing else around it [K14]', (said, secret) => {
  const masked = maskSecrets(said);
  expect(masked).not.toContain(secret);
  expect(masked).toContain(secretMark);
  expect(secretValues(said).some((value) => value.includes(secret))).toBe(true);
});

it.each(ordinarySentences)('%j is kept as it is [K14]', (text) => {
  expect(maskSecrets(text)).toBe(text);
  expect(hasSecret(text)).toBe(false);
});

it('takes quotes of at most 64 characters for a password [K14]', () => {
  expect(maskSecrets(`password: "${'a b '.repeat(16)}"`)).toBe(`password: "${secretMark}"`);
  expect(hasSecret(`password: "${'a b '.repeat(16)}c"`)).toBe(false);
});

it('a value that was given as a secret is masked where nothing tells that it is one', () => {
  const values = new Set(secretValues('my password is "rosebud"'));
  expect(maskSecrets('"rosebud" is weak; rosebuds are flowers', values)).toBe(
    `"${secretMark}" is weak; rosebuds are flowers`,
  );
});

it('of very many such values the last hundred are looked for [L4]', () => {
  const known = new Set(Array.from({ length: 2000 }, (_, index) => `Blue Hen ${index}`));
  expect(maskSecrets('It is blue\n hen 1900, not blue hen 1899.', known)).toBe(
    `It is ${secretMark}, not blue hen 1899.`,
  );
});

it('what a person wrote into a file by hand stays, what is added is masked', () => {
  const kept = '- password: "rosebud"\n';
  expect(maskNewSecrets(`${kept}- PIN: 4711\n`, kept)).toBe(`${kept}- PIN: ${secretMark}\n`);
});

const pieces = fc.array(
  fc.oneof(
    fc.constantFrom(...secretsSaid.map(([said]) => said), ...ordinarySentences),
    fc.constantFrom(
      'password',
      'is',
      ':',
      ' ',
      '=',
      'code',
      '"',
      '\n',
      '密码',
      'は',
      'my',
      secretMark,
      '||',
      ', ',
      '1234',
      'rosebud1',
    ),
    fc.string({ unit: 'grapheme', maxLength: 20 }),
  ),
  { maxLength: 8 },
);

it('masking is done once: again, it changes nothing, and what stands between the marks stays [K14]', () => {
  fc.assert(
    fc.property(pieces, fc.constantFrom('', ' ', '\n'), (parts, between) => {
      const text = parts.join(between);
      const masked = maskSecrets(text);
      expect(maskSecrets(masked)).toBe(masked);
      expect(hasSecret(masked)).toBe(false);
      let from = 0;
      for (const kept of masked.split(secretMark)) {
        const at = text.indexOf(kept, from);
        expect(at).toBeGreaterThanOrEqual(from);
        from = at + kept.length;
      }
    }),
    { numRuns: runs(500) },
  );
});
