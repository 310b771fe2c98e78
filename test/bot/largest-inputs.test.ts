import { expect, it, onTestFinished } from 'vitest';

import { mostHeld } from '../support/event-loop.ts';
import { openLargestInputs, type LargestInput } from '../support/largest-inputs.ts';
import { runs, seedOfTheDay } from '../support/runs.ts';
import { shapes } from '../support/shapes.ts';

/** In `npm test` a part of them, another one each day. */
const all = Object.keys(shapes);
const first = seedOfTheDay % all.length;
const tried = [...all.slice(first), ...all.slice(0, first)].slice(0, runs(all.length, 3));

it.each<{ input: LargestInput; of: readonly string[] }>([
  { input: 'a message', of: tried },
  { input: 'ten files', of: tried },
  { input: 'a set of cards', of: tried },
  { input: 'what is shown', of: tried },
  { input: 'a burst', of: ['sentences'] },
])('$input of the largest size holds nobody else up, whatever its form [L4]', async ({ input, of }) => {
  const { inputs, close } = await openLargestInputs();
  onTestFinished(close);
  const slow: string[] = [];
  for (const shape of of) {
    const { longest } = await inputs[input](shape);
    if (longest > mostHeld) slow.push(`${shape}: ${Math.round(longest)} ms`);
  }
  expect(slow).toEqual([]);
});
