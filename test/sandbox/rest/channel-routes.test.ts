import { ChannelType, MessageType, type TextChannel } from 'discord.js';
import { describe, expect, it } from 'vitest';

import { runBot, textsFromPeople, type RunningBot } from '../support/bot-client.ts';

async function botInDev(): Promise<RunningBot & { readonly channel: TextChannel }> {
  const bot = await runBot();
  const channel = bot.client.channels.cache.find(
    (each): each is TextChannel => 'name' in each && each.name === 'dev',
  );
  if (channel === undefined) throw new Error('No channel dev');
  return { ...bot, channel };
}

describe('threads', () => {
  it('are opened by the bot on a message, which has one at most', async () => {
    const { server, channel, seen } = await botInDev();
    const said = await server.say({ as: 'bob', in: '#dev', text: 'topic' });
    const message = await channel.messages.fetch(said.id);
    const thread = await message.startThread({ name: 'talk' });
    expect(thread.id).toBe(said.id);
    expect(thread.parentId).toBe(channel.id);
    const again = `/channels/${channel.id}/messages/${said.id}/threads` as const;
    await expect(channel.client.rest.post(again, { body: { name: 'again' } })).rejects.toMatchObject({
      code: 160_004,
    });
    await server.say({ as: 'carol', in: 'talk', text: 'inside' });
    await thread.send('answer');
    await server.delivered();
    expect(textsFromPeople(seen)).toEqual(['topic', 'inside']);
    expect((await server.messages({ in: 'talk', from: 'bot' })).map(({ text }) => text)).toEqual([
      '',
      'answer',
    ]);
    const start = (await thread.messages.fetch()).last();
    expect(start?.type).toBe(MessageType.ThreadStarterMessage);
  });

  it('are opened by the bot without a message, public or private', async () => {
    const { server, channel } = await botInDev();
    const open = await channel.threads.create({ name: 'open', type: ChannelType.PublicThread });
    const closed = await channel.threads.create({ name: 'closed', type: ChannelType.PrivateThread });
    expect([open.type, closed.type]).toEqual([ChannelType.PublicThread, ChannelType.PrivateThread]);
    await expect(server.say({ as: 'carol', in: 'closed', text: 'let me in' })).rejects.toThrow(
      'carol cannot see #closed',
    );
    expect(await server.say({ as: 'carol', in: 'open', text: 'hi' })).toMatchObject({ text: 'hi' });
    const [note] = await server.messages({ in: '#dev' });
    expect(note?.text).toBe('open');
  });

  it('need their permissions', async () => {
    const { server, client, channel } = await botInDev();
    await server.setOverwrite({
      channel: '#dev',
      for: 'Discoclaw',
      deny: ['CreatePublicThreads', 'SendMessagesInThreads'],
    });
    await expect(channel.threads.create({ name: 'no' })).rejects.toMatchObject({ code: 50_013 });
    const { id } = await server.addThread({ channel: 'dev', name: 'plan', as: 'carol' });
    const thread = await client.channels.fetch(id);
    await expect(thread?.isSendable() === true && thread.send('no')).rejects.toMatchObject({ code: 50_013 });
  });
});
