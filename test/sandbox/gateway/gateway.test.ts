import { once } from 'node:events';

import { ChannelType, Events, GatewayIntentBits } from 'discord.js';
import { describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';

import { botIntents, newClient, openSandbox, runBot, textsFromPeople } from '../support/bot-client.ts';

describe('logging in', () => {
  it('shows the client its guild with channels, roles and itself', async () => {
    const { client } = await runBot();
    const guild = client.guilds.cache.first();
    expect(guild?.name).toBe('Sandbox');
    expect(guild?.available).toBe(true);
    expect(guild?.channels.cache.map(({ name }) => name)).toEqual(['general', 'dev', 'secret']);
    expect(guild?.members.me?.user.username).toBe('Discoclaw');
    expect(guild?.members.cache.size).toBe(1);
  });

  it('is refused at the gateway with 4004 for a wrong token', async () => {
    const server = await openSandbox();
    const gatewayUrl = `${server.url.replace('http', 'ws')}/gateway`;
    const socket = new WebSocket(`${gatewayUrl}/?v=10&encoding=json`);
    await once(socket, 'message');
    const closed = once(socket, 'close');
    socket.send(JSON.stringify({ op: 2, d: { token: 'wrong', intents: 0, properties: {} } }));
    expect((await closed)[0]).toBe(4004);
  });

  it('is refused by REST for a wrong token, so that the client says what is wrong', async () => {
    const server = await openSandbox();
    await expect(newClient(server).login('wrong')).rejects.toMatchObject({ code: 'TokenInvalid' });
  });

  it('is refused with 4014 for a privileged intent that is switched off', async () => {
    const server = await openSandbox({ disallowedIntents: ['messageContent'] });
    const client = newClient(server);
    await expect(client.login(server.token)).rejects.toThrow('Used disallowed intents');
  });
});

describe('messages', () => {
  it('arrive from a guild with author, member, mention and place', async () => {
    const { server, client, seen } = await runBot();
    const said = await server.say({ as: 'bob', in: '#dev', text: '@Discoclaw hello' });
    await server.delivered();
    const [message] = seen;
    expect(message?.id).toBe(said.id);
    expect(message?.content).toBe(`<@${client.user.id}> hello`);
    expect(message?.mentions.has(client.user)).toBe(true);
    expect(message?.member?.displayName).toBe('bob');
    expect(message?.inGuild()).toBe(true);
  });

  it('arrive from a DM that the client has never seen before', async () => {
    const { server, seen } = await runBot();
    await server.say({ as: 'bob', in: 'dm', text: 'psst' });
    await server.delivered();
    expect(seen[0]?.channel.type).toBe(ChannelType.DM);
    expect(seen[0]?.member).toBeNull();
    expect(textsFromPeople(seen)).toEqual(['psst']);
  });

  it('carry what they reply to, also when that is deleted since', async () => {
    const { server, client, seen } = await runBot();
    const first = await server.say({ as: 'bob', in: '#general', text: 'first' });
    await server.say({ as: 'carol', in: '#general', text: 'second', replyTo: first.id });
    await server.delivered();
    expect(seen[1]?.reference?.messageId).toBe(first.id);
    expect(seen[1]?.mentions.repliedUser?.username).toBe('bob');
    await server.delete({ message: first.id });
    const [last] = await server.messages({ in: 'general' });
    const channel = await client.channels.fetch(last?.channelId ?? '');
    const raw = await client.rest.get(`/channels/${channel?.id}/messages/${seen[1]?.id}`);
    expect(raw).toMatchObject({ referenced_message: null });
  });

  it('bring attachments, whose bytes are served', async () => {
    const { server, seen } = await runBot();
    const attachments = [{ name: 'a b.txt', contentType: 'text/plain', text: 'inside' }];
    await server.say({ as: 'bob', in: '#general', attachments });
    await server.delivered();
    const attachment = seen[0]?.attachments.first();
    expect(attachment?.name).toBe('a b.txt');
    expect(attachment?.size).toBe(6);
    const response = await fetch(attachment?.url ?? '');
    expect(response.headers.get('content-type')).toContain('text/plain');
    expect(await response.text()).toBe('inside');
  });

  it('are not sent where the bot cannot see them, or has no intent for them', async () => {
    const { server, seen } = await runBot({
      intents: botIntents.filter((i) => i !== GatewayIntentBits.DirectMessages),
    });
    await server.setOverwrite({ channel: '#secret', for: 'Discoclaw', deny: ['ViewChannel'] });
    await server.say({ as: 'bob', in: '#secret', text: 'hidden' });
    await server.say({ as: 'bob', in: 'dm', text: 'not subscribed' });
    await server.say({ as: 'bob', in: '#dev', text: 'seen' });
    await server.delivered();
    expect(textsFromPeople(seen)).toEqual(['seen']);
  });

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

  it('tell of edits, of deletions one by one and in bulk', async () => {
    const { server, client } = await runBot();
    const log: string[] = [];
    client.on(Events.MessageUpdate, (before, after) => log.push(`${before.content} → ${after.content}`));
    client.on(Events.MessageDelete, ({ content }) => log.push(`deleted ${content}`));
    client.on(Events.MessageBulkDelete, (messages) =>
      log.push(`bulk ${messages.map((m) => m.content).join()}`),
    );
    const said = [];
    for (const text of ['one', 'two', 'three']) said.push(await server.say({ as: 'bob', in: '#dev', text }));
    const [one, two, three] = said.map(({ id }) => id);
    await server.edit({ message: one ?? '', text: 'ONE' });
    await server.delete({ message: one ?? '' });
    await server.bulkDelete({ messages: [two ?? '', three ?? ''] });
    await server.delivered();
    expect(log).toEqual(['one → ONE', 'deleted ONE', 'bulk two,three']);
    expect(await server.messages({ in: '#dev' })).toEqual([]);
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

  it('show a private thread only from when the bot is in it, by a mention', async () => {
    const { server, client, seen } = await runBot();
    const threads: string[] = [];
    client.on(Events.ThreadCreate, (thread) => threads.push(`${thread.name} ${thread.type}`));
    const thread = await server.addThread({
      channel: 'dev',
      name: 'plot',
      as: 'carol',
      private: true,
      members: ['bob'],
    });
    await server.say({ as: 'bob', in: thread.id, text: 'without the bot' });
    await server.delivered();
    expect([threads, seen]).toEqual([[], []]);
    await server.say({ as: 'bob', in: thread.id, text: '@Discoclaw come in' });
    await server.delivered();
    expect(threads).toEqual([`plot ${ChannelType.PrivateThread}`]);
    expect(textsFromPeople(seen)).toEqual([`<@${client.user.id}> come in`]);
  });

  it('bring a new guild and, with the intent, new members', async () => {
    const { server, client } = await runBot({ intents: [...botIntents, GatewayIntentBits.GuildMembers] });
    const log: string[] = [];
    client.on(Events.GuildCreate, ({ name }) => log.push(name));
    client.on(Events.GuildMemberAdd, ({ displayName }) => log.push(displayName));
    expect(client.guilds.cache.first()?.members.cache.size).toBe(4);
    await server.addGuild({ name: 'Annex', owner: 'carol' });
    await server.addPerson({ name: 'dave' });
    await server.delivered();
    expect(log).toEqual(['Annex', 'dave']);
  });
});

describe('a guild with an outage', () => {
  it('is unavailable to the client until it is back, with what changed meanwhile', async () => {
    const { client, server } = await runBot();
    const guild = client.guilds.cache.first();
    await server.setGuildAvailability({ available: false });
    await server.delivered();
    expect([guild?.available, client.guilds.cache.size]).toEqual([false, 1]);
    await server.setGuildAvailability({ available: true });
    await server.delivered();
    expect(guild?.available).toBe(true);
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

  it('is resumed with events that the client already had, where asked for', async () => {
    const { server, client } = await runBot();
    const raw: string[] = [];
    client.on(Events.Raw, (packet: { t: string; d: { content?: string } }) => {
      if (packet.t === 'MESSAGE_CREATE') raw.push(packet.d.content ?? '');
    });
    await server.say({ as: 'bob', in: '#dev', text: 'once' });
    await server.delivered();
    await server.dropConnection({ repeat: 1 });
    await server.delivered();
    expect(raw).toEqual(['once', 'once']);
  });

  it.each(['reconnect', 'cut'] as const)('is resumed after the kind %s', async (how) => {
    const { server, seen } = await runBot();
    await server.dropConnection({ how });
    await server.say({ as: 'bob', in: '#dev', text: 'meanwhile' });
    await server.delivered();
    expect(textsFromPeople(seen)).toEqual(['meanwhile']);
    expect(await server.sessions()).toHaveLength(1);
  });

  it('ends the session by op 9 where it is not resumable; the client identifies again', async () => {
    const { server, client, seen } = await runBot();
    const [former] = await server.sessions();
    const back = once(client, Events.ShardReady);
    await server.dropConnection({ resumable: false });
    await server.say({ as: 'bob', in: '#dev', text: 'nobody hears this' });
    await back;
    await server.say({ as: 'bob', in: '#dev', text: 'hello again' });
    await server.delivered();
    expect(textsFromPeople(seen)).toEqual(['hello again']);
    expect((await server.sessions()).map(({ id }) => id)).not.toContain(former?.id);
  });

  it('leaves no session behind when the client itself says goodbye', async () => {
    const { server, client } = await runBot();
    await client.destroy();
    await expect.poll(() => server.sessions()).toEqual([]);
    await expect(server.delivered()).rejects.toThrow('No client is connected');
  });
});

describe('delivered', () => {
  it('says so when the client does not come back', async () => {
    const { server } = await runBot();
    await server.dropConnection();
    await server.say({ as: 'bob', in: '#dev', text: 'hello' });
    await expect(server.delivered({ timeoutMs: 50 })).rejects.toThrow('after 50 ms: it is disconnected');
  });
});

describe('dispatching a message again', () => {
  it('sends the same event with a new number', async () => {
    const { server, client } = await runBot();
    const raw: string[] = [];
    client.on(Events.Raw, (packet: { t: string; d: { id: string } }) => {
      if (packet.t === 'MESSAGE_CREATE') raw.push(packet.d.id);
    });
    const { id } = await server.say({ as: 'bob', in: '#dev', text: 'twice' });
    await server.dispatchAgain({ message: id });
    await server.delivered();
    expect(raw).toEqual([id, id]);
  });
});
