import { once } from 'node:events';

import { ChannelType, MessageFlags, MessageType, type AnyThreadChannel, type TextChannel } from 'discord.js';
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

describe('a thread on a message', () => {
  it('touches the message without editing it, and begins with a pointer to it', async () => {
    const { server, client, channel, seen } = await botInDev();
    const said = await server.say({ as: 'bob', in: '#dev', text: 'topic' });
    const touched = once(client, 'messageUpdate');
    const created = once(client, 'threadCreate');
    await server.addThread({ channel: 'dev', name: 'talk', as: 'carol', message: said.id });
    expect(await created).toMatchObject([{ id: said.id, ownerId: '140000000000000003' }, true]);
    expect(await touched).toMatchObject([{}, { id: said.id, editedTimestamp: null }]);
    expect((await channel.messages.fetch(said.id)).flags.has(MessageFlags.HasThread)).toBe(true);
    await server.delivered();
    expect(seen.at(-1)?.type).toBe(MessageType.ThreadStarterMessage);
    expect((await server.messages({ in: 'talk' }))[0]).toMatchObject({ system: 'thread started' });
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

  it('keeps its messages from being changed, not from being deleted', async () => {
    const { server, thread } = await botWithThread();
    const own = await thread.send('mine');
    await server.alterThread({ thread: 'plan', archived: true });
    await expect(own.edit('other')).rejects.toMatchObject({ code: 50_083 });
    await expect(own.react('👀')).rejects.toMatchObject({ code: 50_083 });
    await expect(server.react({ as: 'bob', message: own.id, emoji: '👀' })).rejects.toThrow('is put away');
    await own.delete();
    expect(await server.messages({ in: 'plan' })).toEqual([]);
  });
});

describe('members of a thread', () => {
  it('are added and taken out; the bot is told when it is one of them', async () => {
    const { server, client } = await botInDev();
    await server.addThread({ channel: 'dev', name: 'den', as: 'bob', private: true });
    expect(client.channels.cache.some((each) => 'name' in each && each.name === 'den')).toBe(false);
    const shown = once(client, 'threadCreate');
    await server.setThreadMember({ thread: 'den', person: 'Discoclaw' });
    expect(await shown).toMatchObject([{ name: 'den', joined: true }, false]);
    await server.setThreadMember({ thread: 'den', person: 'Discoclaw', member: false });
    await server.say({ as: 'bob', in: 'den', text: 'unseen' });
    await server.delivered();
    expect((await server.channels()).find(({ name }) => name === 'den')?.seenBy).toEqual(['alice', 'bob']);
  });
});
