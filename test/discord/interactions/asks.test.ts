import { describe, expect, it } from 'vitest';

import { snowflakeAt } from '../../../src/core/snowflake.ts';
import { runGateway } from '../support/gateway-harness.ts';

describe('an answer to /ask [EW2]', () => {
  it('that comes after a quarter of an hour is a direct message, whatever was shown before', async () => {
    let now = new Date();
    const { server, asks, replies } = await runGateway({ clock: () => now });
    const dm = await server.openDm({ person: 'alice' });
    const id = snowflakeAt(now);
    asks.open({ id, applicationId: '130000000000000001', token: 'gone' }, '140000000000000001');
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
    const { server, asks, replies } = await runGateway();
    const dm = await server.openDm({ person: 'alice' });
    const id = snowflakeAt(new Date());
    // A token that Discord does not know.
    asks.open({ id, applicationId: '130000000000000001', token: 'gone' }, '140000000000000001');
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
