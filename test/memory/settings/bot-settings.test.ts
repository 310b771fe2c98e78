import { describe, expect, it } from 'vitest';

import { createBotSettings } from '../../../src/memory/settings/bot-settings.ts';
import { aliceId, bobId } from '../../support/incoming.ts';
import { MemoryStore } from '../../support/memory-store.ts';

describe('settings of the whole bot [G1]', () => {
  it('are empty at first, and of changes at the same time none is lost, also from another process', async () => {
    const store = new MemoryStore();
    const [here, elsewhere] = [createBotSettings(store), createBotSettings(store)];
    expect(await here.read()).toEqual({ version: 1, letIn: [], requests: {} });
    const letIn = (userId: string) => (settings: Awaited<ReturnType<typeof here.read>>) => ({
      ...settings,
      letIn: [...settings.letIn, `<@${userId}>`],
    });
    await Promise.all([
      here.change(letIn(aliceId)),
      elsewhere.change(letIn(bobId)),
      here.change((settings) => ({ ...settings, model: 'claude-opus-4-8' })),
    ]);
    const { letIn: people, model } = await elsewhere.read();
    expect([people.toSorted(), model]).toEqual([[`<@${aliceId}>`, `<@${bobId}>`], 'claude-opus-4-8']);
  });
});
