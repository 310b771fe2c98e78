import { once } from 'node:events';

import {
  ChannelType,
  GatewayDispatchEvents,
  GatewayIntentBits,
  type Message,
  type TextChannel,
} from 'discord.js';
import { describe, expect, it } from 'vitest';

import { botIntents, runBot, type RunningBot } from '../support/bot-client.ts';

/** A message of Bob's in #general, as the bot has it. */
async function botWithMessage(
  intents: readonly GatewayIntentBits[] = [
    ...botIntents,
    GatewayIntentBits.GuildMessageReactions,
    GatewayIntentBits.DirectMessageReactions,
  ],
): Promise<RunningBot & { readonly channel: TextChannel; readonly message: Message }> {
  const bot = await runBot({ intents });
  const { id, channelId } = await bot.server.say({ as: 'bob', in: '#general', text: 'hello' });
  const channel = await bot.client.channels.fetch(channelId);
  if (channel?.type !== ChannelType.GuildText) throw new Error('No such channel');
  return { ...bot, channel, message: await channel.messages.fetch(id) };
}

describe('the bot’s reactions', () => {
  it('are seen by the people, and taken back', async () => {
    const { server, message } = await botWithMessage();
    await message.react('👀');
    expect((await server.messages({ in: '#general' }))[0]?.reactions).toEqual({ '👀': ['Discoclaw'] });
    await message.reactions.cache.first()?.users.remove(message.client.user.id);
    expect((await server.messages({ in: '#general' }))[0]?.reactions).toEqual({});
  });

  it('need an emoji that there is', async () => {
    const { server, message } = await botWithMessage();
    await expect(message.react('eyes')).rejects.toMatchObject({ code: 10_014, status: 400 });
    await expect(message.react('claw:150000000000000001')).rejects.toMatchObject({ code: 10_014 });
    await message.react('\u2764');
    expect((await server.messages({ in: '#general' }))[0]?.reactions).toEqual({ '❤️': ['Discoclaw'] });
  });

  it('need the right to begin one, but not to join in', async () => {
    const { server, message } = await botWithMessage();
    await server.setOverwrite({ channel: '#general', for: 'Discoclaw', deny: ['AddReactions'] });
    await expect(message.react('👀')).rejects.toMatchObject({ code: 50_013 });
    await server.react({ as: 'carol', message: message.id, emoji: '👀' });
    await message.react('👀');
    await server.setOverwrite({ channel: '#general', for: 'Discoclaw', deny: ['ReadMessageHistory'] });
    await expect(message.react('👀')).rejects.toMatchObject({ code: 50_013 });
    expect((await server.messages({ in: '#general' }))[0]?.reactions).toEqual({
      '👀': ['carol', 'Discoclaw'],
    });
  });

  it('are of twenty kinds at most', async () => {
    const { server, message } = await botWithMessage();
    const firstAnimal = '🐀'.codePointAt(0) ?? 0;
    for (let number = 0; number < 20; number += 1) {
      const emoji = String.fromCodePoint(firstAnimal + number);
      await server.react({ as: 'bob', message: message.id, emoji });
    }
    await expect(message.react('👀')).rejects.toMatchObject({ code: 30_010 });
    await expect(server.react({ as: 'bob', message: message.id, emoji: '👀' })).rejects.toThrow('20');
    await message.react('🐀');
  });
});

describe('people’s reactions', () => {
  it('are told with their author’s member and the message’s author', async () => {
    const { server, client, message } = await botWithMessage();
    const raw = new Promise((resolve) => {
      client.ws.on(GatewayDispatchEvents.MessageReactionAdd, resolve);
    });
    await server.react({ as: 'carol', message: message.id, emoji: '🛑' });
    const { people } = await server.info();
    expect(await raw).toMatchObject({
      user_id: people['carol'],
      message_author_id: people['bob'],
      member: { user: { username: 'carol' } },
      emoji: { id: null, name: '🛑' },
    });
    await server.react({ as: 'carol', message: message.id, emoji: '🛑', present: false });
    expect((await server.messages({ in: '#general' }))[0]?.reactions).toEqual({});
  });

  it('are told of in DMs, with the intent for these', async () => {
    const { server, client } = await botWithMessage([
      ...botIntents,
      GatewayIntentBits.DirectMessageReactions,
    ]);
    const told = once(client, 'messageReactionAdd');
    const [open] = await server.messages({ in: '#general' });
    const said = await server.say({ as: 'bob', in: 'dm', text: 'hello' });
    await server.react({ as: 'bob', message: open?.id ?? '', emoji: '👀' });
    await server.react({ as: 'bob', message: said.id, emoji: '👀' });
    expect(await told).toMatchObject([{ message: { id: said.id } }, {}, {}]);
  });

  it('are refused by the control as by Discord', async () => {
    const { server, message } = await botWithMessage();
    const hidden = await server.say({ as: 'bob', in: '#secret', text: 'psst' });
    await expect(server.react({ as: 'carol', message: hidden.id, emoji: '👀' })).rejects.toThrow(
      'carol cannot see #secret',
    );
    await expect(server.react({ as: 'bob', message: message.id, emoji: ':eyes:' })).rejects.toThrow(
      'not an emoji',
    );
    await server.setOverwrite({ channel: '#general', for: 'bob', deny: ['AddReactions'] });
    await expect(server.react({ as: 'bob', message: message.id, emoji: '👀' })).rejects.toThrow(
      'bob lacks AddReactions in #general',
    );
  });
});
