import { describe, expect, it } from 'vitest';

import { runs, seedOfTheDay } from '../support/runs.ts';
import { runSimulate } from './simulate.ts';

const seed = seedOfTheDay * 100;
const seeds = runs(150);

async function hashes(): Promise<readonly string[]> {
  const { output } = await runSimulate({ seed: 1, seeds: 3, steps: 150 });
  return [...output.matchAll(/hash (?<hash>[0-9a-f]+)/gu)].map(([, hash = '']) => hash);
}

describe('the whole bot in a simulated world [Z1]', () => {
  it('does the same with the same seed, event for event', async () => {
    const [first, second] = await Promise.all([hashes(), hashes()]);
    expect(new Set(first).size).toBe(3);
    expect(second).toEqual(first);
  });

  it(`keeps its promises, in ${seeds} seeds from that of the day on: ${seed}`, async () => {
    const { output, isKept } = await runSimulate({ seed, seeds });
    expect(isKept ? 'kept' : output).toBe('kept');
  });
});
