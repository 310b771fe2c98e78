import { describe, expect, it } from 'vitest';

import { memoryDefinition } from '../../src/commands/memory-command.ts';
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

  it('is asked about by default: only what is known to be harmless is not', async () => {
    const { say } = createHarness();
    const asked: string[] = [];
    for (const name of Object.keys(memoryDefinition.subcommands))
      if ((await say(name, undefined, byProxy)).startsWith('Did you ask')) asked.push(name);
    expect(
      Object.keys(memoryDefinition.subcommands)
        .filter((name) => !asked.includes(name))
        .toSorted(),
    ).toEqual([
      'conversations',
      'erase',
      'export',
      'history',
      'import',
      'notebook',
      'panel',
      'pin',
      'privacy',
      'proposals',
      'purge',
      'remember',
      'search',
      'show',
      'why',
    ]);
  });

  it('names the slash command where it is too long for a button', async () => {
    const { give } = createHarness();
    const { text, buttons } = await give(`forget ${'x'.repeat(70)}`, undefined, byProxy);
    expect(text).toContain('`/memory forget`');
    expect(buttons).toBeUndefined();
  });
});
