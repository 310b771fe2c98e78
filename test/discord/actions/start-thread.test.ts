import { describe, expect, it } from 'vitest';

import { openActionStage } from '../support/action-harness.ts';

describe('starting a thread', () => {
  it('takes the one that an earlier try at the turn has started', async () => {
    const { server, ask, act, settled } = await openActionStage();
    const context = await ask('bob', '#general', 'start a thread, and one from this');
    for (const wish of [{ name: 'plans' }, { name: 'from here', message: 'current' }]) {
      const first = await act(context, 'discord_start_thread', wish);
      await settled();
      expect(await act({ ...context }, 'discord_start_thread', wish)).toEqual(first);
    }
    expect((await server.channels()).filter(({ kind }) => kind === 'thread')).toHaveLength(2);
  });

  it('is refused without a request where it is not allowed or not possible', async () => {
    const { server, ask, act, changingRequests, settled } = await openActionStage();
    const context = await ask('bob', '#general', 'start a thread');
    const refused = async (wish: object) =>
      (await act(context, 'discord_start_thread', { name: 'plans', ...wish })).text;
    expect(await refused({ message: 'current', private: true })).toMatch(/cannot be private/u);
    expect(await refused({ name: 'x'.repeat(101) })).toMatch(/^Not done: .*name/su);
    await server.setOverwrite({ channel: '#general', for: 'bob', deny: ['CreatePrivateThreads'] });
    await server.setOverwrite({ channel: '#general', for: 'Discoclaw', deny: ['CreatePublicThreads'] });
    await settled();
    expect(await refused({ private: true })).toMatch(
      /the person lacks the permission to start private threads/u,
    );
    expect(await refused({})).toMatch(/I lack the permission to start threads/u);
    const dm = await ask('bob', 'dm', 'start a thread');
    expect((await act(dm, 'discord_start_thread', { name: 'plans' })).text).toMatch(
      /not possible in direct messages/u,
    );
    expect(await changingRequests()).toEqual([]);
  });
});
