import { describe, expect, it } from 'vitest';

import { snowflakeAt } from '../../../src/core/snowflake.ts';
import { runGateway } from '../support/gateway-harness.ts';

/** Of seven messages. */
const longAnswer = Array.from(
  { length: 240 },
  (_, index) => `Sentence number ${index} of a long answer, in about fifty characters.`,
).join('\n');

describe('an answer to /ask [EW2]', () => {
  it('of which the rest stood in the DM when a kill came is there whole, in its order, after that', async () => {
    const { server, handlers, replies } = await runGateway();
    const dm = await server.openDm({ person: 'bob' });
    const start = (id: string) => ({
      channelId: dm.id,
      nonceBase: id,
      mayShow: async () => true,
      onMessages: async () => {},
      onGone: () => {},
    });
    let asked = '';
    handlers.work = async ({ id }) => {
      await replies.begin(start(id)).finish(longAnswer);
      asked = id;
    };
    const command = { as: 'bob', in: '#general', name: 'ask', options: { text: 'Tell me all' } };
    await server.slash({ ...command, until: 'acknowledged' });
    const textsInDm = async () => (await server.messages({ in: dm.id, from: 'bot' })).map(({ text }) => text);
    await expect.poll(() => asked).not.toBe('');
    expect((await textsInDm()).join('\n')).toMatch(/^(?!.*number 0 )[^]*number 239 of[^]*$/u);

    const rest = await textsInDm();
    // Another process knows nothing of the interaction.
    const later = await runGateway({ server });
    await later.replies.begin(start(asked)).finish(longAnswer);
    expect((await textsInDm()).slice(rest.length).join('\n')).toBe(longAnswer);
  });

  it('that comes after a quarter of an hour is a direct message, whatever was shown before', async () => {
    let now = new Date();
    const { server, asks, replies, ids } = await runGateway({ clock: () => now });
    const dm = await server.openDm({ person: 'alice' });
    const id = snowflakeAt(now);
    asks.open({ id, user: { id: ids['alice'] ?? '' }, applicationId: '130000000000000001', token: 'gone' });
    const reply = replies.begin({
      channelId: dm.id,
      nonceBase: id,
      mayShow: async () => true,
      onMessages: async () => {},
      onGone: () => {},
    });
    now = new Date(now.getTime() + 15 * 60_000);
    const finished = await reply.finish('The whole answer');
    expect(finished).toMatchObject({ kind: 'sent' });
    expect(await server.messages({ in: dm.id, from: 'bot' })).toMatchObject([{ text: 'The whole answer' }]);
    const about = await server.requests({ path: '/webhooks/*/*/messages/*' });
    expect(about).toEqual([]);
  });

  it('that Discord no longer takes there, by its own clock, is one too', async () => {
    const { server, asks, replies, ids } = await runGateway();
    const dm = await server.openDm({ person: 'alice' });
    const id = snowflakeAt(new Date());
    // A token that Discord does not know.
    asks.open({ id, user: { id: ids['alice'] ?? '' }, applicationId: '130000000000000001', token: 'gone' });
    const sent = await replies
      .begin({
        channelId: dm.id,
        nonceBase: id,
        mayShow: async () => true,
        onMessages: async () => {},
        onGone: () => {},
      })
      .finish('The whole answer');
    expect(sent).toMatchObject({ kind: 'sent' });
    expect(await server.messages({ in: dm.id, from: 'bot' })).toMatchObject([{ text: 'The whole answer' }]);
  });
});
