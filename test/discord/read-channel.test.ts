import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import type { ChannelTalk, ChannelWish } from '../../src/core/channels.ts';
import type { Place } from '../../src/core/place.ts';
import { runGateway, textsOf, type RunningGateway } from './support/gateway-harness.ts';
import { runs } from '../support/runs.ts';

type Asked = Partial<Omit<ChannelWish, 'place' | 'userId'>> & { readonly place?: Place };

/** Reads as somebody who asks where they are. */
async function read(
  { readChannel, ids }: RunningGateway,
  as: string,
  where: string,
  asked: Asked = {},
): Promise<ChannelTalk> {
  const channelId = ids[where.replace('#', '')] ?? where;
  const place: Place = { audience: 'public', channelId, homeId: channelId };
  return readChannel({
    place,
    userId: ids[as] ?? as,
    isForAskerOnly: false,
    limit: 500,
    requestIds: [],
    ...asked,
  });
}

function texts(talk: ChannelTalk): readonly string[] | string {
  return talk.kind === 'read' ? textsOf(talk.messages) : talk.kind;
}

async function dmOf(running: RunningGateway, as: string): Promise<string> {
  return (await running.server.say({ as, in: 'dm', text: 'hello' })).channelId;
}

describe('what was said in a channel [B4]', () => {
  it('is read since the asker’s own last message there, oldest first, without the message that asks', async () => {
    const running = await runGateway();
    const { server, settled } = running;
    await server.say({ as: 'bob', in: '#general', text: 'before' });
    const own = await server.say({ as: 'alice', in: '#general', text: 'see you' });
    await server.say({ as: 'bob', in: '#general', text: 'one' });
    await server.say({ as: 'carol', in: '#general', text: 'two' });
    const asking = await server.say({ as: 'alice', in: '#general', text: 'what did I miss?' });
    await server.say({ as: 'alice', in: '#general', text: 'hello?' });
    await settled();
    const talk = await read(running, 'alice', '#general', { requestIds: [asking.id] });
    expect(texts(talk)).toEqual(['one', 'two', 'hello?']);
    expect(talk).toMatchObject({ isCut: false, place: { channelName: 'general', audience: 'public' } });
    expect(talk.kind === 'read' && talk.ownLastAt).toBe(
      (await server.messages({ in: '#general' })).find(({ id }) => id === own.id)?.at,
    );
  });

  it('is read from a moment on, over several pages, the newest so many at most', async () => {
    const running = await runGateway();
    const { server, settled } = running;
    for (let number = 1; number <= 230; number += 1)
      await server.say({ as: 'bob', in: '#general', text: `message ${number}` });
    await settled();
    const all = await read(running, 'alice', '#general', { since: new Date(0) });
    expect(texts(all)).toHaveLength(230);
    expect(all).toMatchObject({ isCut: false });
    const cut = await read(running, 'alice', '#general', { since: new Date(0), limit: 130 });
    expect(texts(cut)).toHaveLength(130);
    expect(texts(cut).at(-1)).toBe('message 230');
    expect(cut).toMatchObject({ isCut: true });
    expect(texts(await read(running, 'alice', '#general', { since: new Date(Date.now() + 60_000) }))).toEqual(
      [],
    );
  });

  it('leaves out commands, the answers to them, notices and what is hidden [F2]', async () => {
    const hidden = new Set<string>();
    const running = await runGateway({ hidden });
    const { server, settled } = running;
    await server.say({ as: 'bob', in: '#general', text: '!memory show' });
    const line = await server.say({ as: 'bob', in: '#general', text: 'forgotten' });
    hidden.add(line.id);
    const deleted = await server.say({ as: 'bob', in: '#general', text: 'gone' });
    await server.delete({ message: deleted.id });
    await server.say({ as: 'bob', in: '#general', text: 'kept' });
    await settled();
    expect(texts(await read(running, 'alice', '#general'))).toEqual(['kept']);
  });
});

describe('who may have a channel read [B4]', () => {
  it('is everybody who can read it now; others get the same answer as for a missing channel', async () => {
    const running = await runGateway();
    const { server, settled } = running;
    await server.say({ as: 'bob', in: '#secret', text: 'the merger is on' });
    const carol = await dmOf(running, 'carol');
    const bob = await dmOf(running, 'bob');
    await settled();
    const only = { isForAskerOnly: true } as const;
    expect(await read(running, 'carol', carol, { ...only, channel: '#secret' })).toEqual({ kind: 'none' });
    expect(await read(running, 'carol', carol, { ...only, channel: '#nowhere' })).toEqual({ kind: 'none' });
    expect(await read(running, 'carol', carol, { ...only, channel: running.ids['secret'] })).toEqual({
      kind: 'none',
    });
    expect(
      texts(await read(running, 'bob', bob, { ...only, channel: '#secret', since: new Date(0) })),
    ).toEqual(['the merger is on']);
    // They lose it, which nobody tells the bot of.
    await server.setOverwrite({ channel: '#secret', for: 'bob', deny: ['ViewChannel'] });
    await settled();
    expect(await read(running, 'bob', bob, { ...only, channel: '#secret' })).toEqual({ kind: 'none' });
    expect(
      await server.requests({ method: 'GET', path: `/channels/${running.ids['secret'] ?? ''}/messages` }),
    ).toHaveLength(1);
  });

  it('hears of nothing that was said in an age-restricted channel in one that is not, however few read the answer [V0]', async () => {
    const running = await runGateway();
    const { server, settled } = running;
    const { id: late } = await server.addChannel({ name: 'late', ageRestricted: true });
    const { id: later } = await server.addChannel({ name: 'later', ageRestricted: true });
    await server.say({ as: 'bob', in: late, text: 'the joke' });
    const thread = await server.addThread({ channel: late, name: 'jokes', as: 'bob' });
    await server.say({ as: 'bob', in: thread.id, text: 'another joke' });
    const dm = await dmOf(running, 'alice');
    await settled();
    const asked = { since: new Date(0) } as const;
    for (const channel of [late, thread.id])
      for (const isForAskerOnly of [true, false])
        expect(await read(running, 'alice', '#general', { ...asked, channel, isForAskerOnly })).toEqual({
          kind: 'age-restricted',
        });
    for (const where of [late, later, thread.id])
      expect(texts(await read(running, 'alice', where, { ...asked, channel: late }))).toEqual(['the joke']);
    expect(
      texts(await read(running, 'alice', dm, { ...asked, channel: thread.id, isForAskerOnly: true })),
    ).toEqual(['another joke']);
  });

  it('asks Discord for nothing in a channel whose answer others would read who cannot read it', async () => {
    const running = await runGateway();
    const { server, settled } = running;
    await server.say({ as: 'bob', in: '#secret', text: 'the merger is on' });
    await server.say({ as: 'carol', in: '#dev', text: 'the build is green' });
    await settled();
    expect(await read(running, 'bob', '#general', { channel: '#secret' })).toEqual({ kind: 'none' });
    expect(texts(await read(running, 'bob', '#general', { channel: '#dev' }))).toEqual([
      'the build is green',
    ]);
    expect(texts(await read(running, 'bob', '#secret', { channel: '#dev' }))).toEqual(['the build is green']);
    expect(texts(await read(running, 'bob', '#secret', { since: new Date(0) }))).toEqual([
      'the merger is on',
    ]);
    expect(
      texts(
        await read(running, 'bob', '#general', {
          channel: '#secret',
          isForAskerOnly: true,
          since: new Date(0),
        }),
      ),
    ).toEqual(['the merger is on']);
  });

  it('reads a thread as its channel, and a private thread for those in it alone', async () => {
    const running = await runGateway();
    const { server, settled } = running;
    const open = await server.addThread({ channel: '#general', name: 'plans', as: 'bob' });
    const shut = await server.addThread({
      channel: '#general',
      name: 'plots',
      as: 'bob',
      private: true,
      members: ['Discoclaw'],
    });
    await server.say({ as: 'bob', in: open.id, text: 'in the open' });
    await server.say({ as: 'bob', in: shut.id, text: 'behind doors' });
    await server.say({ as: 'alice', in: '#general', text: 'hall talk' });
    const carol = await dmOf(running, 'carol');
    const bob = await dmOf(running, 'bob');
    await settled();
    const since = new Date(0);
    expect(texts(await read(running, 'carol', '#general', { channel: 'plans', since }))).toEqual([
      'in the open',
    ]);
    const only = { isForAskerOnly: true, since } as const;
    expect(await read(running, 'carol', carol, { ...only, channel: shut.id })).toEqual({ kind: 'none' });
    expect(texts(await read(running, 'bob', bob, { ...only, channel: shut.id }))).toEqual(['behind doors']);
    expect(await read(running, 'bob', '#general', { channel: shut.id, since })).toEqual({ kind: 'none' });
    expect(texts(await read(running, 'bob', shut.id, { since }))).toEqual(['behind doors']);
    expect(texts(await read(running, 'bob', shut.id, { channel: '#general', since }))).toContain('hall talk');
  });

  it('checks again after reading: somebody shut out meanwhile gets nothing', async () => {
    const running = await runGateway();
    const { server, settled, client } = running;
    await server.say({ as: 'alice', in: '#dev', text: 'the build is green' });
    await settled();
    const dev = await client.channels.fetch(running.ids['dev'] ?? '');
    if (dev?.isTextBased() !== true || dev.isDMBased()) throw new Error('No channel');
    const fetch = dev.messages.fetch.bind(dev.messages);
    Object.assign(dev.messages, {
      async fetch(...query: Parameters<typeof fetch>) {
        await server.setOverwrite({ channel: '#dev', for: 'bob', deny: ['ViewChannel'] });
        await settled();
        return fetch(...query);
      },
    });
    expect(await read(running, 'bob', '#general', { channel: '#dev', isForAskerOnly: true })).toEqual({
      kind: 'none',
    });
  });
});

it('is read only where everybody who can read the answer can read it, whatever roles and overwrites say [B4]', async () => {
  const running = await runGateway();
  const { server, settled, client, ids } = running;
  const guildId = Object.values((await server.info()).guilds)[0] ?? '';
  const roles = ['red', 'green', 'blue'];
  const members = await Promise.all(
    Array.from({ length: 8 }, async (_, index) => (await server.addPerson({ name: `member${index}` })).name),
  );
  for (const [at, name] of roles.entries())
    await server.setRole({
      guild: guildId,
      name,
      permissions: [],
      people: members.filter((_each, index) => (index & (1 << at)) !== 0),
    });
  for (const where of ['#general', '#dev'])
    await server.setOverwrite({ channel: where, for: 'Discoclaw', allow: ['ViewChannel'] });
  const anybody = ['@everyone', ...roles, 'member1', 'member6'];
  const rule = fc.record({
    channel: fc.constantFrom('#general', '#dev'),
    for: fc.constantFrom(...anybody),
    rule: fc.constantFrom<('allow' | 'deny' | 'none')[]>('allow', 'deny', 'none'),
  });
  const guild = await client.guilds.fetch(guildId);
  const known = (await server.info()).people;
  const userIds = members.map((name) => known[name] ?? '');
  const ask: Asked = { channel: '#dev', since: new Date(0) };
  let readTimes = 0;
  let refusedTimes = 0;

  await fc.assert(
    fc.asyncProperty(fc.array(rule, { minLength: 1, maxLength: 6 }), async (rules) => {
      for (const { rule: given, ...overwrite } of rules)
        await server.setOverwrite({
          ...overwrite,
          ...(given === 'none' ? {} : { [given]: ['ViewChannel' as const] }),
        });
      await settled();
      // Alice owns the server and can read everything, so only the others count.
      const { kind } = await read(running, 'alice', '#general', ask);
      const people = await Promise.all(userIds.map((user) => guild.members.fetch({ user, force: true })));
      const canRead = (where: string, member: (typeof people)[number]) =>
        guild.channels.cache
          .get(ids[where] ?? '')
          ?.permissionsFor(member)
          .has('ViewChannel') === true;
      const isShutOut = people.some((member) => canRead('general', member) && !canRead('dev', member));
      if (kind === 'read') readTimes += 1;
      else refusedTimes += 1;
      expect(kind === 'read' && isShutOut).toBe(false);
    }),
    { numRuns: runs(160) },
  );
  expect(readTimes).toBeGreaterThan(0);
  expect(refusedTimes).toBeGreaterThan(0);
});
