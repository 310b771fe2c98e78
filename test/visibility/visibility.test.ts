import { expect, it } from 'vitest';

import { playScenes } from './visibility-property.ts';

it('nothing of one audience or person turns up where it may not be, in a hundred scenes [V2]', async () => {
  expect(await playScenes(100)).toBeGreaterThan(100);
});
