import { Events } from 'discord.js';
import { describe, expect, it } from 'vitest';

import type { Shards } from '../../src/core/processes.ts';
import { guildOfPlace, type Place } from '../../src/core/place.ts';
import type { TestSandboxOptions } from '../support/sandbox/test-sandbox.ts';
import { placesOfShards } from '../support/two-shards.ts';
import { openSandbox, runGateway, type RunOptions } from './support/gateway-harness.ts';

const first: Shards = { count: 2, ids: [0] };
const second: Shards = { count: 2, ids: [1] };
const both: Shards = { count: 2, ids: [0, 1] };

/** A sandbox with a guild in each of two shards, a DM, and how a bot is started there. */
async function twoShards(options: TestSandboxOptions = {}) {
  const server = await openSandbox(options);
  const places = await placesOfShards(server, 2);
  const dm = await server.openDm({ person: 'bob' });
  const known = [...places.map(({ channelId }) => channelId), dm.id];
  const run = (shards: Shards, more: RunOptions = {}) =>
    runGateway({
      server,
      shards,
      knownChannels: known,
      guildOf: (id) => guildOfPlace(places.find(({ channelId }) => channelId === id) ?? {}),
      ...more,
    });
  const [zero, one] = places;
  if (zero === undefined || one === undefined) throw new Error('There are two shards');
  const fetched = async (channelId: string) =>
    (await server.requests({ method: 'GET', path: `/channels/${channelId}/messages` })).length;
  return { server, dm, run, zero, one, fetched };
}

describe('a bot in two processes [X3]', () => {
  it('hears each guild in one of them, and direct messages in the first', async () => {
    const { server, run, zero, one } = await twoShards();
    const bots = [await run(first), await run(second)];
    for (const { channel } of [zero, one])
      await server.say({ as: 'bob', in: channel, text: `in ${channel}`, mentionBot: true });
    await server.say({ as: 'bob', in: 'dm', text: 'in the DM' });
    for (const { settled } of bots) await settled();
    expect(bots.map(({ handlers }) => handlers.texts.toSorted())).toEqual([
      [`in ${zero.channel}`, 'in the DM'].toSorted(),
      [`in ${one.channel}`],
    ]);
  });

  it('tells from a direct message that a channel is not visible from there, and reads its own [B4]', async () => {
    const { server, dm, run, zero, one } = await twoShards();
    const { readChannel, ids, settled } = await run(first);
    await server.say({ as: 'carol', in: zero.channel, text: 'the build is green' });
    await settled();
    const wish = { userId: ids['bob'] ?? '', isForAskerOnly: true, limit: 10, requestIds: [] };
    const place: Place = { audience: 'dm', channelId: dm.id, homeId: dm.id };
    const since = new Date(0);
    const near = await readChannel({ ...wish, place, since, channel: zero.channelId });
    expect(near.kind === 'read' && near.messages.map(({ text }) => text)).toEqual(['the build is green']);
    const far = await readChannel({ ...wish, place, since, channel: one.channelId });
    expect(far).toEqual({ kind: 'out-of-sight' });
    const inServer: Place = { audience: 'public', channelId: zero.channelId, homeId: zero.channelId };
    expect(await readChannel({ ...wish, place: inServer, channel: one.channelId })).toEqual({ kind: 'none' });
  });

  it('leaves an unknown channel to the process that holds it, and asks Discord in the first process whether it is a direct message [G3a]', async () => {
    const { server, dm, run, zero, one, fetched } = await twoShards();
    for (const { channel } of [zero, one])
      await server.say({ as: 'bob', in: channel, text: `in ${channel}`, mentionBot: true });
    await server.say({ as: 'bob', in: 'dm', text: 'in the DM' });
    const deleted = '200000000000000076';
    const bots = [];
    for (const shards of [first, second]) {
      const recovered = new Set<string>();
      const bot = await run(shards, {
        knownChannels: [zero.channelId, one.channelId, dm.id, deleted],
        guildOf: () => ({ kind: 'unknown' }),
        recover: async (channelId) => void recovered.add(channelId),
      });
      await bot.gateway.caughtUp;
      bots.push({ texts: bot.handlers.texts.toSorted(), recovered });
    }
    expect(bots).toEqual([
      { texts: [`in ${zero.channel}`, 'in the DM'].toSorted(), recovered: new Set([zero.channelId, dm.id]) },
      { texts: [`in ${one.channel}`], recovered: new Set([one.channelId]) },
    ]);
    expect([await fetched(one.channelId), await fetched(deleted)]).toEqual([1, 0]);
  });

  it('finishes what was asked there by `/ask` in either process, since direct messages are the first one’s [EW2]', async () => {
    const { dm, run, zero, one } = await twoShards();
    const recovered = new Set<string>();
    const { gateway } = await run(second, { recover: async (channelId) => void recovered.add(channelId) });
    await gateway.caughtUp;
    expect(recovered).toEqual(new Set([one.channelId, dm.id]));
    expect(recovered).not.toContain(zero.channelId);
  });

  it('tells whether it is in a guild only of its own', async () => {
    const { server, run, zero, one } = await twoShards();
    const bots = [await run(first), await run(second)];
    expect(bots.map(({ gateway }) => gateway.guildIds())).toEqual([[zero.guildId], [one.guildId]]);
    expect(bots.map(({ gateway }) => gateway.hasGuild(zero.guildId))).toEqual([true, false]);
    await server.setBotMembership({ guild: one.guild, isMember: false });
    for (const { settled } of bots) await settled();
    expect(bots.map(({ gateway }) => gateway.guildIds())).toEqual([[zero.guildId], []]);
  });
});

describe('one process with two shards [X3]', () => {
  it('catches up with the guilds of the one that begins a new session, and lets the others go on [G3b]', async () => {
    const { server, run, zero, one, fetched } = await twoShards();
    const { client, gateway, handlers, history, settled } = await run(both);
    await gateway.caughtUp;
    await history.recent(zero.channelId, 5);
    const before = await fetched(zero.channelId);
    const back = new Promise((resolve) => client.once(Events.ShardReady, resolve));
    await server.dropConnection({ shard: 1, how: 'invalidate' });
    await server.say({ as: 'bob', in: one.channel, text: 'missed', mentionBot: true });
    await back;
    await server.say({ as: 'bob', in: zero.channel, text: 'heard', mentionBot: true });
    await settled();
    expect(handlers.texts.toSorted()).toEqual(['heard', 'missed']);
    expect(await fetched(zero.channelId)).toBe(before);
    expect(history.keeps(zero.channelId)).toBe(true);
  });
});
