import { expect, it, onTestFinished } from 'vitest';

import { mostHeld } from '../support/event-loop.ts';
import { openLargestInputs, type LargestInput } from '../support/largest-inputs.ts';
import { ofTheDay } from '../support/runs.ts';
import { shapes } from '../support/shapes.ts';

const tried = ofTheDay(Object.keys(shapes), 2);

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
