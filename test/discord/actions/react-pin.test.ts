import { describe, expect, it } from 'vitest';

import { readEmoji } from '../../../src/discord/actions/react-pin.ts';
import { openActionStage } from '../support/action-harness.ts';

describe('reacting', () => {
  it('uses the server’s own emoji by name', async () => {
    const { server, ask, act } = await openActionStage();
    const { id } = await server.addEmoji({ name: 'claw' });
    const context = await ask('bob', '#general', 'react to this');
    expect(await act(context, 'discord_react', { message: 'current', emoji: ':claw:' })).toMatchObject({
      ok: true,
      note: `<:claw:${id}> reacted`,
    });
    expect((await server.messages({ in: '#general' }))[0]?.reactions).toEqual({
      [`claw:${id}`]: ['Discoclaw'],
    });
    const refused = await act(context, 'discord_react', { message: 'current', emoji: ':paw:' });
    expect(refused.text).toMatch(/no such emoji/u);
    const dm = await ask('bob', 'dm', 'react to this');
    expect((await act(dm, 'discord_react', { message: 'current', emoji: ':claw:' })).ok).toBe(false);
  });

  it('is refused without a request where the person or the bot may not [J1][J3]', async () => {
    const { server, ask, act, changingRequests, settled } = await openActionStage();
    const context = await ask('bob', '#general', 'react to this');
    const wish = { message: 'current', emoji: '🎉' };
    await server.setOverwrite({ channel: '#general', for: 'bob', deny: ['AddReactions'] });
    await settled();
    expect(await act(context, 'discord_react', wish)).toEqual({
      ok: false,
      text: 'Not done: the person lacks the permission to add reactions there.',
    });
    await server.setOverwrite({ channel: '#general', for: 'bob' });
    await server.setOverwrite({ channel: '#general', for: 'Discoclaw', deny: ['AddReactions'] });
    await settled();
    expect(await act(context, 'discord_react', wish)).toEqual({
      ok: false,
      text: 'Not done: I lack the permission to add reactions there.',
    });
    expect(await changingRequests()).toEqual([]);
  });

  it('is left undone once the turn was stopped or its message deleted', async () => {
    const { ask, act, changingRequests } = await openActionStage();
    const context = await ask('bob', '#general', 'react to this');
    const stopped = AbortSignal.abort(new Error('stopped'));
    await expect(act(context, 'discord_react', { message: 'current', emoji: '🎉' }, stopped)).rejects.toThrow(
      'stopped',
    );
    expect(await changingRequests()).toEqual([]);
  });
});

describe('an emoji as the model gives it', () => {
  it.each([
    ['👍', { kind: 'unicode', emoji: '👍' }],
    ['❤', { kind: 'unicode', emoji: '❤️' }],
    [' 👩‍💻 ', { kind: 'unicode', emoji: '👩‍💻' }],
    [':claw:', { kind: 'custom', name: 'claw' }],
    ['<a:claw:300000000000000001>', { kind: 'custom', id: '300000000000000001' }],
    ['👍👍', undefined],
    ['thumbs up', undefined],
    ['', undefined],
  ])('%j', (text, expected) => {
    expect(readEmoji(text)).toEqual(expected);
  });
});
