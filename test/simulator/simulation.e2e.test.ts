import { describe, expect, it } from 'vitest';

import { runs, seedOfTheDay } from '../support/runs.ts';
import { runSimulate } from './simulate.ts';

const seed = seedOfTheDay * 100;
const seeds = runs(50, 3);
/** The last of them, first in a process of their own: what a life does depends on no life before it. */
const again = runs(2, 1);

function hashesIn(output: string): readonly string[] {
  return [...output.matchAll(/hash (?<hash>[0-9a-f]+)/gu)].map(([, hash = '']) => hash);
}

describe('the whole bot in a simulated world [Z1]', () => {
  it(`keeps its promises, in ${seeds} seeds from that of the day on: ${seed}, and does the same with the same seed, event for event`, async () => {
    const [all, repeated] = await Promise.all([
      runSimulate({ seed, seeds }),
      runSimulate({ seed: seed + seeds - again, seeds: again }),
    ]);
    expect(all.isKept ? 'kept' : all.output).toBe('kept');
    expect(new Set(hashesIn(all.output)).size).toBe(seeds);
    expect(hashesIn(repeated.output)).toEqual(hashesIn(all.output).slice(-again));
  });
});
