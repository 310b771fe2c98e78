import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import type { CacheLife } from '../../src/core/model.ts';
import { isKept, longerLife, nextCadence, type Cadence } from '../../src/prompt/cadence.ts';
import { minuteMs } from './samples.ts';

const hourMs = 60 * minuteMs;
const price = { read: 0.1, write: { '5m': 1.25, '1h': 2 } };

function afterPauses(pauses: readonly number[], { isPriced } = { isPriced: true }): Cadence {
  const priced = isPriced ? price : undefined;
  let now = 0;
  let cadence = nextCadence(undefined, now, priced);
  for (const pause of pauses) cadence = nextCadence(cadence, (now += pause), priced);
  return cadence;
}

/** The life of the marks at each turn, the first before any pause. */
function livesOf(pauses: readonly number[]): readonly (CacheLife | undefined)[] {
  return [[], ...pauses.map((_, index) => pauses.slice(0, index + 1))].map((some) => afterPauses(some).life);
}

function times(count: number, ...pauses: readonly number[]): readonly number[] {
  return Array.from({ length: count }, () => pauses).flat();
}

describe('what is sent is kept', () => {
  it('for five minutes while turns follow each other quickly, from the first on', () => {
    expect(new Set(livesOf(times(10, minuteMs)))).toEqual(new Set(['5m']));
  });

  it('for an hour as soon as pauses of ten minutes are known', () => {
    expect(livesOf(times(5, 10 * minuteMs)).slice(1)).toEqual(Array(5).fill('1h'));
  });

  it('not at all once turns come hours apart', () => {
    expect(livesOf(times(5, 3 * hourMs)).slice(2)).toEqual(Array(4).fill(undefined));
  });

  it('for five minutes where somebody comes back after hours and then writes on, each time', () => {
    const burst = [3 * hourMs, minuteMs, minuteMs, minuteMs];
    expect(afterPauses([...times(4, ...burst), 3 * hourMs]).life).toBe('5m');
  });

  it('for an hour where somebody comes back the next day and then writes every ten minutes', () => {
    const day = [20 * hourMs, ...times(5, 10 * minuteMs)];
    expect(afterPauses([...times(2, ...day), 20 * hourMs]).life).toBe('1h');
  });

  it('by a new rhythm within a few turns', () => {
    const changed = [...times(12, 3 * hourMs), ...times(3, minuteMs)];
    expect(afterPauses(changed).life).toBe('5m');
  });

  it('for five minutes, whatever the rhythm, where the price is not known', () => {
    expect(afterPauses(times(5, 10 * minuteMs), { isPriced: false }).life).toBe('5m');
    expect(afterPauses(times(5, 3 * hourMs), { isPriced: false }).life).toBe('5m');
  });
});

const pause = fc.oneof(
  fc.integer({ min: 1, max: 5 * minuteMs }),
  fc.integer({ min: 5 * minuteMs, max: hourMs }),
  fc.integer({ min: hourMs, max: 48 * hourMs }),
);

describe('whatever the rhythm', () => {
  it('what is still kept is always read: the next request has marks', () => {
    fc.assert(
      fc.property(fc.array(pause, { maxLength: 30 }), pause, (pauses, last) => {
        const before = afterPauses(pauses);
        const now = (before.turns.at(-1) ?? 0) + last;
        fc.pre(isKept(before, now));
        expect(nextCadence(before, now, price).life).toBeDefined();
      }),
    );
  });

  it('what is known of it never grows beyond a few turns', () => {
    fc.assert(
      fc.property(fc.array(pause, { maxLength: 60 }), (pauses) => {
        expect(afterPauses(pauses).turns.length).toBeLessThanOrEqual(12);
      }),
    );
  });
});

it('is kept as long as its marks say, and not without', () => {
  expect(isKept(undefined, 0)).toBe(false);
  expect(isKept({ turns: [0], life: undefined }, 1)).toBe(false);
  expect(isKept({ turns: [0], life: '5m' }, 5 * minuteMs)).toBe(true);
  expect(isKept({ turns: [0], life: '5m' }, 5 * minuteMs + 1)).toBe(false);
  expect(isKept({ turns: [0], life: '1h' }, hourMs)).toBe(true);
});

it('the longer of two lives is the one that covers both', () => {
  expect(longerLife('5m', '1h')).toBe('1h');
  expect(longerLife('1h', undefined)).toBe('1h');
  expect(longerLife(undefined, '5m')).toBe('5m');
  expect(longerLife(undefined, undefined)).toBeUndefined();
});
