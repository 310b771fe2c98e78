import type { GuildBasedChannel, GuildMember } from 'discord.js';
import { describe, expect, it } from 'vitest';

import { botMay, memberMay, type Capability } from '../../src/discord/permissions.ts';
import { runGateway, type RunningGateway } from './support/gateway-harness.ts';

const capabilities: readonly Capability[] = [
  'view',
  'read',
  'send',
  'react',
  'pin',
  'poll',
  'start-thread',
  'start-private-thread',
];

function channelNamed({ client, ids }: RunningGateway, name: string): GuildBasedChannel {
  const channel = client.channels.cache.get(ids[name] ?? name);
  if (channel === undefined || channel.isDMBased()) throw new Error(`No channel of a guild: ${name}`);
  return channel;
}

/** What the bot may do in a channel. */
function allowed(running: RunningGateway, name: string): readonly Capability[] {
  const channel = channelNamed(running, name);
  return capabilities.filter((capability) => botMay(capability, channel));
}

async function person({ client, ids }: RunningGateway, name: string): Promise<GuildMember> {
  const [guild] = client.guilds.cache.values();
  if (guild === undefined) throw new Error('The bot is in no guild');
  return guild.members.fetch({ user: ids[name] ?? name, force: true });
}

describe('what may be done in a channel', () => {
  it('follows roles and overwrites, of the bot and of people', async () => {
    const running = await runGateway();
    const { server } = running;
    const general = channelNamed(running, 'general');
    expect(allowed(running, 'general')).toEqual(capabilities);

    await server.setOverwrite({
      channel: '#general',
      for: 'Discoclaw',
      deny: ['AddReactions', 'SendMessagesInThreads'],
    });
    await server.setRole({
      name: 'keepers',
      people: ['carol'],
      permissions: ['PinMessages', 'SendPolls'],
    });
    await running.settled();
    expect(allowed(running, 'general')).toEqual(['view', 'read', 'send', 'pin', 'poll']);
    expect(memberMay('pin', general, await person(running, 'carol'))).toBe(true);
    expect(memberMay('pin', general, await person(running, 'bob'))).toBe(false);
  });

  it('is read-only for somebody with a time-out', async () => {
    const running = await runGateway();
    const bob = await person(running, 'bob');
    const general = channelNamed(running, 'general');
    expect(memberMay('send', general, bob)).toBe(true);
    bob.communicationDisabledUntilTimestamp = Date.now() + 60_000;
    expect(capabilities.filter((capability) => memberMay(capability, general, bob))).toEqual([
      'view',
      'read',
    ]);
  });

  it('does not allow a thread within a thread, allows only sending in an archived one, and only reading in a locked one', async () => {
    const running = await runGateway();
    const { id } = await running.server.addThread({ channel: '#general', name: 'plans', as: 'alice' });
    await running.settled();
    expect(allowed(running, id)).toEqual(['view', 'read', 'send', 'react', 'pin', 'poll']);
    const thread = channelNamed(running, id);
    if (!thread.isThread()) throw new Error('No thread');
    thread.archived = true;
    expect(allowed(running, id)).toEqual(['view', 'read', 'send', 'poll']);
    thread.locked = true;
    expect(allowed(running, id)).toEqual(['view', 'read']);
  });

  it('is unknown for people, and tried for the bot, as long as the guild’s present permissions are', async () => {
    const running = await runGateway();
    const general = channelNamed(running, 'general');
    const bob = await person(running, 'bob');
    general.guild.available = false;
    expect(memberMay('send', general, bob)).toBeUndefined();
    expect(allowed(running, 'general')).toEqual(capabilities);
    expect(botMay('send', undefined)).toBe(true);
  });
});

describe('a channel where the bot may not speak [J3]', () => {
  it('gets no turn, no typing and no reply, only a reaction for people who mention the bot, and a log line', async () => {
    const running = await runGateway();
    const { server, handlers, logger, replies, ids } = running;
    await server.setOverwrite({ channel: '#general', for: 'Discoclaw', deny: ['SendMessages'] });
    const { id } = await server.say({ as: 'alice', in: '#general', text: '@Discoclaw hello' });
    await server.say({ as: 'alice', in: '#general', text: '!memory remember I like tea' });
    await running.settled();
    expect(handlers.texts).toEqual(['!memory remember I like tea']);
    expect(handlers.events).toContain(`unanswerable ${id}`);
    expect(
      logger.lines.filter(({ event }) => event === 'a message is not answered where the bot may not speak'),
    ).toHaveLength(1);

    const channelId = ids['general'] ?? '';
    const typing = replies.typing(channelId, channelId);
    typing.show();
    typing.end();
    expect(await replies.send(channelId, 'Hello', '')).toEqual({ kind: 'refused', reason: 'place', ids: [] });
    const requests = await server.requests();
    expect(requests.filter(({ method, path }) => method === 'POST' && path.includes(channelId))).toEqual([]);
  });
});
