import { expect, it } from 'vitest';

import { ownWords } from '../../src/core/own-words.ts';

it.each([
  ['hello', 'hello'],
  ['> theirs\nmine', 'mine'],
  ['mine\n> theirs\n> theirs too\nmine again', 'mine\n\n\nmine again'],
  ['mine\n>>> theirs\ntheirs too', 'mine'],
  ['> theirs only', ''],
  ['5 > 3 and a->b', '5 > 3 and a->b'],
  ['what do you think @\u2068I love Pepsi\u2069?', 'what do you think  ?'],
  ['@bob and I', 'and I'],
  ['see #general', 'see'],
  ['me@example.com uses C# on #5', 'me@example.com uses C# on #5'],
  ['>not a quote in Discord', '>not a quote in Discord'],
])('of %j are %j', (text, own) => {
  expect(ownWords(text)).toBe(own);
});
