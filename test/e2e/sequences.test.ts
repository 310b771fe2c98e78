import { expect, it } from 'vitest';

import { playSequences, timeFor } from './sequences-property.ts';

it(
  'gives each message one reply at most, and none to a deleted one, of which no memory is left, whatever happens in which order [G3][G5]',
  { timeout: timeFor(3) },
  async () => {
    // A bot that said nothing would leave nothing to be found.
    expect(await playSequences(3)).toBeGreaterThan(4);
  },
);
