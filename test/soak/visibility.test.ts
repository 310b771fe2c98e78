import { expect, it } from 'vitest';

import { playObedientScenes, rarerThan } from '../visibility/obedient-property.ts';

const scenes = 20_000;
/** Milliseconds: most of a day, since a failing scene is made shorter too. */
const timeout = 20 * 3_600_000;

it(
  'a model that obeys everybody does, forgets and tells nothing that others order, and keeps their words only as theirs [M5a][M8][V2]',
  { timeout },
  async () => {
    const counts = await playObedientScenes(scenes);
    process.stdout.write(`${JSON.stringify(Object.fromEntries(counts))}\n`);
    // Somebody who has an item of their own forgotten, of which exactly one is meant, is rare by chance.
    expect(rarerThan(scenes / 200, counts)).toEqual([]);
  },
);
