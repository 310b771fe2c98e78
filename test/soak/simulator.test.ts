import { expect, it } from 'vitest';

import { runSimulate } from '../simulator/simulate.ts';

const seeds = Number(process.env['SIMULATE_SEEDS'] ?? 500);
const seed = Math.floor(Math.random() * 1_000_000);

it(
  `the whole bot keeps its promises in a simulated world, in ${seeds} seeds from ${seed} on [Z1]`,
  { timeout: seeds * 5000 },
  async () => {
    const { output, isKept } = await runSimulate({ seed, seeds });
    expect(isKept ? 'kept' : output).toBe('kept');
  },
);
