import { setTimeout as delay } from 'node:timers/promises';

import { GatewayIntentBits, Partials } from 'discord.js';
import { describe, expect, it } from 'vitest';

import {
  applicationOf,
  createDiscordClient,
  fetchApplication,
  gatewayErrorOf,
  gatewayErrorOfClose,
  logIn,
} from '../../src/discord/client.ts';
import { within } from '../../src/core/time.ts';
import { RecordingLogger } from '../support/recording-logger.ts';
import { newClient, openSandbox, runGateway } from './support/gateway-harness.ts';

const logger = new RecordingLogger();

describe('the client', () => {
  it('asks for what it needs and pings nobody', () => {
    const { options } = createDiscordClient({ logger });
    expect(options.intents.toArray()).toEqual([
      'Guilds',
      'GuildMessages',
      'GuildMessageReactions',
      'DirectMessages',
      'DirectMessageReactions',
      'MessageContent',
    ]);
    expect(options.intents.has(GatewayIntentBits.GuildMembers)).toBe(false);
    expect(options.partials).toContain(Partials.Channel);
    expect(options.allowedMentions).toEqual({ parse: [], repliedUser: false });
  });

  it('takes another server’s address with or without version and slash', () => {
    for (const apiUrl of [
      'http://127.0.0.1:8080/api',
      'http://127.0.0.1:8080/api/',
      'http://127.0.0.1:8080/api/v10',
    ]) {
      expect(createDiscordClient({ apiUrl, logger }).options.rest?.api).toBe('http://127.0.0.1:8080/api');
    }
    expect(createDiscordClient({ logger }).options.rest?.api).toBe('https://discord.com/api');
  });

  it('does not remember ever more people [G3a]', async () => {
    const { server, client, settled } = await runGateway();
    const guild = client.guilds.cache.first();
    if (guild === undefined) throw new Error('the sandbox has a guild');
    for (let number = 0; number < 2600; number += 1) {
      const user = {
        id: `${900_000_000_000_000_000 + number}`,
        username: `u${number}`,
        discriminator: '0',
        avatar: null,
      };
      Reflect.apply(Reflect.get(client.users, '_add'), client.users, [{ ...user, global_name: null }]);
    }
    await server.say({ as: 'bob', in: '#general', text: 'hello' });
    await settled();
    expect(client.users.cache.size).toBeLessThanOrEqual(2001);
    expect(client.user !== null && client.users.cache.has(client.user.id)).toBe(true);
  });
});

describe('logging in', () => {
  it('gives up when the login does not end in time, and leaves no connection behind', async () => {
    const server = await openSandbox();
    await server.setFault({ kind: 'latency', milliseconds: 200, route: 'GET /gateway/bot' });
    const client = newClient(server);
    await expect(logIn(client, server.token, 50)).rejects.toMatchObject({
      name: 'GatewayError',
      failure: 'timeout',
    });
    // What was under way comes to its end, and is closed.
    await delay(500);
    await expect
      .poll(async () => (await server.sessions()).filter(({ isConnected }) => isConnected))
      .toEqual([]);
    expect(client.isReady()).toBe(false);
  });

  it('does not ask Discord with an empty token', async () => {
    const server = await openSandbox();
    await expect(fetchApplication(newClient(server), ' ')).rejects.toMatchObject({ failure: 'token' });
    expect(await server.requests()).toEqual([]);
  });

  it('reports a shard that is closed for good while others still log in, at once [O2] [O7]', async () => {
    const server = await openSandbox();
    const client = createDiscordClient({
      apiUrl: server.apiUrl,
      shards: { count: 2, ids: [0, 1] },
      logger,
    });
    const outcome = logIn(client, server.token, 60_000).catch((error: unknown) => error);
    // The library lets five seconds pass before the other one identifies.
    await expect.poll(() => server.dropConnection({ code: 4011, shard: 0 }), { interval: 20 }).toBe(1);
    expect(await within(2000, outcome, 'nothing')).toMatchObject({ failure: 'shards' });
  });

  it('reports a token that the gateway refuses', async () => {
    const server = await openSandbox();
    await expect(logIn(newClient(server), 'wrong', 5000)).rejects.toMatchObject({ failure: 'token' });
  });

  it('is started again at the owner that the configuration names', async () => {
    const { gateway } = await runGateway({ access: { ownerIds: ['140000000000000002'] } });
    expect(gateway.ownerIds).toEqual(['140000000000000002']);
  });

  it('takes a team’s owner for the owner, not its other members', () => {
    const owner = { id: 'team-user' };
    const team = { owner_user_id: 'alice', members: [{ user: { id: 'bob' } }] };
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- all that is looked at
    const application = { id: 'app', owner, team } as unknown as Parameters<typeof applicationOf>[0];
    expect(applicationOf(application)).toEqual({ id: 'app', ownerIds: ['alice'] });
  });
});

describe('a gateway error', () => {
  it('tells what to do in one line, without the token', () => {
    expect(gatewayErrorOf(new Error('Used disallowed intents')).message).toContain('without Message Content');
    expect(gatewayErrorOf(Object.assign(new Error('Unauthorized'), { status: 401 })).message).toContain(
      'DISCORD_TOKEN',
    );
    expect(gatewayErrorOf(new Error('connect ECONNREFUSED')).failure).toBe('unreachable');
    expect(gatewayErrorOf(Object.assign(new Error('Bad Gateway'), { status: 502 })).failure).toBe(
      'unreachable',
    );
    expect(gatewayErrorOfClose(4004).failure).toBe('token');
    expect(gatewayErrorOfClose(4014).failure).toBe('intents');
    expect(gatewayErrorOfClose(4011).failure).toBe('shards');
    expect(gatewayErrorOfClose(4012).failure).toBe('rejected');
  });

  it('tells what passes by itself from what only the operator can mend [O2]', () => {
    const library = [
      'Authentication failed',
      'Invalid shard',
      'Sharding is required',
      'Used an invalid API version',
      'Used invalid intents',
      'Used disallowed intents',
    ];
    for (const message of library) expect(gatewayErrorOf(new Error(message)).isPassing).toBe(false);
    for (const code of [4004, 4010, 4011, 4012, 4013, 4014])
      expect(gatewayErrorOfClose(code).isPassing).toBe(false);
    expect(gatewayErrorOf(Object.assign(new Error('Unauthorized'), { status: 401 })).isPassing).toBe(false);
    for (const status of [403, 404, 429, 500, 503])
      expect(gatewayErrorOf(Object.assign(new Error('No'), { status })).isPassing).toBe(true);
    expect(gatewayErrorOf(new Error('getaddrinfo EAI_AGAIN')).isPassing).toBe(true);
  });
});
