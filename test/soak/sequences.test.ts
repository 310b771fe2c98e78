import { expect, it } from 'vitest';

import { playSequences, timeFor } from '../e2e/sequences-property.ts';

it(
  'gives each message one reply at most, and none to a deleted one, of which no memory is left [G3][G5]',
  { timeout: timeFor(200) },
  async () => {
    expect(await playSequences(200)).toBeGreaterThan(4);
  },
);
