import { describe, expect, it } from 'vitest';

import { loadSimulator } from './bundle.ts';
import { trySeeds } from './try-seeds.ts';

/** Another one each day, so that the days try more than one of them. */
const seedOfTheDay = Math.floor(Date.now() / 86_400_000) * 100;

describe('the whole bot in a simulated world [Z1]', () => {
  it.each([1, 2, 3])('does the same with the same seed, event for event (seed %i)', async (seed) => {
    const { simulate } = await loadSimulator();
    const run = { seed, people: 5, steps: 150 };
    const { hash, steps } = await simulate(run);
    const otherwise = await simulate({ ...run, seed: seed + 1000 });
    expect(otherwise.hash).not.toBe(hash);
    expect(await simulate(run)).toMatchObject({ hash, steps });
  });

  it(`keeps its promises, in 30 seeds from the seed of the day on: ${seedOfTheDay}`, async () => {
    expect(await trySeeds({ from: seedOfTheDay, count: 30 })).toStrictEqual([]);
  });
});
