import { once } from 'node:events';

import { Client, Events, GatewayCloseCodes, GatewayOpcodes, Partials, type Message } from 'discord.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';

import type { SandboxOptions, SandboxServer } from '../../../src/sandbox/sandbox-server.ts';
import { botIntents, openSandbox } from '../support/bot-client.ts';

const intents = botIntents.reduce<number>((all, bit) => all | bit, 0);

/** The shard of two that a guild belongs to. */
function shardOf(guildId: string | undefined): number {
  return Number((BigInt(guildId ?? '') >> 22n) % 2n);
}

/** A sandbox with a guild in each of two shards. */
async function twoGuilds(options: SandboxOptions = {}) {
  const server = await openSandbox(options);
  const { guilds } = await server.info();
  const first = { name: 'Sandbox', channel: '#dev', shard: shardOf(guilds['Sandbox']) };
  for (let number = 1; ; number += 1) {
    const { id, name } = await server.addGuild({ name: `Guild ${number}`, owner: 'bob', members: ['alice'] });
    if (shardOf(id) === first.shard) continue;
    await server.addChannel({ guild: name, name: 'elsewhere' });
    return { server, places: [first, { name, channel: '#elsewhere', shard: shardOf(id) }] };
  }
}

/** A client with one shard of two, which has seen its guilds. */
async function shardClient(server: SandboxServer, shard: number) {
  const client = new Client({
    intents: botIntents,
    partials: [Partials.Channel],
    rest: { api: server.apiUrl },
    shards: [shard],
    shardCount: 2,
    ws: { buildIdentifyThrottler: () => Promise.resolve({ waitForIdentify: () => Promise.resolve() }) },
  });
  onTestFinished(() => client.destroy());
  const seen: string[] = [];
  client.on(Events.MessageCreate, ({ content, author }: Message) => {
    if (!author.bot) seen.push(content);
  });
  const ready = once(client, Events.ClientReady);
  await client.login(server.token);
  await ready;
  return { client, seen };
}

/** What the gateway answers to one IDENTIFY: the close code, or the first frame after HELLO. */
async function identify(server: SandboxServer, shard?: unknown): Promise<unknown> {
  const { gatewayUrl } = await server.info();
  const socket = new WebSocket(`${gatewayUrl}?v=10`);
  onTestFinished(() => socket.terminate());
  const answer = new Promise<unknown>((resolve) => {
    socket.on('close', resolve);
    socket.on('message', (data: Buffer) => {
      const { op, t, d }: { op: GatewayOpcodes; t: unknown; d: { shard?: unknown } } = JSON.parse(
        data.toString(),
      );
      if (op === GatewayOpcodes.Dispatch) resolve({ t, shard: d.shard });
      else if (op !== GatewayOpcodes.Hello) resolve({ op, d });
    });
  });
  await once(socket, 'open');
  const d = { token: server.token, intents, ...(shard !== undefined && { shard }) };
  socket.send(JSON.stringify({ op: GatewayOpcodes.Identify, d }));
  return answer;
}

describe('a bot in two shards', () => {
  it('has each guild in the shard of its id, with what happens there, and direct messages in the first', async () => {
    const { server, places } = await twoGuilds();
    const clients = [await shardClient(server, 0), await shardClient(server, 1)];
    for (const { channel } of places) await server.say({ as: 'bob', in: channel, text: `in ${channel}` });
    await server.say({ as: 'alice', in: '@alice', text: 'in the DM' });
    await server.delivered();
    const all = Object.values((await server.info()).guilds);
    for (const [index, { client, seen }] of clients.entries()) {
      const ids = [...client.guilds.cache.keys()].toSorted();
      expect(ids).toEqual(all.filter((id) => shardOf(id) === index).toSorted());
      const expected = places.flatMap(({ shard, channel }) => (shard === index ? [`in ${channel}`] : []));
      expect(seen).toEqual(index === 0 ? [...expected, 'in the DM'] : expected);
    }
    expect((await server.sessions()).map(({ shard }) => shard)).toEqual([
      { id: 0, count: 2 },
      { id: 1, count: 2 },
    ]);
  });

  it('hears of interactions where their guild is, and of those of direct messages in the first', async () => {
    const { server, places } = await twoGuilds();
    const clients = [await shardClient(server, 0), await shardClient(server, 1)];
    const heard: (string | undefined)[][] = [[], []];
    for (const [index, { client }] of clients.entries())
      client.on(Events.InteractionCreate, (interaction) => {
        heard[index]?.push(interaction.guild?.name);
        if (interaction.isChatInputCommand()) void interaction.reply('heard');
      });
    await clients[0]?.client.application?.commands.set([{ name: 'ping', description: 'Says something' }]);
    for (const { channel } of places) await server.slash({ as: 'alice', in: channel, name: 'ping' });
    await server.slash({ as: 'alice', in: '@alice', name: 'ping' });
    const expected = [0, 1].map((index) =>
      places.flatMap(({ name, shard }) => (shard === index ? [name] : [])),
    );
    expect(heard).toEqual([[...(expected[0] ?? []), undefined], expected[1]]);
  });

  it('loses and resumes the connection of one shard alone', async () => {
    const { server, places } = await twoGuilds();
    const clients = [await shardClient(server, 0), await shardClient(server, 1)];
    let others = 0;
    clients[0]?.client.on(Events.ShardReconnecting, () => (others += 1));
    expect(await server.dropConnection({ shard: 1, how: 'cut' })).toBe(1);
    const inSecond = places.find(({ shard }) => shard === 1)?.channel ?? '';
    await server.say({ as: 'bob', in: inSecond, text: 'meanwhile' });
    await server.delivered();
    expect([clients[1]?.seen, others]).toEqual([['meanwhile'], 0]);
  });

  it('keeps the session of a shard whose client is away while another identifies', async () => {
    const { server } = await twoGuilds();
    await shardClient(server, 1);
    await identify(server, [0, 2]);
    expect((await server.sessions()).map(({ shard }) => shard.id)).toEqual([1, 0]);
  });
});

describe('identifying', () => {
  it('is answered with the shard, which without saying is all there is', async () => {
    const server = await openSandbox();
    expect(await identify(server, [1, 4])).toEqual({ t: 'READY', shard: [1, 4] });
    expect(await identify(server)).toEqual({ t: 'READY', shard: [0, 1] });
  });

  it.each([[[2, 2]], [[-1, 2]], [[0, 0]], [[0.5, 2]], [[0]], ['0'], [['0', '1']]])(
    'as shard %j is refused',
    async (shard) => {
      expect(await identify(await openSandbox(), shard)).toBe(GatewayCloseCodes.InvalidShard);
    },
  );

  it('with more guilds than a shard may have is refused', async () => {
    const { server, places } = await twoGuilds({ sharding: { guildsPerShard: 1, shards: 2 } });
    expect(places).toHaveLength(2);
    expect(await identify(server)).toBe(GatewayCloseCodes.ShardingRequired);
    const { shards }: { shards: number } = await gatewayFacts(server);
    expect(shards).toBe(2);
  });

  it('may be done by one shard of each key in five seconds; who comes sooner has no session', async () => {
    let now = Date.parse('2026-03-01T12:00:00Z');
    const sharding = { maxConcurrency: 2, identifyEveryMs: 5000 };
    const server = await openSandbox({ sharding, now: () => new Date(now) });
    const tooSoon = { op: GatewayOpcodes.InvalidSession, d: false };
    expect(await identify(server, [0, 4])).toMatchObject({ t: 'READY' });
    expect(await identify(server, [2, 4])).toEqual(tooSoon);
    expect(await identify(server, [1, 4])).toMatchObject({ t: 'READY' });
    now += 4999;
    expect(await identify(server, [2, 4])).toEqual(tooSoon);
    now += 1;
    expect(await identify(server, [2, 4])).toMatchObject({ t: 'READY' });
    expect(await gatewayFacts(server)).toMatchObject({
      session_start_limit: { total: 1000, remaining: 997, max_concurrency: 2 },
    });
  });

  it('is refused once the sessions of a day are used up', async () => {
    let now = Date.parse('2026-03-01T12:00:00Z');
    const server = await openSandbox({ sharding: { sessionStarts: 1 }, now: () => new Date(now) });
    expect(await identify(server)).toMatchObject({ t: 'READY' });
    expect(await identify(server)).toBe(GatewayCloseCodes.AuthenticationFailed);
    now += 24 * 60 * 60_000;
    expect(await gatewayFacts(server)).toMatchObject({
      session_start_limit: { remaining: 1, reset_after: 0 },
    });
    expect(await identify(server)).toMatchObject({ t: 'READY' });
  });
});

async function gatewayFacts({ apiUrl, token }: SandboxServer): Promise<{ shards: number }> {
  const answer = await fetch(`${apiUrl}/v10/gateway/bot`, { headers: { authorization: `Bot ${token}` } });
  const facts: { shards: number } = JSON.parse(await answer.text());
  return facts;
}
