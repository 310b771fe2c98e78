import { describe, expect, it } from 'vitest';

import { inPrivate, openActionStage } from '../support/action-harness.ts';

describe('starting a thread', () => {
  it('starts one from a message, another one freely, and a private one that the person is in', async () => {
    const { server, ask, act } = await openActionStage();
    const context = await ask('bob', '#general', 'start threads, one of them from this');
    const fromMessage = await act(context, 'discord_start_thread', {
      name: 'this\nhere',
      message: 'current',
    });
    expect(fromMessage).toMatchObject({ ok: true, note: `🧵 started <#${context.messages[0]?.id}>` });
    expect(await act(context, 'discord_start_thread', { name: 'plans' })).toMatchObject({ ok: true });
    expect(await act(context, 'discord_start_thread', { name: 'plots', private: true })).toMatchObject({
      ok: true,
    });
    const threads = (await server.channels()).filter(({ kind }) => kind === 'thread');
    expect(threads.map(({ name }) => name)).toEqual(['this here', 'plans', 'plots']);
    expect(threads[1]?.seenBy).toContain('carol');
    expect(threads[2]?.seenBy).toEqual(['Discoclaw', 'alice', 'bob']);
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

  it('says nothing in a channel that became public meanwhile', async () => {
    const { ask, act, changingRequests } = await openActionStage();
    const context = await ask('bob', '#general', 'start a thread');
    const before = { ...context, place: inPrivate(context.place) };
    expect((await act(before, 'discord_start_thread', { name: 'what I know' })).text).toMatch(
      /visible to more people/u,
    );
    expect(await changingRequests()).toEqual([]);
  });
});
