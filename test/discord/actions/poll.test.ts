import { describe, expect, it } from 'vitest';

import { inPrivate, openActionStage } from '../support/action-harness.ts';

const lunch = { question: 'Lunch?', answers: ['pizza', 'soup'] };

describe('a poll', () => {
  it('is made where both may, quietly, and once, though the turn is asked again [J1]', async () => {
    const { server, ask, act, changingRequests, settled } = await openActionStage();
    await server.setOverwrite({ channel: '#general', for: 'bob', allow: ['SendPolls'] });
    const context = await ask('bob', '#general', 'make a poll for everyone: lunch, pizza or soup?');
    await settled();
    const wish = { ...lunch, question: '@everyone\nLunch?', hours: 48, multiselect: true };
    expect(await act(context, 'discord_poll', wish)).toMatchObject({ ok: true, note: '📊 made a poll' });
    expect(await act({ ...context }, 'discord_poll', wish)).toMatchObject({ ok: true });
    const polls = await server.messages({ in: '#general', from: 'bot' });
    expect(polls).toHaveLength(1);
    expect(polls[0]).toMatchObject({ mentions: [], poll: { question: { text: '@everyone Lunch?' } } });
    const [request] = await changingRequests();
    expect(request?.body).toMatchObject({
      allowed_mentions: { parse: [] },
      flags: 4096,
      poll: { duration: 48, allow_multiselect: true, answers: [{}, {}] },
    });
  });

  it('is not made in a channel that became public meanwhile', async () => {
    const { ask, act, changingRequests } = await openActionStage();
    const context = await ask('alice', '#general', 'make a poll');
    const before = { ...context, place: inPrivate(context.place) };
    expect((await act(before, 'discord_poll', lunch)).text).toMatch(/visible to more people/u);
    expect(await changingRequests()).toEqual([]);
  });
});
