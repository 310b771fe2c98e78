import { expect, it } from 'vitest';

import { playSwitchedScenes } from './memory-off-property.ts';

it('keeps nothing of what is said where memory is off, and uses nothing there, whatever the model tries', async () => {
  const { writtenWhileOn, givenWhileOn } = await playSwitchedScenes(40);
  // Otherwise it would hold for a bot without any memory.
  expect(writtenWhileOn).toBeGreaterThan(100);
  expect(givenWhileOn).toBeGreaterThan(10);
});
