import { describe, expect, it } from 'vitest';

import { openActionStage } from '../support/action-harness.ts';

describe('reacting', () => {
  it('puts an emoji on the message that is meant, once, and says so by ids only', async () => {
    const { server, ask, act, logger } = await openActionStage();
    const context = await ask('bob', '#general', 'react to this');
    const wish = { message: 'current', emoji: '🎉' };
    expect(await act(context, 'discord_react', wish)).toMatchObject({ ok: true, note: '🎉 reacted' });
    expect(await act(context, 'discord_react', wish)).toMatchObject({ ok: true });
    const [message] = await server.messages({ in: '#general' });
    expect(message?.reactions).toEqual({ '🎉': ['Discoclaw'] });
    expect(logger.lines.find(({ event }) => event === 'an action was carried out')?.data).toEqual({
      action: 'discord_react',
      userId: context.speaker.id,
      channelId: context.place.channelId,
      messageId: message?.id,
    });
  });

  it('works in a direct message', async () => {
    const { server, ask, act } = await openActionStage();
    const context = await ask('bob', 'dm', 'react to this');
    expect(await act(context, 'discord_react', { message: 'current', emoji: '👍' })).toMatchObject({
      ok: true,
    });
    expect((await server.messages({ in: '@bob' }))[0]?.reactions).toEqual({ '👍': ['Discoclaw'] });
  });

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

  it('is refused without a request where the person or the bot may not', async () => {
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

  it('tells the model what is wrong with its wish, and what Discord refuses', async () => {
    const { ask, act } = await openActionStage();
    const context = await ask('bob', '#general', 'react to this');
    const tried = async (input: Readonly<Record<string, unknown>>) => {
      const { ok, text } = await act(context, 'discord_react', input);
      expect(ok).toBe(false);
      return text;
    };
    expect(await tried({ emoji: '🎉' })).toMatch(/^Not done: .*message/su);
    expect(await tried({ message: 'current', emoji: 'a smile' })).toMatch(/not one emoji/u);
    expect(await tried({ message: '900000000000000001', emoji: '🎉' })).toMatch(/no such message/u);
  });

  it('is not for other bots', async () => {
    const { ask, act } = await openActionStage();
    const context = await ask('bob', '#general', 'react to this');
    const outcome = await act({ ...context, speaker: { ...context.speaker, isBot: true } }, 'discord_react', {
      message: 'current',
      emoji: '🎉',
    });
    expect(outcome).toEqual({ ok: false, text: 'Not done: another bot may not ask for it.' });
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
