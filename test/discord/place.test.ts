import type { Client } from 'discord.js';
import { describe, expect, it } from 'vitest';

import type { Place } from '../../src/core/place.ts';
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

  it('names the category of a channel, for its threads too [K15]', async () => {
    const running = await runGateway();
    const thread = await running.server.addThread({ channel: '#general', name: 'plans', as: 'alice' });
    expect((await placeOfMessage(running, '#general'))?.categoryId).toBeUndefined();
    const categoryId = '200000000000000050';
    Object.assign(running.client.channels.cache.get(running.ids['general'] ?? '') ?? {}, {
      parentId: categoryId,
    });
    expect(await placeOfMessage(running, '#general')).toMatchObject({ categoryId });
    expect(await placeOfMessage(running, thread.id)).toMatchObject({ categoryId });
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

  it('is private if nothing about it can be found out', async () => {
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

/** A channel with the readers that its messages have, by the names of roles and people. */
async function openDen(form: 'text' | 'voice' | 'stage' = 'text') {
  const running = await runGateway();
  const { server, settled } = running;
  const { id } = await server.addChannel({ name: 'den', form });
  const roles = new Map<string, string>();
  const role = async (name: string, permissions: readonly 'Administrator'[] = []): Promise<string> => {
    const made = await server.setRole({ name, permissions: [...permissions] });
    roles.set(made.id, name);
    return made.id;
  };
  const allow = (who: string, ...permissions: ('ViewChannel' | 'Connect')[]) =>
    server.setOverwrite({ channel: id, for: who, allow: permissions });
  const deny = (who: string, ...permissions: ('ViewChannel' | 'Connect')[]) =>
    server.setOverwrite({ channel: id, for: who, deny: permissions });
  await allow('Discoclaw', 'ViewChannel', 'Connect');
  return {
    ...running,
    id,
    role,
    allow,
    deny,
    readers: async (): Promise<readonly string[] | undefined> => {
      await settled();
      const place = await placeOfMessage(running, id);
      const names = new Map([
        ...roles,
        ...Object.entries(running.ids).map(([name, each]) => [each, name] as const),
      ]);
      return place?.readers?.map((reader) =>
        reader
          .split('+')
          .map((each) => names.get(each) ?? each)
          .toSorted()
          .join('+'),
      );
    },
  };
}

describe('who can read a private channel [V0] [V2a]', () => {
  it('are the roles and single people that are let in, and administrators, but not the owner and the bot', async () => {
    const { role, allow, deny, readers } = await openDen();
    await deny('@everyone', 'ViewChannel');
    await role('bystanders');
    await role('crew');
    await role('admins', ['Administrator']);
    for (const each of ['crew', 'bob', 'alice']) await allow(each, 'ViewChannel');
    expect((await readers())?.toSorted()).toEqual(['admins', 'bob', 'crew']);
    await deny('crew', 'ViewChannel');
    expect((await readers())?.toSorted()).toEqual(['admins', 'bob']);
  });

  it.each(['voice', 'stage'] as const)(
    'may connect in a %s channel too, by one role or two',
    async (form) => {
      const { role, allow, deny, readers } = await openDen(form);
      expect(await readers()).toEqual(['@everyone']);
      await deny('@everyone', 'Connect');
      await role('viewers');
      await role('callers');
      await role('crew');
      expect(await readers()).toEqual([]);
      await allow('crew', 'ViewChannel', 'Connect');
      await deny('@everyone', 'ViewChannel', 'Connect');
      await allow('viewers', 'ViewChannel');
      expect(await readers()).toEqual(['crew']);
      await allow('callers', 'Connect');
      expect((await readers())?.toSorted()).toEqual(['callers+viewers', 'crew']);
    },
  );

  it('are those of its parent for a thread, private or not, and unknown where the parent is', async () => {
    const running = await openDen();
    const { server, client, id, deny, allow, settled } = running;
    await deny('@everyone', 'ViewChannel');
    await allow('bob', 'ViewChannel');
    for (const isPrivate of [false, true]) {
      const name = `thread${String(isPrivate)}`;
      const thread = await server.addThread({
        channel: id,
        name,
        as: 'bob',
        private: isPrivate,
        members: ['Discoclaw', 'alice'],
      });
      await settled();
      expect(await placeOfMessage(running, thread.id)).toMatchObject({ readers: [running.ids['bob']] });
      for (const guild of client.guilds.cache.values()) guild.available = false;
      expect((await placeOfMessage(running, thread.id))?.readers).toBeUndefined();
      for (const guild of client.guilds.cache.values()) guild.available = true;
    }
  });
});

describe('an age-restricted channel [V0]', () => {
  it.each(['text', 'voice', 'stage'] as const)(
    'is private no matter who can read it, with its threads, as long as it is one, and public again after (%s)',
    async (form) => {
      const running = await runGateway();
      const { server, client } = running;
      const { id } = await server.addChannel({ name: 'late', form, ageRestricted: true });
      const restricted = { audience: 'private', readers: ['18:@everyone'], homeId: id };
      expect(await placeOfMessage(running, id)).toMatchObject(restricted);
      await server.setAgeRestriction({ channel: id, ageRestricted: false });
      expect(await placeOfMessage(running, id)).toMatchObject({ audience: 'public', readers: ['@everyone'] });
      await server.setAgeRestriction({ channel: id, ageRestricted: true });
      expect(await placeOfMessage(running, id)).toMatchObject(restricted);
      for (const guild of client.guilds.cache.values()) guild.available = false;
      expect((await placeOfMessage(running, id))?.readers).toBeUndefined();
    },
  );
});

describe('a server whose people are let in by a role [V0]', () => {
  it('has public channels where that role was named, and private ones where not', async () => {
    let memberRole: string | undefined;
    const running = await runGateway({ memberRole: () => memberRole });
    const { server } = running;
    const verified = await server.setRole({
      name: 'Verified',
      permissions: ['ViewChannel', 'SendMessages'],
      people: ['alice', 'Discoclaw'],
    });
    const staff = await server.setRole({ name: 'Staff', permissions: ['ViewChannel'] });
    await server.setRole({ name: '@everyone', permissions: [] });
    const before = await placeOfMessage(running, '#dev');
    expect(before).toMatchObject({ audience: 'private', readers: [verified.id, staff.id].toSorted() });
    memberRole = verified.id;
    const place = await placeOfMessage(running, '#dev');
    expect(place).toEqual({ ...before, audience: 'public' });
    await server.setOverwrite({ channel: '#dev', for: 'Verified', deny: ['ViewChannel'] });
    await server.setOverwrite({ channel: '#dev', for: 'Discoclaw', allow: ['ViewChannel'] });
    expect(await placeOfMessage(running, '#dev')).toMatchObject({ audience: 'private' });
    expect(await placeOfMessage(running, '#general')).toMatchObject({ audience: 'public' });
    memberRole = '999999999999999999';
    expect(await placeOfMessage(running, '#general')).toMatchObject({ audience: 'private' });
  });
});

async function openPlaces() {
  const { client, server, ids, presentPlace, settled } = await runGateway();
  const at = (name: string, audience: Place['audience'], known: Partial<Place> = {}): Place => {
    const channelId = ids[name] ?? '200000000000000099';
    const guildId = '300000000000000001';
    return { audience, channelId, homeId: channelId, guildId, channelName: name, ...known };
  };
  return { client, server, presentPlace, at, settled };
}

describe('the present place', () => {
  const readers = ['140000000000000009'];
  it('is public once everybody can view the channel', async () => {
    const { presentPlace, server, settled, at } = await openPlaces();
    await server.setChannelPrivacy({ channel: '#dev', private: true });
    await settled();
    const place = at('dev', 'private', { readers: [] });
    expect(await presentPlace(place)).toBe(place);
    await server.setChannelPrivacy({ channel: '#dev', private: false });
    await settled();
    expect(await presentPlace(place)).toMatchObject({
      audience: 'public',
      channelId: place.channelId,
      homeId: place.homeId,
    });
  });

  it('has the readers of now once somebody was let in, and stays as it was where somebody was shut out', async () => {
    const { presentPlace, server, settled, at } = await openPlaces();
    await server.setChannelPrivacy({ channel: '#dev', private: true, members: ['carol'] });
    await settled();
    const carol = (await server.info()).people['carol'] ?? '';
    expect(await presentPlace(at('dev', 'private', { readers }))).toMatchObject({ readers: [carol] });
    const wider = at('dev', 'private', { readers: [...readers, carol] });
    expect(await presentPlace(wider)).toBe(wider);
  });

  it('has no known readers in a channel that is gone', async () => {
    const { presentPlace, at } = await openPlaces();
    const present = await presentPlace(at('gone', 'private', { readers }));
    expect(present).toEqual(at('gone', 'private'));
  });

  it('waits for a server to be back, and has no known readers where that takes too long', async () => {
    const { presentPlace, server, settled, at } = await openPlaces();
    await server.setChannelPrivacy({ channel: '#dev', private: true });
    const place = at('dev', 'private', { readers: [] });
    await server.setGuildAvailability({ available: false });
    await settled();
    const back = presentPlace(place);
    await server.setGuildAvailability({ available: true });
    expect(await back).toBe(place);
    await server.setGuildAvailability({ available: false });
    await settled();
    expect((await presentPlace(place)).readers).toBeUndefined();
  });
});
