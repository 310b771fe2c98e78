import fc from 'fast-check';
import { expect, it } from 'vitest';

import { playForgettings } from '../e2e/forgetting-property.ts';

it(
  'what an answer said was forgotten, purged or erased by 200 people stands on no disk and in no prompt once undo is over [K4][K11][S7]',
  { timeout: 3_600_000 },
  async () => {
    const [seed = 0] = fc.sample(fc.nat(), 1);
    const { taken, kills, found } = await playForgettings(200, seed);
    process.stdout.write(`seed ${seed}: ${JSON.stringify(taken)} words taken, ${kills} kills\n`);
    expect(found).toEqual([]);
    expect(Math.min(...Object.values(taken))).toBeGreaterThan(10);
  },
);
