import { describe, expect, it } from 'vitest';

import type { ActionTools } from '../../src/core/tool.ts';
import { createActionSwitch } from '../../src/turn/action-switch.ts';
import { publicPlace } from '../support/incoming.ts';
import { aliceContext } from '../model/alice-context.ts';

const actions: ActionTools = {
  tools: [
    {
      definition: { name: 'wave', description: 'Waves', inputSchema: { type: 'object' } },
      run: () => Promise.resolve({ ok: true, text: 'Waved.' }),
    },
  ],
  reader: {
    layer: 'wave',
    read: () =>
      Promise.resolve([
        { name: 'discord_actions', slot: 'last', title: 'Do:', lines: ['- wave'], budget: 99 },
      ]),
  },
};
const signal = new AbortController().signal;

describe('actions', () => {
  it('are there with their section where they are on', async () => {
    const on = createActionSwitch(actions, () => Promise.resolve(false));
    const [tool] = await on.toolsIn(publicPlace);
    expect(await tool?.run({}, aliceContext, signal)).toEqual({ ok: true, text: 'Waved.' });
    expect(await on.reader.read(aliceContext)).toHaveLength(1);
  });

  it('are not there where they are off, in a place or altogether', async () => {
    for (const off of [
      createActionSwitch(actions, () => Promise.resolve(true)),
      createActionSwitch(undefined, () => Promise.resolve(false)),
    ]) {
      expect(await off.toolsIn(publicPlace)).toEqual([]);
      expect(await off.reader.read(aliceContext)).toEqual([]);
    }
  });

  it('are refused where they were switched off meanwhile', async () => {
    let isOff = false;
    const switched = createActionSwitch(actions, () => Promise.resolve(isOff));
    const [tool] = await switched.toolsIn(publicPlace);
    isOff = true;
    expect(await tool?.run({}, aliceContext, signal)).toMatchObject({ ok: false });
  });
});
