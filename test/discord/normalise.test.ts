import { Events, MessageType } from 'discord.js';
import { describe, expect, it } from 'vitest';

import { runGateway } from './support/gateway-harness.ts';

describe('a message in the core’s words', () => {
  it('has its author, its moment and the names of its files', async () => {
    const { server, handlers, settled, ids } = await runGateway();
    const said = await server.say({
      as: 'bob',
      in: 'dm',
      text: 'look',
      attachments: [{ name: 'cat.png' }, { name: 'notes.txt', text: 'hello' }],
    });
    await settled();
    expect(handlers.messages).toMatchObject([
      {
        id: said.id,
        channelId: said.channelId,
        author: { id: ids['bob'], name: 'bob', kind: 'human' },
        text: 'look',
        at: said.at,
        attachments: ['cat.png', 'notes.txt'],
      },
    ]);
  });

  it('is taken though it has no words but a file', async () => {
    const { server, handlers, settled } = await runGateway();
    await server.say({ as: 'bob', in: 'dm', attachments: [{ name: 'cat.png' }] });
    await settled();
    expect(handlers.messages).toMatchObject([{ text: '', attachments: ['cat.png'] }]);
  });

  it('is none where nobody said it: a join, a pin, an answer to a slash command', async () => {
    const { client, handlers, history, settled, ids } = await runGateway({
      access: { autoReplyChannelIds: ['120000000000000001'] },
    });
    const channel = client.channels.cache.get(ids['general'] ?? '');
    if (channel?.isTextBased() !== true) throw new Error('#general takes messages');
    for (const type of [
      MessageType.UserJoin,
      MessageType.ChannelPinnedMessage,
      MessageType.ChatInputCommand,
    ]) {
      const author = { id: ids['bob'], username: 'bob', discriminator: '0', avatar: null, global_name: null };
      const data = {
        id: `17000000000000000${type}`,
        channel_id: channel.id,
        type,
        author,
        content: 'notice',
      };
      client.emit(
        Events.MessageCreate,
        Reflect.apply(Reflect.get(channel.messages, '_add'), channel.messages, [data]),
      );
    }
    await settled();
    expect(handlers.texts).toEqual([]);
    expect(await history.recent(channel.id, 10)).toEqual([]);
  });

  it('does not tell the name of a private channel to those outside of it', async () => {
    const { server, handlers, settled, ids } = await runGateway();
    await server.say({
      as: 'alice',
      in: '#general',
      text: `@Discoclaw what is in <#${ids['secret']}> and <#${ids['dev']}>?`,
    });
    await server.say({ as: 'alice', in: '#secret', text: `@Discoclaw what is in <#${ids['secret']}>?` });
    await settled();
    expect(handlers.texts).toEqual([`what is in <#${ids['secret']}> and #dev?`, 'what is in #secret?']);
  });

  it('of a bot that may speak is marked as a bot’s', async () => {
    const { server, handlers, settled } = await runGateway({
      access: { allowedBotIds: ['170000000000000001'] },
    });
    await server.addPerson({ name: 'robot', id: '170000000000000001', bot: true });
    await server.say({ as: 'robot', in: '#general', text: '@Discoclaw beep' });
    await settled();
    expect(handlers.messages).toMatchObject([{ text: 'beep', author: { kind: 'bot' } }]);
  });
});

describe('an answer of the bot’s', () => {
  it('names what it answers, told by Discord or by the bot itself', async () => {
    const { server, replies, history, settled, ids } = await runGateway();
    const general = ids['general'] ?? '';
    const asked = await server.say({ as: 'bob', in: '#general', text: 'what is new?' });
    await replies.send(general, 'nothing', asked.id);
    await settled();
    const warm = await history.recent(general, 10);
    expect(warm.map(({ answers }) => answers)).toEqual([undefined, asked.id]);
    history.forgetAll();
    expect(await history.recent(general, 10)).toEqual(warm);
  });
});
