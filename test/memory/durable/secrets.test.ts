import { expect, it } from 'vitest';

import { looksSecret } from '../../../src/memory/durable/secrets.ts';

it.each([
  'My password is rosebud',
  'Мой пароль: ромашка',
  'パスワードは犬',
  'The PIN is 4711',
  'Card 4111 1111 1111 1111',
  'IBAN of mine: DE89 3704 0044 0532 0130 00',
  `Key sk-${'a1'.repeat(12)}`,
  `Uses ghp_${'a1B2'.repeat(9)}`,
  'Signs in with AbCdEf123456GhIjKl',
])('%j looks secret', (text) => {
  expect(looksSecret(text)).toBe(true);
});

it.each([
  'Prefers Rust',
  'Born on 1990-05-17',
  'Works on the token economy of a pin board',
  'Calls it createKeyedQueueForEverything',
  'Reads https://example.com/AbCdEf123456GhIjKl',
  'Order number 4111 1111 1111 1112',
])('%j does not', (text) => {
  expect(looksSecret(text)).toBe(false);
});
