import { once } from 'node:events';

import { ChannelType, MessageType, REST, Routes, type Message, type TextChannel } from 'discord.js';
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
  it('of the bot are seen by people, and leave a note', async () => {
    const { server, message, seen } = await botWithMessage();
    await message.pin();
    expect(await server.messages({ in: '#general' })).toMatchObject([
      { id: message.id, isPinned: true },
      { system: 'pinned', author: { name: 'Discoclaw' }, replyTo: message.id },
    ]);
    await server.delivered();
    expect(seen.at(-1)?.type).toBe(MessageType.ChannelPinnedMessage);
    await message.unpin();
    expect((await server.messages({ in: '#general' }))[0]).toMatchObject({ isPinned: false });
  });

  it('of a person reach the bot, and do not edit the message', async () => {
    const bot = await botWithMessage();
    await bot.server.setRole({ name: 'librarian', permissions: ['PinMessages'], people: ['bob'] });
    const updated = once(bot.client, 'messageUpdate');
    await bot.server.pin({ as: 'bob', message: bot.message.id });
    expect(await updated).toMatchObject([{}, { pinned: true, editedTimestamp: null }]);
    await bot.server.pin({ as: 'bob', message: bot.message.id, pinned: false });
    expect((await bot.server.messages({ in: '#general' }))[0]).toMatchObject({ isPinned: false });
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

  it('are the bot’s to make in a DM', async () => {
    const { client, server } = await runBot();
    const said = await server.say({ as: 'bob', in: 'dm', text: 'mine' });
    await client.rest.put(Routes.channelMessagesPin(said.channelId, said.id));
    expect((await server.messages({ in: '@bob' }))[0]).toMatchObject({ isPinned: true });
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
    await expect(rest.put(Routes.channelMessagesPin(channelId, id))).rejects.toMatchObject({ code: 30_003 });
  });
});
