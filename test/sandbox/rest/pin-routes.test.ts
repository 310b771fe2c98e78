import { once } from 'node:events';

import { ChannelType, MessageType, REST, type Message, type TextChannel } from 'discord.js';
import { describe, expect, it } from 'vitest';

import { openSandbox, runBot, type RunningBot } from '../support/bot-client.ts';

/** A message of Bob's in #general, as the bot has it. */
async function botWithMessage(): Promise<
  RunningBot & { readonly channel: TextChannel; readonly message: Message }
> {
  const bot = await runBot();
  const { id, channelId } = await bot.server.say({ as: 'bob', in: '#general', text: 'rules' });
  const channel = await bot.client.channels.fetch(channelId);
  if (channel?.type !== ChannelType.GuildText) throw new Error('No such channel');
  return { ...bot, channel, message: await channel.messages.fetch(id) };
}

describe('pins', () => {
  it('of the bot are listed, told of, and leave a note', async () => {
    const bot = await botWithMessage();
    const told = once(bot.client, 'channelPinsUpdate');
    await bot.message.pin();
    expect(await told).toMatchObject([{ id: bot.channel.id }, expect.any(Number)]);
    const { items, hasMore } = await bot.channel.messages.fetchPins();
    expect(items).toMatchObject([{ message: { id: bot.message.id, pinned: true } }]);
    expect(hasMore).toBe(false);
    expect(await bot.server.messages({ in: '#general' })).toMatchObject([
      { id: bot.message.id, isPinned: true },
      { system: 'pinned', author: { name: 'Discoclaw' }, replyTo: bot.message.id },
    ]);
    expect(bot.seen.at(-1)?.type).toBe(MessageType.ChannelPinnedMessage);
    await bot.message.unpin();
    expect(await bot.server.pins({ in: '#general' })).toEqual([]);
  });

  it('of a person reach the bot, and are no edit', async () => {
    const bot = await botWithMessage();
    await bot.server.setRole({ name: 'librarian', permissions: ['PinMessages'], people: ['bob'] });
    const updated = once(bot.client, 'messageUpdate');
    await bot.server.pin({ as: 'bob', message: bot.message.id });
    expect(await updated).toMatchObject([{}, { pinned: true, editedTimestamp: null }]);
    expect(await bot.server.pins({ in: '#general' })).toMatchObject([{ text: 'rules' }]);
    await bot.server.unpin({ as: 'bob', message: bot.message.id });
    expect((await bot.channel.messages.fetchPins()).items).toEqual([]);
  });

  it('need their own right, which managing messages does not give', async () => {
    const bot = await botWithMessage();
    await bot.server.setRole({ name: 'mods', permissions: ['ManageMessages'], people: ['Discoclaw', 'bob'] });
    await bot.server.setOverwrite({ channel: '#general', for: 'Discoclaw', deny: ['PinMessages'] });
    await expect(bot.message.pin()).rejects.toMatchObject({ code: 50_013 });
    await expect(bot.message.unpin()).rejects.toMatchObject({ code: 50_013 });
    await expect(bot.server.pin({ as: 'bob', message: bot.message.id })).rejects.toThrow(
      'bob lacks PinMessages in #general',
    );
    await expect(bot.channel.messages.pin('150000000000000001')).rejects.toMatchObject({ code: 10_008 });
  });

  it('are the bot’s to make in a DM, under the older path too', async () => {
    const { client, server } = await runBot();
    const said = await server.say({ as: 'bob', in: 'dm', text: 'mine' });
    await client.rest.put(`/channels/${said.channelId}/pins/${said.id}`);
    expect(await client.rest.get(`/channels/${said.channelId}/pins`)).toMatchObject([{ id: said.id }]);
    await client.rest.delete(`/channels/${said.channelId}/pins/${said.id}`);
    expect(await server.pins({ in: '@bob' })).toEqual([]);
  });

  it('are 250 a channel at most', async () => {
    const server = await openSandbox();
    for (let number = 0; number < 250; number += 1) {
      const { id } = await server.say({ as: 'alice', in: '#general', text: String(number) });
      await server.pin({ as: 'alice', message: id });
    }
    const { id, channelId } = await server.say({ as: 'alice', in: '#general', text: 'one more' });
    await expect(server.pin({ as: 'alice', message: id })).rejects.toThrow('250');
    const rest = new REST({ api: server.apiUrl }).setToken(server.token);
    const pins = `/channels/${channelId}/messages/pins` as const;
    await expect(rest.put(`${pins}/${id}`)).rejects.toMatchObject({ code: 30_003 });
    expect(await rest.get(pins)).toMatchObject({ items: { length: 50 }, has_more: true });
  });
});
