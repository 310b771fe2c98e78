import { Events, MessageReferenceType, MessageType } from 'discord.js';
import { describe, expect, it } from 'vitest';

import { runGateway, type RunningGateway } from './support/gateway-harness.ts';

const file = { name: 'notes.txt', text: 'hello' };

/** Gives the client a message as Discord would, of Bob in his DM. */
async function receive({ client, server, settled }: RunningGateway, data: object): Promise<void> {
  const { id: channelId } = await server.openDm({ person: 'bob' });
  const channel = await client.channels.fetch(channelId);
  if (channel?.isTextBased() !== true) throw new Error('A DM takes messages');
  const author = { id: '140000000000000002', username: 'bob', discriminator: '0', avatar: null };
  const message: unknown = Reflect.apply(Reflect.get(channel.messages, '_add'), channel.messages, [
    {
      id: '1570000000000000001',
      channel_id: channelId,
      type: MessageType.Default,
      author,
      content: '',
      ...data,
    },
  ]);
  Reflect.apply(Reflect.get(client, 'emit'), client, [Events.MessageCreate, message]);
  await settled();
}

describe('what a message brings along', () => {
  it('are its files, with where they lie and how long and large they are', async () => {
    const { server, handlers, settled } = await runGateway();
    const png = Buffer.from(
      'iVBORw0KGgoAAAANSUhEUgAAAAIAAAADCAYAAAC56t6BAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
      'base64',
    );
    await server.say({
      as: 'bob',
      in: 'dm',
      attachments: [file, { name: 'cat.png', base64: png.toString('base64') }],
    });
    await settled();
    const [said] = handlers.messages;
    expect(said?.files).toEqual([
      { name: 'notes.txt', size: 5, url: expect.stringContaining('/notes.txt') },
      { name: 'cat.png', size: png.length, pixels: 3, url: expect.stringContaining('/cat.png') },
    ]);
    expect(said?.hasThirdPartyText).toBe(true);
  });

  it('is a message that it replies to, which brings others’ words unless it is the bot’s or the author’s', async () => {
    const { server, handlers, replies, settled, ids } = await runGateway();
    const general = ids['general'] ?? '';
    const bobs = await server.say({ as: 'bob', in: '#general', text: 'one' });
    const alices = await server.say({ as: 'alice', in: '#general', text: 'two' });
    const [botsId = ''] = await replies.send(general, 'three', alices.id);
    for (const id of [bobs.id, alices.id, botsId]) {
      const text = '@Discoclaw so?';
      await server.say({ as: 'alice', in: '#general', text, replyTo: id, pingReplied: false });
    }
    await settled();
    expect(handlers.messages.map(({ repliesTo }) => repliesTo)).toEqual(
      [bobs.id, alices.id, botsId].map((id) => ({ id, channelId: general })),
    );
    expect(handlers.messages.map(({ hasThirdPartyText }) => hasThirdPartyText)).toEqual([
      true,
      undefined,
      undefined,
    ]);
  });

  it('is a message that it passes on, which makes it a turn without words', async () => {
    const running = await runGateway();
    const snapshot = {
      content: 'Hi <@140000000000000001>',
      mentions: [{ id: '140000000000000001', username: 'alice', discriminator: '0', avatar: null }],
      attachments: [{ id: '1', filename: 'plan.txt', size: 7, url: 'https://cdn.discordapp.com/plan.txt' }],
      timestamp: '2026-01-15T10:00:00.000Z',
      type: 0,
      flags: 0,
    };
    await receive(running, {
      message_reference: {
        type: MessageReferenceType.Forward,
        channel_id: '1570000000000000009',
        message_id: '1560000000000000001',
      },
      message_snapshots: [{ message: snapshot }],
    });
    expect(running.handlers.messages).toMatchObject([
      {
        text: '',
        attachments: ['forwarded message'],
        hasThirdPartyText: true,
        forwards: [
          {
            text: 'Hi @alice',
            files: [{ name: 'plan.txt', size: 7, url: 'https://cdn.discordapp.com/plan.txt' }],
          },
        ],
      },
    ]);
    expect(running.handlers.messages[0]).not.toHaveProperty('repliesTo');
  });

  it('is nothing for words alone', async () => {
    const { server, handlers, settled } = await runGateway();
    await server.say({ as: 'bob', in: 'dm', text: 'hello' });
    await settled();
    for (const name of ['files', 'forwards', 'repliesTo', 'hasThirdPartyText'])
      expect(handlers.messages[0]).not.toHaveProperty(name);
  });

  it('comes with messages that were missed, too', async () => {
    const first = await runGateway();
    await first.gateway.destroy();
    const quoted = await first.server.say({ as: 'bob', in: 'dm', text: 'one' });
    await first.server.say({ as: 'bob', in: 'dm', attachments: [file], replyTo: quoted.id });
    const { channelId } = quoted;
    const { handlers, settled } = await runGateway({ server: first.server, knownChannels: [channelId] });
    await settled();
    expect(handlers.messages).toMatchObject([
      { text: 'one' },
      { files: [{ name: 'notes.txt', size: 5 }], repliesTo: { id: quoted.id, channelId } },
    ]);
  });
});
