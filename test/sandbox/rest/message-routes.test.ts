import { DiscordAPIError, type TextChannel } from 'discord.js';
import { describe, expect, it } from 'vitest';

import type { Clock } from '../../../src/sandbox/world/world.ts';
import { runBot, type RunningBot } from '../support/bot-client.ts';

async function botIn(
  name: string,
  options: { readonly now?: Clock } = {},
): Promise<RunningBot & { readonly channel: TextChannel }> {
  const bot = await runBot(options);
  const channel = bot.client.channels.cache.find(
    (each): each is TextChannel => 'name' in each && each.name === name,
  );
  if (channel === undefined) throw new Error(`No channel ${name}`);
  return { ...bot, channel };
}

/** The error that Discord answered with: its own code and the HTTP status. */
async function refusal(
  request: Promise<unknown>,
): Promise<{ readonly code: unknown; readonly status: number }> {
  try {
    await request;
  } catch (error) {
    if (error instanceof DiscordAPIError) return { code: error.code, status: error.status };
    throw error;
  }
  throw new Error('The request was not refused');
}

describe('posting', () => {
  it('answers an equal nonce with the message that has it, and sends no second event', async () => {
    const { server, channel, seen } = await botIn('general');
    const first = await channel.send({ content: 'once', nonce: '42', enforceNonce: true });
    const second = await channel.send({ content: 'once', nonce: '42', enforceNonce: true });
    const other = await channel.send({ content: 'other', nonce: '43', enforceNonce: true });
    const unforced = await channel.send({ content: 'again', nonce: '42' });
    await server.delivered();
    expect(second.id).toBe(first.id);
    expect(seen.map(({ content }) => content)).toEqual(['once', 'other', 'again']);
    expect(new Set([first, other, unforced].map(({ id }) => id)).size).toBe(3);
    expect(await server.requests({ method: 'POST', path: '/channels/*/messages' })).toHaveLength(4);
  });

  it('refuses what is empty, what replies to nothing, and a nonce that is too long', async () => {
    const { channel } = await botIn('general');
    expect(await refusal(channel.send(' \n '))).toEqual({ code: 50_006, status: 400 });
    const reply = { messageReference: '150000000000000001' };
    expect(await refusal(channel.send({ content: 'a', reply }))).toEqual({ code: 50_035, status: 400 });
    expect(
      (await channel.send({ content: 'a', reply: { ...reply, failIfNotExists: false } })).reference,
    ).toBeNull();
    expect((await refusal(channel.send({ content: 'a', nonce: 'n'.repeat(26) }))).code).toBe(50_035);
  });
});

describe('editing and deleting', () => {
  it('are refused for the messages of others, unless the bot manages messages', async () => {
    const { server, channel } = await botIn('general');
    const said = await server.say({ as: 'bob', in: '#general', text: 'a' });
    const message = await channel.messages.fetch(said.id);
    expect((await refusal(message.edit('mine'))).code).toBe(50_005);
    expect((await refusal(message.delete())).code).toBe(50_013);
    await server.setRole({ name: 'mods', permissions: ['ManageMessages'], people: ['Discoclaw'] });
    await message.delete();
    expect(await server.messages({ in: '#general' })).toEqual([]);
  });
});

describe('permissions', () => {
  it('decide what the bot may see and where it may write', async () => {
    const { server, client, channel } = await botIn('secret');
    await server.setOverwrite({
      channel: '#secret',
      for: 'Discoclaw',
      allow: ['ViewChannel'],
      deny: ['SendMessages'],
    });
    expect(await refusal(channel.send('a'))).toEqual({ code: 50_013, status: 403 });
    expect(await refusal(channel.sendTyping())).toEqual({ code: 50_013, status: 403 });
    await server.setOverwrite({ channel: '#secret', for: 'Discoclaw', deny: ['ViewChannel'] });
    expect(await refusal(channel.send('a'))).toEqual({ code: 50_001, status: 403 });
    expect(await refusal(channel.messages.fetch({ limit: 1 }))).toEqual({ code: 50_001, status: 403 });
    expect(await refusal(client.rest.get('/channels/190000000000000001'))).toEqual({
      code: 10_003,
      status: 404,
    });
  });
});

describe('direct messages', () => {
  it('reach a person who shares a guild with the bot and has not closed them', async () => {
    const { server, client } = await botIn('general');
    const { people } = await server.info();
    const dm = await client.users.createDM(people['bob'] ?? '');
    await dm.send('hello');
    expect(await server.messages({ in: '@bob' })).toHaveLength(1);
    await server.closeDms({ person: 'bob', closed: true });
    expect(await refusal(dm.send('again'))).toEqual({ code: 50_007, status: 403 });
    const stranger = await server.addPerson({ name: 'stranger', guilds: [] });
    const strange = await client.users.createDM(stranger.id);
    expect((await refusal(strange.send('hello'))).code).toBe(50_278);
    await server.closeDms({ person: 'bob', closed: false });
    await server.setBotMembership({ isMember: false });
    expect((await refusal(dm.send('from outside'))).code).toBe(50_278);
  });
});
