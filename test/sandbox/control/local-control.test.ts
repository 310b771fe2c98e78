import { once } from 'node:events';

import { ActivityType, ApplicationCommandOptionType, ApplicationCommandType } from 'discord.js';
import { describe, expect, it } from 'vitest';

import { openSandbox, runBot } from '../support/bot-client.ts';

describe('saying something', () => {
  it('is refused where the person could not in Discord', async () => {
    const server = await openSandbox();
    await expect(server.say({ as: 'carol', in: '#secret', text: 'a' })).rejects.toThrow(
      'carol cannot see #secret',
    );
    await server.setOverwrite({ channel: '#dev', for: '@everyone', deny: ['SendMessages'] });
    await expect(server.say({ as: 'carol', in: '#dev', text: 'a' })).rejects.toThrow(
      'carol may not write in #dev',
    );
    await expect(server.say({ as: 'carol', in: '@bob', text: 'a' })).rejects.toThrow(
      'carol cannot see this DM',
    );
    await expect(server.say({ as: 'bob', in: '#general', text: 'x'.repeat(4_001) })).rejects.toThrow(
      '4000 characters',
    );
    await expect(server.say({ as: 'bob', in: '#general', text: 'a', replyTo: '1' })).rejects.toThrow(
      'no message 1',
    );
  });

  it('names the choices when a channel’s name is unknown or not the only one', async () => {
    const server = await openSandbox();
    await expect(server.say({ as: 'bob', in: '#attic', text: 'a' })).rejects.toThrow(
      'There is no channel "#attic"',
    );
    const annex = await server.addGuild({ name: 'Annex', owner: 'bob' });
    const twin = await server.addChannel({ name: 'dev', guild: annex.id });
    await expect(server.say({ as: 'bob', in: 'dev', text: 'a' })).rejects.toThrow(
      `use an id: 120000000000000002, ${twin.id}`,
    );
    expect(await server.say({ as: 'bob', in: twin.id, text: 'a' })).toMatchObject({ channelId: twin.id });
  });

  it('mentions the bot, and pings who is replied to unless told not to', async () => {
    const server = await openSandbox();
    const { bot, people } = await server.info();
    const first = await server.say({ as: 'bob', in: '#dev', text: 'hi', mentionBot: true });
    expect(first).toMatchObject({ text: `<@${bot.id}> hi`, mentions: [bot.id] });
    const reply = { as: 'carol', in: '#dev', text: 'a', replyTo: first.id };
    expect((await server.say(reply)).mentions).toEqual([people['bob']]);
    expect((await server.say({ ...reply, pingReplied: false })).mentions).toEqual([]);
  });
});

describe('waiting for a reply', () => {
  it('takes the first one after the newest message of a person, containing what is wanted, settled', async () => {
    const { server, client } = await runBot();
    const channel = await client.channels.fetch('120000000000000002');
    if (!channel?.isSendable()) throw new Error('No channel to send to');
    await channel.send('old');
    await server.say({ as: 'bob', in: '#dev', text: 'go' });
    const settled = server.waitForReply({ in: '#dev', settleMs: 2_000 });
    const containing = server.waitForReply({ in: '#dev', containing: 'fin' });
    const message = await channel.send('dra');
    await message.edit('draft');
    await message.edit('final');
    expect((await settled).text).toBe('final');
    expect((await containing).text).toBe('final');
  });

  it('ends with what the bot wrote instead', async () => {
    const { server, client } = await runBot();
    const channel = await client.channels.fetch('120000000000000002');
    if (!channel?.isSendable()) throw new Error('No channel to send to');
    await channel.send('something else');
    const waiting = server.waitForReply({ in: '#dev', containing: 'it', after: '0', timeoutMs: 30 });
    await expect(waiting).rejects.toThrow(
      'Waited 30 ms in vain for a reply of the bot in #dev containing "it"; it wrote ["something else"]',
    );
  });
});

describe('permissions', () => {
  it('are given and taken in a channel of anybody', async () => {
    const { server, client } = await runBot();
    const secret = await client.channels.fetch('120000000000000003');
    if (!secret?.isSendable()) throw new Error('No channel to send to');
    const view = ['ViewChannel' as const];
    await server.setOverwrite({ channel: '#secret', for: 'Discoclaw', allow: view, deny: ['SendMessages'] });
    await expect(secret.send('no')).rejects.toMatchObject({ code: 50_013 });
    await server.setOverwrite({ channel: '#secret', for: 'Discoclaw', allow: view });
    await secret.send('yes');
    await server.setOverwrite({ channel: '#secret', for: '@everyone', allow: view });
    expect(await server.say({ as: 'carol', in: '#secret', text: 'seen' })).toMatchObject({ text: 'seen' });
  });

  it('are given and taken in the guild at large only of a role', async () => {
    const server = await openSandbox();
    await server.changePermissions({ for: '@everyone', deny: ['SendMessages'] });
    await expect(server.say({ as: 'bob', in: '#dev', text: 'a' })).rejects.toThrow(
      'bob may not write in #dev',
    );
    await server.changePermissions({ for: '@everyone', allow: ['SendMessages'] });
    await server.say({ as: 'bob', in: '#dev', text: 'a' });
    await expect(server.changePermissions({ for: 'bob', deny: ['SendMessages'] })).rejects.toThrow(
      'There is no role "bob"',
    );
  });

  it('go with a role that is taken from somebody, or deleted', async () => {
    const { server, client } = await runBot();
    const dev = await client.channels.fetch('120000000000000002');
    if (!dev?.isSendable() || dev.isDMBased()) throw new Error('No channel to send to');
    await server.setOverwrite({ channel: '#dev', for: '@everyone', deny: ['SendMessages'] });
    for (const role of ['writers', 'guests']) {
      await server.setRole({ name: role, permissions: [], people: ['Discoclaw', 'bob'] });
      await server.setOverwrite({ channel: '#dev', for: role, allow: ['SendMessages'] });
    }
    await server.takeRole({ role: 'writers', people: ['Discoclaw'] });
    await dev.send('still');
    await server.deleteRole({ role: 'guests' });
    await expect(dev.send('no more')).rejects.toMatchObject({ code: 50_013 });
    await server.delivered();
    expect(dev.permissionsFor(dev.guild.members.me ?? '')?.has('SendMessages')).toBe(false);
    await server.say({ as: 'bob', in: '#dev', text: 'but I' });
    await expect(server.takeRole({ role: 'guests', people: [] })).rejects.toThrow(
      'There is no role "guests"',
    );
  });
});

describe('the bot’s presence', () => {
  it('is seen, from the moment it connects until it leaves', async () => {
    const { server, client } = await runBot();
    expect(await server.presence()).toEqual({ status: 'online', activities: [] });
    client.user.setPresence({
      status: 'dnd',
      activities: [{ name: 'state', type: ActivityType.Custom, state: 'the model is not reachable' }],
    });
    await expect
      .poll(() => server.presence())
      .toMatchObject({
        status: 'dnd',
        activities: [{ name: 'state', type: 4, state: 'the model is not reachable' }],
      });
    await client.destroy();
    await expect.poll(() => server.presence()).toEqual({ status: 'offline', activities: [] });
  });
});

describe('people and channels', () => {
  it('are listed with those who see each, DMs included', async () => {
    const server = await openSandbox();
    await server.addThread({ channel: '#dev', name: 'den', as: 'bob', private: true });
    const seenBy = new Map(
      (await server.channels()).map(({ kind, name, seenBy: names }) => [`${kind} ${name}`, names]),
    );
    expect(seenBy.get('text general')).toEqual(['Discoclaw', 'alice', 'bob', 'carol']);
    expect(seenBy.get('text secret')).toEqual(['Discoclaw', 'alice', 'bob']);
    expect(seenBy.get('dm carol')).toEqual(['Discoclaw', 'carol']);
    expect(seenBy.get('thread den')).toEqual(['alice', 'bob']);
  });

  it('go with the slash commands that the bot has registered', async () => {
    const { server, client } = await runBot();
    expect(await server.commands()).toEqual([]);
    await client.application.commands.set([
      {
        name: 'roll',
        description: 'a',
        options: [{ type: ApplicationCommandOptionType.String, name: 'dice', description: 'a' }],
      },
      {
        name: 'memory',
        description: 'a',
        options: [{ type: ApplicationCommandOptionType.Subcommand, name: 'show', description: 'a' }],
      },
      { name: 'Keep', type: ApplicationCommandType.Message },
    ]);
    const dice = { name: 'dice', takesFile: false, required: false, autocomplete: false, choices: [] };
    expect(await server.commands()).toEqual([
      { name: 'roll', type: 'slash', subcommands: [], options: [dice] },
      {
        name: 'memory',
        type: 'slash',
        subcommands: [{ name: 'show', path: 'show', options: [] }],
        options: [],
      },
      { name: 'Keep', type: 'message', subcommands: [], options: [] },
    ]);
  });

  it('are added with ids of one’s own, names only once', async () => {
    const server = await openSandbox();
    expect(await server.addPerson({ name: 'dave', id: '140000000000000009' })).toMatchObject({
      id: '140000000000000009',
    });
    await expect(server.addPerson({ name: 'Dave' })).rejects.toThrow('already is somebody called Dave');
    await expect(server.addPerson({ name: 'no spaces' })).rejects.toThrow('letters, digits and _');
    await server.addChannel({ name: 'lab', private: true, members: ['dave'] });
    expect(await server.say({ as: 'dave', in: '#lab', text: 'hi' })).toMatchObject({ text: 'hi' });
    await expect(server.say({ as: 'carol', in: '#lab', text: 'hi' })).rejects.toThrow(
      'carol cannot see #lab',
    );
  });

  it('open DMs once a person, and threads on messages', async () => {
    const server = await openSandbox();
    const dm = await server.openDm({ person: 'bob' });
    expect(await server.openDm({ person: 'bob' })).toEqual(dm);
    expect(dm).toMatchObject({ kind: 'dm', name: 'bob' });
    const said = await server.say({ as: 'bob', in: '#dev', text: 'topic' });
    const thread = await server.addThread({ channel: 'dev', name: 'talk', as: 'bob', message: said.id });
    expect(thread.id).toBe(said.id);
    const twice = server.addThread({ channel: 'dev', name: 'talk', as: 'bob', message: said.id });
    await expect(twice).rejects.toThrow('a message has one at most');
  });

  it('tell their own process of everything, until it unsubscribes', async () => {
    const server = await openSandbox();
    const types: string[] = [];
    const unsubscribe = server.subscribe(({ type }) => types.push(type));
    await server.say({ as: 'bob', in: '#dev', text: 'a' });
    unsubscribe();
    await server.say({ as: 'bob', in: '#dev', text: 'b' });
    expect(types).toEqual(['message-created']);
  });

  it('keep the people’s words from being edited into the bot’s', async () => {
    const { server, client } = await runBot();
    const channel = await client.channels.fetch('120000000000000002');
    if (!channel?.isSendable()) throw new Error('No channel to send to');
    const { id } = await channel.send('mine');
    await expect(server.edit({ message: id, text: 'yours' })).rejects.toThrow(
      "Only the bot can edit the bot's messages",
    );
    const other = await server.say({ as: 'bob', in: '#general', text: 'a' });
    await expect(server.bulkDelete({ messages: [id, other.id] })).rejects.toThrow('not of one channel');
  });

  it('let a moderator delete what the bot wrote, and nobody else', async () => {
    const { server, client } = await runBot();
    const channel = await client.channels.fetch('120000000000000002');
    if (!channel?.isSendable()) throw new Error('No channel to send to');
    const { id } = await channel.send('mine');
    const deleted = once(client, 'messageDelete');
    await expect(server.delete({ message: id, as: 'bob' })).rejects.toThrow(
      'bob lacks ManageMessages in #dev',
    );
    await expect(server.bulkDelete({ messages: [id], as: 'bob' })).rejects.toThrow(
      'bob lacks ManageMessages',
    );
    await server.setRole({ name: 'mods', permissions: ['ManageMessages'], people: ['bob'] });
    await server.delete({ message: id, as: 'bob' });
    expect(await deleted).toMatchObject([{ id }]);
    const own = await server.say({ as: 'carol', in: '#dev', text: 'mine too' });
    await server.delete({ message: own.id, as: 'carol' });
    expect(await server.messages({ in: '#dev' })).toEqual([]);
  });
});
