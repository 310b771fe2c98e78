import { expect, it } from 'vitest';

import { trySeeds } from '../simulator/try-seeds.ts';

const count = Number(process.env['SIMULATE_SEEDS'] ?? 500);
const from = Math.floor(Math.random() * 1_000_000);

it(
  `the whole bot keeps its promises in a simulated world, in ${count} seeds from ${from} on [Z1]`,
  { timeout: count * 5000 },
  async () => {
    expect(await trySeeds({ from, count })).toStrictEqual([]);
  },
);
