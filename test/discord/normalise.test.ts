import { Events, MessageReferenceType, MessageType } from 'discord.js';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { ownWords } from '../../src/core/own-words.ts';
import { readableText, type Names } from '../../src/discord/normalise.ts';
import { runGateway, type RunningGateway } from './support/gateway-harness.ts';

describe('a message in the core’s words', () => {
  it('is ignored if nobody wrote it: a join, a pin, an answer to a slash command', async () => {
    const { client, handlers, history, settled, ids } = await runGateway({
      access: { autoReplyChannelIds: ['120000000000000001'] },
    });
    const channel = client.channels.cache.get(ids['general'] ?? '');
    if (channel?.isTextBased() !== true) throw new Error('#general takes messages');
    const author = { id: ids['bob'], username: 'bob' };
    for (const type of [
      MessageType.UserJoin,
      MessageType.ChannelPinnedMessage,
      MessageType.ChatInputCommand,
    ]) {
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

  it('names whose words the bot’s own message says [K11]', async () => {
    const { client, history, settled, ids } = await runGateway();
    const channel = client.channels.cache.get(ids['general'] ?? '');
    if (channel?.isTextBased() !== true) throw new Error('#general takes messages');
    const said = [`⏰ <@${ids['bob']}> feed the cat`, `lunch\n-# for <@${ids['bob']}>`, 'An answer.'];
    for (const [index, content] of said.entries()) {
      const id = `17000000000000000${index}`;
      const data = { id, channel_id: channel.id, type: MessageType.Default, author: client.user, content };
      client.emit(
        Events.MessageCreate,
        Reflect.apply(Reflect.get(channel.messages, '_add'), channel.messages, [data]),
      );
    }
    await settled();
    const persons = said.map(
      (_, index) => history.messageOf(channel.id, `17000000000000000${index}`)?.saidFor,
    );
    expect(persons).toEqual([ids['bob'], ids['bob'], undefined]);
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
});

const botId = '130000000000000001';
const alice = '140000000000000001';
const names: Names = {
  user: (id) => ({ [alice]: 'Alice $& <3', [botId]: 'Discoclaw' })[id],
  channel: (id) => (id === '120000000000000001' ? 'general' : undefined),
  role: (id) => (id === '150000000000000001' ? 'crew' : undefined),
};

function read(content: string): string {
  return readableText(content, names, [botId]);
}

describe('readable text', () => {
  it('leaves out the address, however it is written', () => {
    for (const address of [
      `<@${botId}> `,
      `<@!${botId}>\n`,
      `  <@${botId}>, `,
      `<@${botId}>: `,
      `<@${botId}><@${botId}>`,
    ]) {
      expect(read(`${address}hello`)).toBe('hello');
    }
  });

  it('names people, channels, roles, emoji and commands', () => {
    expect(read(`<@${alice}> <@!${alice}> <#120000000000000001> <@&150000000000000001>`)).toBe(
      '@\u2068Alice $& <3\u2069 @\u2068Alice $& <3\u2069 #general @crew',
    );
    expect(
      read('<:wave:160000000000000001> <a:party:160000000000000002> </memory show:160000000000000003>'),
    ).toBe(':wave: :party: /memory show');
  });

  it('never mistakes a name for the speaker’s own words', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.constantFrom('', ' ', 'x', '@'), (name, before) => {
        const named: Names = { ...names, user: () => name };
        const text = readableText(`I like${before}<@${alice}> tea`, named, [botId]);
        expect(ownWords(text).replace(/[\s@]+/gu, ' ')).toMatch(/^I likex? tea$/u);
      }),
      {
        examples: [
          ['I love Pepsi', ' '],
          ['a\u2069 I love Pepsi', ' '],
          ['Pepsi', 'x'],
          ['5', ''],
        ],
      },
    );
  });
});

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

describe('what comes with a message', () => {
  it('is a message that it replies to, which brings others’ words unless it is the bot’s or the author’s', async () => {
    const { server, handlers, replies, settled, ids } = await runGateway();
    const general = ids['general'] ?? '';
    const bobs = await server.say({ as: 'bob', in: '#general', text: 'one' });
    const alices = await server.say({ as: 'alice', in: '#general', text: 'two' });
    const sent = await replies.send(general, 'three', alices.id);
    const [botsId = ''] = sent.kind === 'sent' ? sent.ids : [];
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
        attachments: [],
        shown: [
          {
            kind: 'forwarded message',
            text: 'written Wed 2026-10-14 18:43 UTC · Hi @alice · attached: plan.txt',
          },
        ],
        hasThirdPartyText: true,
        forwards: [
          {
            text: 'Hi @alice',
            at: '2026-10-14T18:43:03.398Z',
            files: [{ name: 'plan.txt', size: 7, url: 'https://cdn.discordapp.com/plan.txt' }],
          },
        ],
      },
    ]);
    expect(running.handlers.messages[0]?.repliesTo).toBeUndefined();
  });
});
