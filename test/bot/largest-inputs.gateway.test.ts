import { expect, it, onTestFinished } from 'vitest';

import { openLargestInputs, type LargestInput } from '../support/largest-inputs.ts';
import { shapes } from '../support/shapes.ts';

/** Milliseconds that the loop may be held in one go, the sandbox's part included; `npm run bench` tells them for an idle machine. */
const mostHeld = 500;

const all = Object.keys(shapes);

it.each<{ input: LargestInput; of: readonly string[] }>([
  { input: 'a message', of: all },
  { input: 'ten files', of: all },
  { input: 'a set of cards', of: all },
  { input: 'what is shown', of: all },
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
