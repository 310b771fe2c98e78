import { once } from 'node:events';

import {
  ChannelType,
  MessageFlags,
  MessageType,
  type AnyThreadChannel,
  type ForumChannel,
  type TextChannel,
} from 'discord.js';
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

async function botWithForum(): Promise<RunningBot & { readonly forum: ForumChannel }> {
  const bot = await runBot();
  const { id } = await bot.server.addChannel({ name: 'ideas', form: 'forum' });
  const forum = await bot.client.channels.fetch(id);
  if (forum?.type !== ChannelType.GuildForum) throw new Error('No forum');
  return { ...bot, forum };
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

  it('is refused for people who may not open one', async () => {
    const { server } = await botInDev();
    await server.setOverwrite({ channel: '#dev', for: 'carol', deny: ['CreatePublicThreads'] });
    const refused = server.addThread({ channel: 'dev', name: 'talk', as: 'carol' });
    await expect(refused).rejects.toThrow('carol lacks CreatePublicThreads in #dev');
    await server.addThread({ channel: 'dev', name: 'talk', as: 'carol', private: true });
  });
});

describe('putting a thread away', () => {
  it('is announced, and ends with the next message', async () => {
    const { server, client, thread, seen } = await botWithThread();
    await thread.join();
    const updated = once(client, 'threadUpdate');
    await server.alterThread({ thread: 'plan', as: 'bob', archived: true });
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
    await expect(thread.join()).rejects.toMatchObject({ code: 50_083 });
    await expect(server.react({ as: 'bob', message: own.id, emoji: '👀' })).rejects.toThrow('is put away');
    await own.delete();
    expect(await server.messages({ in: 'plan' })).toEqual([]);
  });

  it('is for its owner and for who manages threads; the bot opens one that it is in', async () => {
    const { server, thread } = await botWithThread();
    await server.alterThread({ thread: 'plan', as: 'bob', archived: true });
    await expect(server.alterThread({ thread: 'plan', as: 'carol', archived: false })).rejects.toThrow(
      'carol lacks ManageThreads',
    );
    await expect(thread.setArchived(false)).rejects.toMatchObject({ code: 50_013 });
    await server.setThreadMember({ thread: 'plan', person: 'Discoclaw' });
    await thread.setArchived(false);
    await server.alterThread({ thread: 'plan', archived: true, locked: true });
    await expect(thread.setArchived(false)).rejects.toMatchObject({ code: 50_013 });
    await server.setRole({ name: 'keepers', permissions: ['ManageThreads'], people: ['Discoclaw'] });
    await thread.setArchived(false);
    expect((await server.channels()).filter(({ kind }) => kind === 'thread')).toMatchObject([
      { name: 'plan', isArchived: false, isLocked: true },
    ]);
  });
});

describe('a locked thread', () => {
  it('is written in, changed and opened only by who manages threads', async () => {
    const { server, thread } = await botWithThread();
    const own = await thread.send('mine');
    await server.alterThread({ thread: 'plan', as: 'alice', locked: true });
    await expect(thread.send('no')).rejects.toMatchObject({ code: 50_083, status: 403 });
    await expect(own.edit('no')).rejects.toMatchObject({ code: 50_083 });
    await own.react('👀');
    await expect(server.say({ as: 'bob', in: 'plan', text: 'no' })).rejects.toThrow(
      'bob may not write in #plan',
    );
    await server.say({ as: 'alice', in: 'plan', text: 'closed' });
    await server.alterThread({ thread: 'plan', archived: true });
    await expect(own.delete()).rejects.toMatchObject({ code: 50_083 });
    await server.setRole({ name: 'keepers', permissions: ['ManageThreads'], people: ['Discoclaw'] });
    await thread.send('opened again');
    expect((await server.channels()).find(({ name }) => name === 'plan')).toMatchObject({
      isArchived: false,
      isLocked: true,
    });
  });
});

describe('members of a thread', () => {
  it('are added and taken out; the bot is told when it is one of them', async () => {
    const { server, client } = await botInDev();
    await server.addThread({ channel: 'dev', name: 'den', as: 'bob', private: true });
    expect(client.channels.cache.some((each) => 'name' in each && each.name === 'den')).toBe(false);
    const shown = once(client, 'threadCreate');
    await expect(server.setThreadMember({ thread: 'den', person: 'Discoclaw', as: 'carol' })).rejects.toThrow(
      'carol cannot see #den',
    );
    await server.setThreadMember({ thread: 'den', person: 'Discoclaw', as: 'bob' });
    expect(await shown).toMatchObject([{ name: 'den', joined: true }, false]);
    await server.setThreadMember({ thread: 'den', person: 'Discoclaw', member: false });
    await server.say({ as: 'bob', in: 'den', text: 'unseen' });
    await server.delivered();
    expect((await server.channels()).find(({ name }) => name === 'den')?.seenBy).toEqual(['alice', 'bob']);
  });

  it('reach a bot that gains sight of the channel', async () => {
    const { server, client } = await botInDev();
    await server.setChannelPrivacy({ channel: 'dev', private: true });
    await server.setOverwrite({ channel: 'dev', for: 'Discoclaw', deny: ['ViewChannel'] });
    await server.setOverwrite({ channel: 'dev', for: 'bob', allow: ['ViewChannel'] });
    const { id } = await server.addThread({ channel: 'dev', name: 'hidden', as: 'bob' });
    await server.delivered();
    expect(client.channels.cache.has(id)).toBe(false);
    const synced = once(client, 'threadListSync');
    await server.setChannelPrivacy({ channel: 'dev', private: false });
    await synced;
    expect(client.channels.cache.has(id)).toBe(true);
  });
});

describe('a forum', () => {
  it('has posts, whose first message has the id of the post', async () => {
    const { server, client, seen } = await botWithForum();
    const created = once(client, 'threadCreate');
    const post = await server.addPost({
      forum: 'ideas',
      as: 'bob',
      title: 'Snacks',
      text: 'more of them',
      mentionBot: true,
      attachments: [{ name: 'list.txt', text: 'nuts' }],
    });
    expect(await created).toMatchObject([{ id: post.id, name: 'Snacks' }, true]);
    await server.delivered();
    expect(seen[0]).toMatchObject({ id: post.id, channelId: post.id });
    expect(seen[0]?.mentions.has(client.user.id)).toBe(true);
    expect(seen[0]?.attachments.size).toBe(1);
    await seen[0]?.reply('noted');
    expect((await server.messages({ in: 'Snacks' })).map(({ text }) => text).at(-1)).toBe('noted');
    expect((await server.channels()).find(({ name }) => name === 'ideas')?.kind).toBe('forum');
  });

  it('takes no messages of anybody', async () => {
    const { server, client, forum } = await botWithForum();
    const body = { content: 'hello' };
    await expect(client.rest.post(`/channels/${forum.id}/messages`, { body })).rejects.toMatchObject({
      code: 50_008,
    });
    await expect(server.say({ as: 'bob', in: 'ideas', text: 'hello' })).rejects.toThrow('may not write');
    await expect(server.addThread({ as: 'bob', channel: 'ideas', name: 'x' })).rejects.toThrow('use addPost');
    await expect(server.addPost({ as: 'bob', forum: 'dev', title: 'x', text: 'y' })).rejects.toThrow(
      'not a forum',
    );
  });
});
