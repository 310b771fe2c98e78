import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

import { compared, isOneMatter } from '../../../src/memory/durable/review.ts';
import { item } from './fixtures.ts';

interface Pair {
  readonly isOneMatter: boolean;
  readonly older: string;
  readonly newer: string;
}

/** Written before what finds them, and not changed to suit it. */
const pairs: readonly Pair[] = readFileSync(new URL('pairs.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line): Pair => JSON.parse(line));

function isFound(newer: string, older: string): boolean {
  return isOneMatter(compared(item({ text: newer })), compared(item({ text: older })));
}

describe('two things of one matter [K16]', () => {
  it('are right in at least four of five that are offered, and two in five are found', () => {
    const offered = pairs.filter(({ newer, older }) => isFound(newer, older));
    const right = offered.filter((pair) => pair.isOneMatter);
    expect(right.length / offered.length).toBeGreaterThanOrEqual(0.8);
    expect(right.length / 50).toBeGreaterThanOrEqual(0.4);
    console.info(`offered ${offered.length} of 100, right ${right.length}; found ${right.length} of 50`);
  });

  it('are the same whichever is the newer one', () => {
    for (const { newer, older } of pairs) expect(isFound(newer, older)).toBe(isFound(older, newer));
  });

  it.each([
    ['I keep bees', 'I keep bees and hens'],
    ['My sister is called Anna', 'My little sister is called Anna'],
    ['Vegetarian!', 'is vegetarian'],
    ['Works at Acme in Porto', 'Works at Acme in Porto as an engineer'],
  ])('say the same, and little more: %s, %s', (older, newer) => {
    expect(isFound(newer, older)).toBe(true);
  });

  it.each([
    ['I have a cat called Tom', 'I have a dog called Tom'],
    ['Likes tea', 'Likes tea with oat milk on Sunday mornings in the garden'],
    ['My son plays football', 'My daughter plays football'],
    [
      'My best friend Anna lives in Porto',
      'My best friend Anna plays the cello in the youth orchestra of Lisbon',
    ],
    ['🎉🎉', '🎉'],
    ['', ''],
  ])('are none: %s, %s', (older, newer) => {
    expect(isFound(newer, older)).toBe(false);
  });

  it('are answers to the same question, and of one kind', () => {
    const question = 'Where do you live in Portugal?';
    const [porto, lisbon] = ['Porto', 'Lisbon'].map((text) => item({ text, question }));
    if (porto === undefined || lisbon === undefined) throw new Error('No items');
    expect(isOneMatter(compared(porto), compared(lisbon))).toBe(true);
    // What people store themselves is a fact, whatever it is.
    expect(isOneMatter(compared(porto), compared({ ...lisbon, kind: 'fact' }))).toBe(true);
    expect(isOneMatter(compared(porto), compared({ ...lisbon, kind: 'project' }))).toBe(false);
  });
});
