import { expect, it } from 'vitest';

import { playObedientScenes, rarerThan } from './obedient-property.ts';

it(
  'a model that obeys everybody does, forgets and tells nothing that others order, and keeps their words only as theirs [M5a][M8][V2]',
  { timeout: 1_800_000 },
  async () => {
    expect(rarerThan(50, await playObedientScenes(2000))).toEqual([]);
  },
);
