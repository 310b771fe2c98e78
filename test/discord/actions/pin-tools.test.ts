import { describe, expect, it } from 'vitest';

import { openActionStage } from '../support/action-harness.ts';

describe('pinning', () => {
  it('pins and unpins a message where both may', async () => {
    const { server, ask, act, settled } = await openActionStage();
    await server.setRole({ name: 'keepers', people: ['Discoclaw', 'bob'], permissions: ['PinMessages'] });
    const context = await ask('bob', '#general', 'pin this');
    await settled();
    expect(await act(context, 'discord_pin', { message: 'current' })).toMatchObject({
      ok: true,
      note: '📌 pinned',
    });
    expect(await act(context, 'discord_pin', { message: 'current' })).toMatchObject({ ok: true });
    const pins = () => server.messages({ in: '#general' });
    expect((await pins()).find(({ id }) => id === context.messages[0]?.id)?.isPinned).toBe(true);
    expect(await act(context, 'discord_unpin', { message: 'current' })).toMatchObject({
      ok: true,
      note: '📌 unpinned',
    });
    expect((await pins()).some(({ isPinned }) => isPinned)).toBe(false);
  });

  it('is refused without a request where only one of the two may', async () => {
    const { server, ask, act, changingRequests, settled } = await openActionStage();
    const context = await ask('bob', '#general', 'pin this');
    await server.setRole({ name: 'keepers', people: ['Discoclaw'], permissions: ['PinMessages'] });
    await settled();
    expect((await act(context, 'discord_pin', { message: 'current' })).text).toMatch(/the person lacks/u);
    await server.setOverwrite({ channel: '#general', for: 'bob', allow: ['PinMessages'] });
    await server.setOverwrite({ channel: '#general', for: 'Discoclaw', deny: ['PinMessages'] });
    await settled();
    expect((await act(context, 'discord_pin', { message: 'current' })).text).toMatch(/I lack/u);
    expect(await changingRequests()).toEqual([]);
  });
});
