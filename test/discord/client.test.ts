import { setTimeout as delay } from 'node:timers/promises';

import { describe, expect, it, onTestFinished } from 'vitest';

import { applicationOf, createDiscordClient, fetchApplication, logIn } from '../../src/discord/client.ts';
import { gatewayErrorOf, gatewayErrorOfClose } from '../../src/discord/gateway-error.ts';
import { createDiscordApi } from '../../src/discord/discord-api.ts';
import { withTimeout } from '../../src/core/time.ts';
import { RecordingLogger } from '../support/recording-logger.ts';
import { connectedAgain, openSandbox, runGateway } from './support/gateway-harness.ts';

const logger = new RecordingLogger();

describe('the client', () => {
  it('does not cache people without limit [G3a]', async () => {
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
  it('takes a team’s owner for the owner, not its other members', () => {
    const owner = { id: 'team-user' };
    const team = { owner_user_id: 'alice', members: [{ user: { id: 'bob' } }] };
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- all that is looked at
    const application = { id: 'app', owner, team } as unknown as Parameters<typeof applicationOf>[0];
    expect(applicationOf(application)).toEqual({ id: 'app', ownerIds: ['alice'] });
  });
});

describe('a gateway that is away [O7]', () => {
  it('is tried with growing pauses, told in one line a minute, and found again', async () => {
    const { server, client, logger: own } = await runGateway();
    await server.setGatewayFault({ kind: 'refused', times: 3 });
    const connected = connectedAgain(client).then(() => 'connected');
    await server.dropConnection({ how: 'cut' });
    // Half a second later at first, then with pauses of one second and of two in between.
    expect(await withTimeout(3000, connected, 'still trying')).toBe('still trying');
    const told = ['the gateway connection failed', 'reconnecting to Discord'];
    expect(own.lines.filter(({ event }) => told.includes(event)).map(({ event }) => event)).toEqual(
      told.toReversed(),
    );
    expect(await connected).toBe('connected');
  });

  it('is tried with growing pauses also where each connection ends as soon as it stands', async () => {
    const { server, client, logger: own } = await runGateway();
    const waits: number[] = [];
    for (let round = 0; round < 3; round += 1) {
      const connected = connectedAgain(client);
      const endedAt = performance.now();
      await server.dropConnection({ resumable: false });
      await connected;
      waits.push(performance.now() - endedAt);
    }
    // None, one second, two seconds, each but a little.
    expect(waits[1]).toBeGreaterThan(750);
    expect(waits[2]).toBeGreaterThan(1500);
    expect(own.lines.filter(({ event }) => event === 'reconnecting to Discord')).toHaveLength(1);
  });

  it('is not waited for by a login that is to stop', async () => {
    const server = await openSandbox();
    await server.setFault({ kind: 'latency', milliseconds: 5000, route: 'GET /gateway/bot' });
    const client = createDiscordClient({ apiUrl: server.apiUrl, logger });
    const stopping = new AbortController();
    const outcome = logIn(client, server.token, 60_000, stopping.signal).catch((error: unknown) => error);
    await delay(100);
    stopping.abort(new Error('to be stopped'));
    expect(await withTimeout(1000, outcome, 'nothing')).toMatchObject({ message: 'to be stopped' });
  });
});

/** As a start does. */
const logInFully = async (apiUrl: string, token: string) => {
  const client = createDiscordClient({ apiUrl, logger });
  onTestFinished(() => client.destroy());
  await fetchApplication(client, token);
  await logIn(client, token, 60_000);
};

describe('a wait that is asked for at login [O7]', () => {
  const routes = ['GET /applications/@me', 'GET /gateway/bot'] as const;
  it.each(
    routes.flatMap((route) => [
      { name: 'Discord', route, fault: { kind: '429', retryAfterSeconds: 3600 } as const },
      {
        name: 'Discord, for all',
        route,
        fault: { kind: '429', retryAfterSeconds: 3600, scope: 'global' } as const,
      },
      { name: 'Cloudflare', route, fault: { kind: 'cloudflare', retryAfterSeconds: 3600 } as const },
    ]),
  )('is told at once, with how long: by $name at $route', async ({ route, fault }) => {
    const server = await openSandbox();
    await server.setFault({ ...fault, route });
    const outcome = logInFully(server.apiUrl, server.token).catch((error: unknown) => error);
    const error = await withTimeout(5000, outcome, 'silence');
    expect(error).toMatchObject({ failure: 'limited', isPassing: true });
    expect(error).toHaveProperty('message', expect.stringMatching(/asks for a pause \(for 60 minutes\)/u));
    expect(Object(error).waitMs).toBeGreaterThan(3_590_000);
  });

  it.each(routes)(
    'is a minute where a page of Cloudflare says no time, and is not asked for again and again: %s',
    async (route) => {
      const server = await openSandbox();
      await server.setFault({ kind: 'cloudflare', route, times: 1000 });
      const error = await withTimeout(
        5000,
        logInFully(server.apiUrl, server.token).catch((e: unknown) => e),
        'silence',
      );
      expect(error).toMatchObject({ failure: 'limited' });
      expect(Object(error).waitMs).toBeGreaterThanOrEqual(60_000);
      expect((await server.requests({ path: route.slice(4) })).length).toBe(1);
    },
  );
});

it('says while it logs in that Discord takes requests and does not answer, before it gives up [O7]', async () => {
  const server = await openSandbox();
  await server.setFault({ kind: 'latency', milliseconds: 5000, times: 9, route: 'GET /applications/@me' });
  const own = new RecordingLogger();
  const client = createDiscordClient({ apiUrl: server.apiUrl, logger: own });
  client.rest.options.timeout = 50;
  const outcome = fetchApplication(client, server.token);
  await expect(outcome).rejects.toMatchObject({ failure: 'unreachable', isPassing: true });
  expect(own.lines.filter(({ event }) => event === 'Discord does not answer').length).toBeGreaterThan(1);
});

it('logs each 429 with route and time, and without tokens, and apart from a wait that was foreseen [O7]', async () => {
  const { server, client, ids, logger: own } = await runGateway();
  const limit = { kind: '429', retryAfterSeconds: 0.5, scope: 'global' } as const;
  await server.setFault({ ...limit, route: 'POST /channels/*/messages' });
  const api = createDiscordApi(client);
  const posted = api.postMessage(ids['general'] ?? '', { content: 'hello' });
  await expect.poll(() => own.warnings, { interval: 10 }).toHaveLength(1);
  await Promise.all([posted, api.messagesAfter(ids['dev'] ?? '', '0')]);
  const [answered, ...foreseen] = own.lines.filter(({ data }) => data?.['route'] !== undefined);
  expect(answered).toMatchObject({
    level: 'warn',
    event: 'Discord answered 429: too many requests',
    data: { method: 'POST', route: '/channels/:id/messages' },
  });
  expect(foreseen).toContainEqual(
    expect.objectContaining({ level: 'info', data: expect.objectContaining({ method: 'GET' }) }),
  );
  expect(own.warnings).toHaveLength(1);
});

describe('a gateway error', () => {
  it('distinguishes what passes by itself from what only the operator can fix [O2]', () => {
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
