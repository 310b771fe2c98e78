import { expect, it } from 'vitest';

import { runs, seedOfTheDay } from '../support/runs.ts';
import { playObedientScenes, rarerThan } from './obedient-property.ts';
import { playScenes } from './visibility-property.ts';

const scenes = runs(800, 60);
const obedientScenes = runs(800);
const examples = (count: number) => `in ${count} scenes from the seed of the day: ${seedOfTheDay}`;
/** Milliseconds: a failing scene is made shorter too. */
const timeout = obedientScenes * 5000;

it(
  `nothing of one audience or person turns up where it may not be, ${examples(scenes)} [V1][V2][B2]`,
  { timeout },
  async () => {
    // A bot that never used its memory would let nothing turn up.
    const { rightlyUsed, notesUsed } = await playScenes(scenes, { seed: seedOfTheDay });
    expect(rightlyUsed).toBeGreaterThan(scenes);
    expect(notesUsed).toBeGreaterThan(0);
  },
);

it(
  `a model that obeys everybody does, forgets and tells nothing that others order, and keeps their words only as theirs, ${examples(obedientScenes)} [M5a][M8][V2]`,
  { timeout },
  async () => {
    const counts = await playObedientScenes(obedientScenes, seedOfTheDay);
    expect(rarerThan(1, counts)).toEqual([]);
  },
);
