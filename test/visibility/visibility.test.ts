import { expect, it } from 'vitest';

import { playObedientScenes, rarerThan } from './obedient-property.ts';
import { playScenes } from './visibility-property.ts';

it('nothing of one audience or person turns up where it may not be, in sixty scenes [V1][V2][B2]', async () => {
  const { rightlyUsed, notesUsed } = await playScenes(60);
  expect(rightlyUsed).toBeGreaterThan(60);
  expect(notesUsed).toBeGreaterThan(5);
});

it('a model that obeys everybody does, forgets and tells nothing that others order, and keeps their words only as theirs, in fifty scenes [M5a][M8][V2]', async () => {
  expect(rarerThan(1, await playObedientScenes(50))).toEqual([]);
});
