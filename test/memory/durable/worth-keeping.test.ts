import { readFileSync } from 'node:fs';

import { describe, expect, it } from 'vitest';
import { z } from 'zod';

import { sentencesQuoted } from '../../../src/memory/durable/evidence.ts';
import { isWorthKeeping } from '../../../src/memory/durable/extraction.ts';

const saidAt = new Date('2026-03-12T12:00:00Z');

/** Whether what a quote touches is kept of a message, which perhaps answers a question. */
function isKept(quote: string, message = quote, isAnswer = false): boolean {
  const text = sentencesQuoted(quote, message) ?? '';
  return isWorthKeeping(text, { message, isAnswer, saidAt, timeZone: 'UTC' });
}

describe('what may matter in months [A2]', () => {
  it.each([
    ['Good morning!', 'I prefer Rust!'],
    ['Привет!', 'Soy vegetariana.'],
    ['That is what it is.', 'I am left-handed.'],
    ['I saw a hornet yesterday.', 'I keep hornets.'],
    ['今日は本当に疲れた。', '私は薬剤師です。'],
    ['I have a headache today.', 'My driving test is tomorrow.'],
    ['We moved on 2 March 2026, jajaja', 'We moved on 2 March 2026.'],
    ['我家狗比我还会开会，哈哈哈', '我家有一只狗。'],
    ['Vou virar um painel solar kkkk', 'My site is www.example.org'],
    ['My cat is my boss 😂', 'My cat is called Rex 😊'],
  ])('is not %j, but %j', (left, kept) => {
    expect([isKept(left), isKept(kept)]).toEqual([false, true]);
  });

  it('is not what a question is made of, but what merely precedes one', () => {
    const task = 'My Excel table has five columns. How do I sort a table by two columns in Excel?';
    expect(isKept('My Excel table has five columns', task)).toBe(false);
    expect(isKept("I'm vegetarian", "I'm vegetarian. What can I cook today?")).toBe(true);
    expect(isKept("I'm vegetarian", "I'm vegetarian, what can I cook today?")).toBe(true);
    expect(isKept('My daughter is seven', 'My daughter is seven. What would my daughter like?')).toBe(true);
  });

  it('is not what stands beside a block of code', () => {
    expect(isKept('It returns nothing', 'It returns nothing\n```js\nadd(1)\n```')).toBe(false);
    expect(isKept('at work', 'I write `Go` at work')).toBe(true);
  });

  it('is one word where that answers a question', () => {
    expect([isKept('Porto'), isKept('Porto', 'Porto', true)]).toEqual([false, true]);
  });

  it('is any statement that a person makes about themselves, in any language', () => {
    const lines = readFileSync(new URL('statements.jsonl', import.meta.url), 'utf8')
      .trim()
      .split('\n');
    const statements = lines.map((line) => z.array(z.string()).parse(JSON.parse(line)));
    expect(statements.length).toBeGreaterThan(40);
    expect(statements.filter(([, message = '', quote = '']) => !isKept(quote, message))).toEqual([]);
  });
});
