import type { Client } from 'discord.js';
import { describe, expect, it } from 'vitest';

import type { Place } from '../../src/core/place.ts';
import { createChannelFinder, createPresentPlace } from '../../src/discord/place.ts';
import { connectedAgain, runGateway, type RunningGateway } from './support/gateway-harness.ts';

/** The place that the last message said there is given; Alice says it. */
async function placeOfMessage(
  { server, handlers, settled }: RunningGateway,
  where: string,
  text = '@Discoclaw hello',
): Promise<Place | undefined> {
  await server.say({ as: 'alice', in: where, text });
  await settled();
  return handlers.messages.at(-1)?.place;
}

/** As if the client had never been told of these channels. */
function forget(client: Client, ...channelIds: readonly (string | undefined)[]): void {
  for (const id of channelIds) {
    client.channels.cache.delete(id ?? '');
    for (const guild of client.guilds.cache.values()) guild.channels.cache.delete(id ?? '');
  }
}

describe('the place of a message [V0]', () => {
  it('is private where @everyone cannot view the channel', async () => {
    const running = await runGateway();
    expect(await placeOfMessage(running, '#general')).toMatchObject({ audience: 'public' });
    expect(await placeOfMessage(running, '#secret')).toMatchObject({
      audience: 'private',
      homeId: running.ids['secret'],
      channelName: 'secret',
    });
  });

  it('follows the channel’s permissions from one message to the next', async () => {
    const running = await runGateway();
    expect(await placeOfMessage(running, '#dev')).toMatchObject({ audience: 'public' });
    await running.server.setChannelPrivacy({ channel: '#dev', private: true, members: ['alice'] });
    expect(await placeOfMessage(running, '#dev')).toMatchObject({ audience: 'private' });
    await running.server.setChannelPrivacy({ channel: '#dev', private: false });
    expect(await placeOfMessage(running, '#dev')).toMatchObject({ audience: 'public' });
  });

  it('is private in a guild whose @everyone cannot view channels at all', async () => {
    const running = await runGateway();
    await running.server.setRole({ name: '@everyone', permissions: ['SendMessages'] });
    await running.server.setOverwrite({ channel: '#dev', for: 'alice', allow: ['ViewChannel'] });
    await running.server.setOverwrite({
      channel: '#dev',
      for: 'Discoclaw',
      allow: ['ViewChannel', 'SendMessages'],
    });
    expect(await placeOfMessage(running, '#dev')).toMatchObject({ audience: 'private' });
  });

  it('is private for a channel that only a role was let into', async () => {
    const running = await runGateway();
    await running.server.setOverwrite({ channel: '#dev', for: '@everyone', deny: ['ViewChannel'] });
    await running.server.setRole({ name: 'crew', people: ['alice', 'Discoclaw'] });
    await running.server.setOverwrite({ channel: '#dev', for: 'crew', allow: ['ViewChannel'] });
    expect(await placeOfMessage(running, '#dev')).toMatchObject({ audience: 'private' });
  });

  it('gives a thread its parent’s audience and home', async () => {
    const running = await runGateway();
    const open = await running.server.addThread({ channel: '#general', name: 'plans', as: 'alice' });
    const closed = await running.server.addThread({ channel: '#secret', name: 'plots', as: 'alice' });
    expect(await placeOfMessage(running, open.id)).toMatchObject({
      audience: 'public',
      channelId: open.id,
      homeId: running.ids['general'],
      parentId: running.ids['general'],
      channelName: 'plans',
      parentName: 'general',
    });
    expect(await placeOfMessage(running, closed.id)).toMatchObject({
      audience: 'private',
      homeId: running.ids['secret'],
      parentName: 'secret',
    });
  });

  it('lets a private thread stand for itself, also below a public channel', async () => {
    const running = await runGateway();
    const thread = await running.server.addThread({
      channel: '#general',
      name: 'hush',
      as: 'alice',
      private: true,
      members: ['Discoclaw'],
    });
    expect(await placeOfMessage(running, thread.id)).toMatchObject({
      audience: 'private',
      homeId: thread.id,
      parentId: running.ids['general'],
    });
  });

  it('fetches what the client does not hold of a thread and its parent', async () => {
    const autoReplyChannelIds = ['120000000000000001', '120000000000000003'];
    const running = await runGateway({ access: { autoReplyChannelIds } });
    const { server, client, ids } = running;
    const open = await server.addThread({ channel: '#general', name: 'plans', as: 'alice' });
    const closed = await server.addThread({ channel: '#secret', name: 'plots', as: 'alice' });
    await server.delivered();
    forget(client, open.id, closed.id, ids['general'], ids['secret']);
    // No mention: that would make Discord tell the bot of the thread again.
    expect(await placeOfMessage(running, open.id, 'hello')).toMatchObject({
      audience: 'public',
      channelId: open.id,
      parentName: 'general',
    });
    expect(await placeOfMessage(running, closed.id, 'hello')).toMatchObject({
      audience: 'private',
      channelId: closed.id,
      parentName: 'secret',
    });
  });

  it('is private while the guild’s present permissions have not come yet', async () => {
    const running = await runGateway();
    for (const guild of running.client.guilds.cache.values()) guild.available = false;
    expect(await placeOfMessage(running, '#general')).toMatchObject({ audience: 'private' });
  });

  it('knows what became private while the connection was gone', async () => {
    const running = await runGateway();
    const { server, client } = running;
    expect(await placeOfMessage(running, '#dev')).toMatchObject({ audience: 'public' });
    const again = connectedAgain(client);
    await server.dropConnection({ how: 'cut', resumable: false });
    await server.setChannelPrivacy({ channel: '#dev', private: true, members: ['alice'] });
    await again;
    expect(await placeOfMessage(running, '#dev')).toMatchObject({ audience: 'private' });
    expect(await placeOfMessage(running, '#general')).toMatchObject({ audience: 'public' });
  });

  it('is private where nothing can be learnt', async () => {
    const running = await runGateway();
    const { server, client, ids } = running;
    const thread = await server.addThread({ channel: '#general', name: 'plans', as: 'alice' });
    await server.delivered();
    forget(client, ids['general']);
    await server.setFault({ kind: 'status', status: 403, code: 50001, route: 'GET /channels/*', times: 9 });
    expect(await placeOfMessage(running, thread.id)).toMatchObject({
      audience: 'private',
      homeId: ids['general'],
    });
    forget(client, thread.id);
    expect(await placeOfMessage(running, '#secret')).toMatchObject({ audience: 'private' });
    const place = await placeOfMessage(running, thread.id, '!memory show');
    expect(place).toEqual({
      audience: 'private',
      channelId: thread.id,
      homeId: thread.id,
      guildId: expect.any(String),
    });
  });
});

async function openPlaces() {
  const { client, server, ids, logger, settled } = await runGateway();
  const at = (name: string, audience: Place['audience']): Place => {
    const channelId = ids[name] ?? '200000000000000099';
    return { audience, channelId, homeId: channelId, guildId: '300000000000000001', channelName: name };
  };
  const set = async (channel: string, isPrivate: boolean): Promise<void> => {
    await server.setChannelPrivacy({ channel, private: isPrivate });
    await settled();
  };
  return { presentPlace: createPresentPlace(createChannelFinder(client, logger)), at, set };
}

describe('the present place', () => {
  it('is public once everybody can view the channel', async () => {
    const { presentPlace, at, set } = await openPlaces();
    const place = at('secret', 'private');
    expect(await presentPlace(place)).toBe(place);
    await set('#secret', false);
    expect(await presentPlace(place)).toMatchObject({
      audience: 'public',
      channelId: place.channelId,
      homeId: place.homeId,
    });
  });

  it('stays public where the channel has become private, so that it admits no more than before', async () => {
    const { presentPlace, at, set } = await openPlaces();
    const place = at('dev', 'public');
    await set('#dev', true);
    expect(await presentPlace(place)).toBe(place);
  });

  it('stays as it was for a DM, and for a channel that is gone', async () => {
    const { presentPlace, at } = await openPlaces();
    for (const place of [at('general', 'dm'), at('gone', 'private')])
      expect(await presentPlace(place)).toBe(place);
  });
});
