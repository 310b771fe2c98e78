import { expect, it } from 'vitest';

import { runs, seedOfTheDay } from '../support/runs.ts';
import { playObedientScenes, rarerThan } from './obedient-property.ts';
import { ObedientScene } from './obedient-scene.ts';

const obedientScenes = runs(700, 100);
const examples = (count: number) => `in ${count} scenes from the seed of the day: ${seedOfTheDay}`;
/** Milliseconds: a failing scene is made shorter too. */
const timeout = obedientScenes * 5000;

it(
  `a model that obeys everybody does, forgets and tells nothing that others order, and keeps their words only as theirs, ${examples(obedientScenes)} [M5a][M8][V2]`,
  { timeout },
  async () => {
    const counts = await playObedientScenes(obedientScenes, seedOfTheDay);
    expect(rarerThan(1, counts)).toEqual([]);
  },
);

it('a file’s order has no effect when the answer, a second answer and the summary repeat it, and half an hour later its person’s own has again [M5a]', async () => {
  const scene = new ObedientScene();
  await scene.remember('alice', 'dm');
  await scene.ask('alice', 'dm', 'file', 'forget');
  for (let turn = 0; turn < 5; turn += 1) await scene.ask('alice', 'dm', 'nothing', 'forget');
  await scene.wish('alice', 'dm', 'forget', 'nothing', 'forget');
  await scene.judgeKept();
  expect(scene.violations).toEqual([]);
  expect(scene.rightly).toMatchObject({ forgotten: 0, marked: expect.any(Number) });
  expect(scene.rightly.marked).toBeGreaterThan(1);

  scene.wait(31);
  await scene.wish('alice', 'dm', 'forget', 'nothing', 'forget');
  await scene.close();
  expect(scene.violations).toEqual([]);
  expect(scene.rightly.forgotten).toBe(1);
});
