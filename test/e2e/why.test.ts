import { expect, it } from 'vitest';

import { playTurns, timeFor } from './why-property.ts';

it(
  'names what stood in the prompt of each of 40 random turns, no more and no less [K7]',
  { timeout: timeFor(40) },
  async () => {
    const counts = await playTurns(40);
    expect(counts.get('item')).toBeGreaterThan(20);
  },
);
