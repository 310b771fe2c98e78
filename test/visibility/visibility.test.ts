import { expect, it } from 'vitest';

import { playObedientScenes, rarerThan } from './obedient-property.ts';
import { playScenes } from './visibility-property.ts';

it('nothing of one audience or person turns up where it may not be, in a hundred scenes [V2]', async () => {
  expect(await playScenes(100)).toBeGreaterThan(100);
});

it('a model that obeys everybody does, forgets and tells nothing that others order, and keeps their words only as theirs, in a hundred scenes [M5a][M8][V2]', async () => {
  expect(rarerThan(1, await playObedientScenes(100))).toEqual([]);
});
