import { ChannelType, Events, IntentsBitField } from 'discord.js';
import { describe, expect, it } from 'vitest';

import { logIn, readsContent } from '../../src/discord/client.ts';
import { connectedAgain, newClient, openSandbox, runGateway, textsOf } from './support/gateway-harness.ts';

describe('the gateway', () => {
  it('hands on a mention in a public channel, without the mention, with its place', async () => {
    const { server, handlers, settled, ids } = await runGateway();
    await server.say({ as: 'bob', in: '#general', text: '@Discoclaw what did @carol say in #dev?' });
    await settled();
    expect(handlers.messages).toMatchObject([
      {
        text: 'what did @carol say in #dev?',
        author: { id: ids['bob'], name: 'bob', kind: 'human' },
        isOwner: false,
        place: {
          audience: 'public',
          channelId: ids['general'],
          homeId: ids['general'],
          channelName: 'general',
        },
      },
    ]);
  });

  it('stays silent when it is not addressed, for itself, and for other bots', async () => {
    const { server, handlers, replies, settled, ids } = await runGateway();
    await server.addPerson({ name: 'robot', bot: true });
    await server.say({ as: 'bob', in: '#general', text: 'good morning' });
    await server.say({ as: 'bob', in: '#general', text: '@everyone listen' });
    await server.say({ as: 'robot', in: '#general', text: '@Discoclaw beep' });
    await replies.send(ids['general'] ?? '', 'I say something', '1');
    await settled();
    expect(handlers.texts).toEqual([]);
  });

  it('takes a mention of the role that came with it for one of its own, and of no other role [G2]', async () => {
    const { server, client, handlers, settled } = await runGateway();
    await server.setRole({ name: 'crew', permissions: [], people: ['alice'] });
    await server.delivered({});
    const roles = client.guilds.cache.flatMap(({ roles: each }) => each.cache);
    const own = roles.find(({ tags }) => tags?.botId === client.user?.id)?.id;
    const crew = roles.find(({ name }) => name === 'crew')?.id;
    expect([own, crew]).not.toContain(undefined);
    await server.say({ as: 'alice', in: '#general', text: `<@&${crew}> lunch?` });
    await server.say({ as: 'alice', in: '#general', text: `<@&${own}> hello` });
    await server.say({ as: 'alice', in: '#general', text: `so, <@&${own}>?` });
    for (const quoted of [`\`<@&${own}>\``, `\`\`\`\n<@&${own}>\n\`\`\``, String.raw`type \<@&${own}>`])
      await server.say({ as: 'alice', in: '#general', text: quoted });
    await settled();
    expect(handlers.texts).toEqual(['hello', 'so, @Discoclaw?']);
  });

  it('reacts with a lock to people without access who write to it, once, and to nobody else [G1]', async () => {
    const { server, handlers, settled } = await runGateway({
      access: { access: 'allowlist', allowedUserIds: [] },
    });
    const said = [
      await server.say({ as: 'carol', in: '#general', text: 'hello' }),
      await server.say({ as: 'carol', in: '#general', text: '@Discoclaw hello' }),
      await server.say({ as: 'carol', in: 'dm', text: 'hello?' }),
      await server.say({ as: 'bob', in: 'dm', text: 'hello' }),
    ];
    await settled();
    const locked = async () =>
      (await server.requests({ method: 'PUT', path: '/channels/*/messages/*/reactions/*/@me' })).map(
        ({ path }) => path.split('/')[4],
      );
    await expect.poll(locked).toHaveLength(2);
    expect(new Set(await locked())).toEqual(new Set([said[1]?.id, said[3]?.id]));
    expect(handlers.texts).toEqual([]);
  });

  it('answers in a thread that it made, without a mention', async () => {
    const { server, client, handlers, settled, ids } = await runGateway();
    const channel = client.channels.cache.get(ids['general'] ?? '');
    if (channel?.type !== ChannelType.GuildText) throw new Error('#general has threads');
    const own = await channel.threads.create({ name: 'my own' });
    const theirs = await server.addThread({ channel: '#general', name: 'theirs', as: 'bob' });
    await server.say({ as: 'bob', in: own.id, text: 'in your thread' });
    await server.say({ as: 'bob', in: theirs.id, text: 'in my thread' });
    await settled();
    expect(handlers.texts).toEqual(['in your thread']);
  });

  it('hands on a channel’s messages, edits and deletions in their order', async () => {
    const { server, handlers, settled } = await runGateway();
    const first = await server.say({ as: 'bob', in: 'dm', text: 'one' });
    await server.say({ as: 'bob', in: 'dm', text: 'two' });
    await server.edit({ message: first.id, text: 'one, corrected' });
    const third = await server.say({ as: 'bob', in: 'dm', text: 'three' });
    await settled();
    await server.delete({ message: first.id });
    await server.bulkDelete({ messages: [third.id] });
    await settled();
    expect(handlers.events).toEqual([
      'message one',
      'message two',
      'edited one, corrected',
      'message three',
      `deleted ${first.id}`,
      `deleted ${third.id}`,
    ]);
  });

  it('tells who edited a message into a command, and passes over what changes no text [G5]', async () => {
    const { server, handlers, ids, settled } = await runGateway();
    const { id } = await server.say({ as: 'bob', in: 'dm', text: 'hello' });
    await settled();
    await server.edit({ message: id, text: 'hello' });
    await server.edit({ message: id, text: '!memory show' });
    await settled();
    expect(handlers.events).toEqual(['message hello', 'edited into a command !memory show']);
    expect(handlers.edits).toMatchObject([{ authorId: ids['bob'], isCommand: true }]);
  });

  it('tells of reactions, after the message that they are on, and of none of its own', async () => {
    const { server, client, handlers, ids, settled } = await runGateway();
    const inDm = await server.say({ as: 'bob', in: 'dm', text: 'tell me' });
    await server.react({ as: 'bob', message: inDm.id, emoji: '🛑' });
    await client.rest.put(
      `/channels/${inDm.channelId}/messages/${inDm.id}/reactions/${encodeURIComponent('👀')}/@me`,
    );
    await settled();
    expect(handlers.events).toEqual(['message tell me', `🛑 on ${inDm.id} by ${ids['bob']}`]);
  });

  it('goes on when a handler fails', async () => {
    const { server, handlers, logger, settled } = await runGateway();
    handlers.work = () => Promise.reject(new Error('handlers never do this'));
    await server.say({ as: 'bob', in: 'dm', text: 'one' });
    await server.say({ as: 'bob', in: 'dm', text: 'two' });
    await settled();
    expect(handlers.texts).toEqual(['one', 'two']);
    expect(logger.errors).toEqual(['an event could not be handled', 'an event could not be handled']);
  });

  it('accepts no messages once intake has stopped, but still learns of deletions', async () => {
    const { server, handlers, gateway, settled } = await runGateway();
    const early = await server.say({ as: 'bob', in: 'dm', text: 'early' });
    await settled();
    await gateway.stopIntake();
    await server.say({ as: 'bob', in: 'dm', text: 'late' });
    await server.delete({ message: early.id });
    await settled();
    expect(handlers.events).toEqual(['message early', `deleted ${early.id}`]);
  });

  it('shows no history that was deleted while the connection was gone', async () => {
    const { server, client, history, settled } = await runGateway();
    const deleted = await server.say({ as: 'bob', in: 'dm', text: 'a slip' });
    await server.say({ as: 'bob', in: 'dm', text: 'a word' });
    await settled();
    expect(textsOf(await history.recent(deleted.channelId, 10))).toEqual(['a slip', 'a word']);
    const again = connectedAgain(client);
    await server.dropConnection({ how: 'cut', resumable: false });
    await server.delete({ message: deleted.id });
    await again;
    await settled();
    expect(textsOf(await history.recent(deleted.channelId, 10))).toEqual(['a word']);
  });

  it('does not end the process over an error event [G3a]', async () => {
    const { client, logger } = await runGateway();
    client.emit(Events.Error, new Error('something in the client'));
    expect(logger.errors).toEqual(['the Discord client reported an error']);
  });

  it('goes on without Message Content when it is refused, and takes no message without words for an empty one [G3c]', async () => {
    const server = await openSandbox({ disallowedIntents: ['messageContent'] });
    const { channels } = await server.info();
    const autoReplyChannelIds = Object.values(channels);
    const { client, handlers, history, logger, lost, settled } = await runGateway({
      server,
      access: { autoReplyChannelIds },
    });
    expect(readsContent(client)).toBe(false);
    expect(logger.warnings.filter((line) => line.includes('Message Content'))).toHaveLength(1);
    const unread = await server.say({ as: 'bob', in: '#general', text: 'to whom it may concern' });
    await server.say({ as: 'bob', in: '#general', text: 'to you', mentionBot: true });
    await server.say({ as: 'carol', in: 'dm', text: 'in private' });
    await settled();
    expect(handlers.texts.toSorted()).toEqual(['in private', 'to you']);
    expect(textsOf(await history.recent(unread.channelId, 10))).toEqual(['to you']);

    await server.dropConnection({ how: 'invalidate' });
    await connectedAgain(client);
    await server.say({ as: 'bob', in: '#general', text: 'still to you', mentionBot: true });
    await expect.poll(() => handlers.texts).toContain('still to you');
    expect(lost).toEqual([]);
  });

  it('does not ask for Message Content any more when it is taken away while it runs [G3c]', async () => {
    const { server, client, handlers, lost } = await runGateway();
    expect(readsContent(client)).toBe(true);
    await server.allowIntents({ messageContent: false });
    const again = connectedAgain(client);
    await server.dropConnection({ how: 'invalidate' });
    await again;
    expect(readsContent(client)).toBe(false);
    await server.say({ as: 'bob', in: '#general', text: 'to you', mentionBot: true });
    await expect.poll(() => handlers.texts).toEqual(['to you']);
    expect(lost).toEqual([]);
  });

  it('gives up where Discord refuses the intents without Message Content too [O2]', async () => {
    const server = await openSandbox({ disallowedIntents: ['messageContent', 'presences'] });
    const client = newClient(server);
    client.options.intents = new IntentsBitField(client.options.intents).add('GuildPresences').freeze();
    await expect(logIn(client, server.token, 20_000)).rejects.toMatchObject({ failure: 'intents' });
  });
});
