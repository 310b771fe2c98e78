import { describe, expect, it } from 'vitest';

import { runSimulate } from './simulate.ts';

/** Another one each day, so that the days try more than one of them. */
const seedOfTheDay = Math.floor(Date.now() / 86_400_000) * 100;

async function hashes(): Promise<readonly string[]> {
  const { output } = await runSimulate({ seed: 1, seeds: 3, steps: 150 });
  return [...output.matchAll(/hash (?<hash>[0-9a-f]+)/gu)].map(([, hash = '']) => hash);
}

describe('the whole bot in a simulated world [Z1]', () => {
  it('does the same with the same seed, event for event', async () => {
    const first = await hashes();
    expect(new Set(first).size).toBe(3);
    expect(await hashes()).toEqual(first);
  });

  it(`keeps its promises, in 30 seeds from the seed of the day on: ${seedOfTheDay}`, async () => {
    const { output, isKept } = await runSimulate({ seed: seedOfTheDay, seeds: 30 });
    expect(isKept ? 'kept' : output).toBe('kept');
  });
});
