import { describe, expect, it } from 'vitest';

import { aliceId } from '../support/incoming.ts';
import { createHarness } from './harness.ts';

const byProxy = { isProxied: true };

describe('a command that a proxy posted [G2a]', () => {
  it('is carried out where it shows or adds', async () => {
    const { say } = createHarness();
    expect(await say('remember I keep bees', undefined, byProxy)).toContain('Remembered: "I keep bees"');
    expect(await say('show', undefined, byProxy)).toContain('I keep bees');
  });

  it('changes and removes nothing, but shows the button that does', async () => {
    const { give, say, durable, idOf } = createHarness();
    await say('remember I keep bees');
    const id = await idOf('I keep bees');
    for (const words of [
      'forget bees',
      `hide ${id}`,
      `edit ${id} I keep hens`,
      'undo',
      'mode off',
      'pause',
    ]) {
      const { text, buttons } = await give(words, undefined, byProxy);
      expect(text).toBe(`Did you ask for this? "!memory ${words}"`);
      expect(buttons).toEqual([{ label: 'Yes, do it', line: `memory ${words}` }]);
    }
    expect(await durable.list(aliceId)).toMatchObject([{ text: 'I keep bees', visibility: 'everywhere' }]);
  });
});
