import { expect, it } from 'vitest';

import { playTurns, timeFor } from '../e2e/why-property.ts';

const turns = 500;

it(
  'names what stood in the prompt of each of 500 random turns, no more and no less [K7]',
  { timeout: timeFor(turns) },
  async () => {
    const counts = await playTurns(turns);
    process.stdout.write(`${JSON.stringify(Object.fromEntries(counts))}\n`);
    const shown = [
      'item',
      'summary',
      'exchange',
      'file',
      'listed',
      'recall_memory',
      'memory_read',
      'memory_list',
      'remember_item',
    ];
    expect(shown.filter((kind) => !counts.has(kind))).toEqual([]);
  },
);
