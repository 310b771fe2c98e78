import { once } from 'node:events';

import { ChannelType, MessageType, type AnyThreadChannel, type TextChannel } from 'discord.js';
import { describe, expect, it } from 'vitest';

import { runBot, textsFromPeople, type RunningBot } from '../support/bot-client.ts';

async function botInDev(): Promise<RunningBot & { readonly channel: TextChannel }> {
  const bot = await runBot();
  const channel = await bot.client.channels.fetch('120000000000000002');
  if (channel?.type !== ChannelType.GuildText) throw new Error('No channel dev');
  return { ...bot, channel };
}

/** A thread of Bob's in #dev, as the bot has it. */
async function botWithThread(): Promise<
  RunningBot & { readonly channel: TextChannel; readonly thread: AnyThreadChannel }
> {
  const bot = await botInDev();
  const { id } = await bot.server.addThread({ channel: 'dev', name: 'plan', as: 'bob' });
  const thread = await bot.client.channels.fetch(id);
  if (thread?.isThread() !== true) throw new Error('No such thread');
  return { ...bot, thread };
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
});

describe('putting a thread away', () => {
  it('is announced, and ends with the next message', async () => {
    const { server, client, thread, seen } = await botWithThread();
    const updated = once(client, 'threadUpdate');
    await server.alterThread({ thread: 'plan', archived: true });
    expect(await updated).toMatchObject([{}, { id: thread.id, archived: true }]);
    const again = once(client, 'threadUpdate');
    await server.say({ as: 'carol', in: 'plan', text: 'one more thing' });
    expect(await again).toMatchObject([{}, { archived: false }]);
    await server.delivered();
    expect(textsFromPeople(seen).at(-1)).toBe('one more thing');
  });
});
