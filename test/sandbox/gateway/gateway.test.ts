import { once } from 'node:events';

import { Events, GatewayIntentBits } from 'discord.js';
import { describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';

import { botIntents, openSandbox, runBot, textsFromPeople } from '../support/bot-client.ts';

describe('logging in', () => {
  it('is refused at the gateway with 4004 for a wrong token', async () => {
    const server = await openSandbox();
    const gatewayUrl = `${server.url.replace('http', 'ws')}/gateway`;
    const socket = new WebSocket(`${gatewayUrl}/?v=10&encoding=json`);
    await once(socket, 'message');
    const closed = once(socket, 'close');
    socket.send(JSON.stringify({ op: 2, d: { token: 'wrong', intents: 0, properties: {} } }));
    expect((await closed)[0]).toBe(4004);
  });
});

describe('messages', () => {
  it('come without content unless there is the intent, a mention or a DM', async () => {
    const { server, client, seen } = await runBot({
      intents: botIntents.filter((intent) => intent !== GatewayIntentBits.MessageContent),
    });
    await server.say({ as: 'bob', in: '#dev', text: 'words', attachments: [{ name: 'a.txt', text: 'a' }] });
    await server.say({ as: 'bob', in: '#dev', text: '@Discoclaw words' });
    await server.say({ as: 'bob', in: 'dm', text: 'words' });
    await server.delivered();
    expect(textsFromPeople(seen)).toEqual(['', `<@${client.user.id}> words`, 'words']);
    expect(seen[0]?.attachments.size).toBe(0);
  });
});

describe('changes of the guild', () => {
  it('tell of channels, privacy, roles and threads', async () => {
    const { server, client } = await runBot();
    const log: string[] = [];
    client.on(Events.ChannelCreate, ({ name }) => log.push(`created ${name}`));
    client.on(Events.ChannelUpdate, (_before, after) => {
      const hidden =
        'guild' in after && !after.permissionsFor(after.guild.roles.everyone)?.has('ViewChannel');
      log.push(`updated ${after.id === channelId} hidden ${hidden}`);
    });
    client.on(Events.ChannelDelete, (channel) => log.push(`deleted ${channel.id === channelId}`));
    client.on(Events.GuildRoleUpdate, (_before, after) =>
      log.push(`role ${after.name} ${after.permissions.has('Administrator')}`),
    );
    client.on(Events.GuildRoleDelete, ({ name }) => log.push(`no role ${name}`));
    client.on(Events.ThreadCreate, (thread, isNew) =>
      log.push(`thread ${thread.name} ${thread.parent?.name} ${isNew}`),
    );
    const { id: channelId } = await server.addChannel({ name: 'hall' });
    await server.setChannelPrivacy({ channel: 'hall', private: true, members: ['bob'] });
    await server.setRole({ name: 'mods', permissions: [], people: ['bob'] });
    await server.setRole({ name: 'mods', permissions: ['Administrator'] });
    await server.deleteRole({ role: 'mods' });
    await server.addThread({ channel: 'dev', name: 'plan', as: 'carol' });
    await server.deleteChannel({ channel: 'hall' });
    await server.delivered();
    expect(log).toEqual([
      'created hall',
      'updated true hidden true',
      'role mods true',
      'no role mods',
      'thread plan dev true',
      'deleted true',
    ]);
  });
});

describe('a lost connection', () => {
  it('is resumed, and what happened meanwhile is replayed in order, once', async () => {
    const { server, client, seen } = await runBot();
    await server.say({ as: 'bob', in: '#dev', text: 'before' });
    await server.delivered();
    const resumed = once(client, Events.ShardResume);
    expect(await server.dropConnection()).toBe(1);
    await server.say({ as: 'bob', in: '#dev', text: 'meanwhile 1' });
    await server.say({ as: 'bob', in: '#dev', text: 'meanwhile 2' });
    expect((await server.sessions()).map(({ isConnected }) => isConnected)).toEqual([false]);
    await server.delivered();
    await resumed;
    expect(textsFromPeople(seen)).toEqual(['before', 'meanwhile 1', 'meanwhile 2']);
    expect(await server.sessions()).toHaveLength(1);
  });
});
