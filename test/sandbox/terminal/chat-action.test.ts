import { describe, expect, it } from 'vitest';

import { findTarget, readTarget } from '../../../src/sandbox/terminal/chat-action.ts';

describe('a count of messages', () => {
  it('comes before the words, or last in actions without words', () => {
    expect(readTarget('^2 hello', 'beginning')).toEqual({ count: 2, rest: 'hello' });
    expect(readTarget('^2', 'beginning')).toEqual({ count: 2, rest: '' });
    expect(readTarget('👍 ^12', 'either end')).toEqual({ count: 12, rest: '👍' });
    expect(readTarget('^1 "Remember this"', 'either end')).toEqual({ count: 1, rest: '"Remember this"' });
  });

  it('is not recognised inside what people say', () => {
    for (const words of ['2 apples', 'x ^2', 'x^2', '^2x', '^ 2', '']) {
      expect(readTarget(words, 'beginning')).toEqual({ rest: words });
    }
    expect(readTarget('x^2', 'either end')).toEqual({ rest: 'x^2' });
  });
});

describe('the message that is meant', () => {
  const messages = ['a', 'b', 'c'].map((id) => ({ id }));
  const find = (count: number | undefined, ids: readonly string[] = ['a', 'b']): string =>
    findTarget(messages, count, ({ id }) => ids.includes(id), 'none fits').id;

  it('is the newest that fits, or the one that is counted to, whether or not it fits', () => {
    expect(find(undefined)).toBe('b');
    expect([find(1), find(2), find(3)]).toEqual(['c', 'b', 'a']);
  });

  it('is refused with what there is', () => {
    expect(() => find(undefined, [])).toThrow('none fits');
    expect(() => find(4)).toThrow('^4 is not a message here; ^1 is the newest, ^3 the oldest');
    expect(() => find(0)).toThrow('^0 is not a message here');
    expect(() => findTarget([], 1, () => true, 'none')).toThrow('There are no messages here yet');
  });
});
