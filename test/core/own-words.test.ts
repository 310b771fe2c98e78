import { expect, it } from 'vitest';

import { ownWords } from '../../src/core/own-words.ts';

it.each([
  ['hello', 'hello'],
  ['> theirs\nmine', 'mine'],
  ['mine\n> theirs\n> theirs too\nmine again', 'mine\n\n\nmine again'],
  ['mine\n>>> theirs\ntheirs too', 'mine'],
  ['5 > 3 and a->b', '5 > 3 and a->b'],
  ['what do you think @\u2068I love Pepsi\u2069?', 'what do you think  ?'],
  ['@bob and I', 'and I'],
  ['me@example.com uses C# on #5', 'me@example.com uses C# on #5'],
  ['>not a quote in Discord', '>not a quote in Discord'],
])('of %j are %j', (text, own) => {
  expect(ownWords(text)).toBe(own);
});

/** Code is what any of the readings of Markdown takes for it: in doubt a text proves nothing. */
it.each([
  ['a ``b ` c`` d', 'a   d'],
  ['it is 5` long', 'it is 5` long'],
  ['mine\n```\ntheirs\n```\nmine', 'mine\n\n\nmine'],
  ['mine ```theirs``` mine', 'mine \n mine'],
  ['mine\n```ts\ntheirs', 'mine'],
  ['mine\n````\n```\ntheirs\n```\ntheirs\n````\nmine', 'mine\n\n\nmine'],
  ['> ```\n> theirs\n> ```\nmine', 'mine'],
  ['mine\n~~~\ntheirs\n~~~\nmine', 'mine\n\n\nmine'],
  ['mine\n~~~\ntheirs', 'mine'],
  ['mine\n~~~~~\n~~~\ntheirs\n~~~~~~ \nmine', 'mine\n\n\nmine'],
  ['- ~~~\n  theirs\n  ~~~\nmine', 'mine'],
  ['1. > ~~~\ntheirs\n> ~~~\nmine', 'mine'],
  ['mine\r\n~~~\r\ntheirs\r\n~~~\r\nmine', 'mine\r\n\n\nmine'],
  ['~~~\n```\n~~~\nmine ```theirs```', 'mine'],
  ['```\n~~~\n```\nmine\n~~~\ntheirs', 'mine'],
  ['~~wrong~~ mine', '~~wrong~~ mine'],
  ['mine\n>>> ```\ntheirs\n```\ntheirs', 'mine'],
  ['```\n>>> 1\n```\nmine', 'mine'],
])('code does not count as own words: of %j they are %j', (text, own) => {
  expect(ownWords(text)).toBe(own);
});
