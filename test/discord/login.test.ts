import { setTimeout as delay } from 'node:timers/promises';

import { describe, expect, it } from 'vitest';

import { gatewayErrorOf, gatewayErrorOfClose } from '../../src/discord/gateway-error.ts';
import { applicationOf, fetchApplication, logIn } from '../../src/discord/login.ts';
import { newClient, openSandbox, runGateway } from './support/gateway-harness.ts';

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
      .poll(async () => (await server.sessions()).filter(({ isConnected }) => isConnected), {
        timeout: 10_000,
      })
      .toEqual([]);
    expect(client.isReady()).toBe(false);
  });

  it('does not ask Discord with an empty token', async () => {
    const server = await openSandbox();
    await expect(fetchApplication(newClient(server), ' ')).rejects.toMatchObject({ failure: 'token' });
    expect(await server.requests()).toEqual([]);
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
    expect(gatewayErrorOf(new Error('Used disallowed intents')).message).toContain('Message Content Intent');
    expect(gatewayErrorOf(Object.assign(new Error('Unauthorized'), { status: 401 })).message).toContain(
      'DISCORD_TOKEN',
    );
    expect(gatewayErrorOf(new Error('connect ECONNREFUSED')).failure).toBe('unreachable');
    expect(gatewayErrorOf(Object.assign(new Error('Bad Gateway'), { status: 502 })).failure).toBe('rejected');
    expect(gatewayErrorOfClose(4004).failure).toBe('token');
    expect(gatewayErrorOfClose(4014).failure).toBe('intents');
    expect(gatewayErrorOfClose(4011).failure).toBe('rejected');
  });
});
