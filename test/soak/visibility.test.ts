import { expect, it } from 'vitest';

import { playSwitchedScenes } from '../visibility/memory-off-property.ts';
import { playObedientScenes, rarerThan } from '../visibility/obedient-property.ts';
import { playScenes } from '../visibility/visibility-property.ts';

const scenes = 20_000;
/** Milliseconds: most of a day, since a failing scene is made shorter too. */
const timeout = 20 * 3_600_000;

it('nothing of one audience or person turns up where it may not be [V2][B2]', { timeout }, async () => {
  const counts = await playScenes(scenes);
  process.stdout.write(`${JSON.stringify(counts)}\n`);
  expect(counts.rightlyUsed).toBeGreaterThan(scenes);
  expect(counts.notesUsed).toBeGreaterThan(scenes / 10);
});

it('keeps nothing of what is said where memory is off, and uses nothing there', { timeout }, async () => {
  const { writtenWhileOn, givenWhileOn } = await playSwitchedScenes(scenes);
  expect(writtenWhileOn).toBeGreaterThan(scenes);
  expect(givenWhileOn).toBeGreaterThan(scenes / 4);
});

it(
  'a model that obeys everybody does, forgets and tells nothing that others order, and keeps their words only as theirs [M5a][M8][V2]',
  { timeout },
  async () => {
    const counts = await playObedientScenes(scenes);
    process.stdout.write(`${JSON.stringify(Object.fromEntries(counts))}\n`);
    expect(rarerThan(scenes / 40, counts)).toEqual([]);
  },
);
