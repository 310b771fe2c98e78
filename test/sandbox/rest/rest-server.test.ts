import { PermissionFlagsBits } from 'discord-api-types/v10';
import { RESTEvents } from 'discord.js';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';

import { openSandbox, runBot } from '../support/bot-client.ts';

const posting = 'POST /channels/*/messages';

async function botWithChannel(): Promise<
  Awaited<ReturnType<typeof runBot>> & { readonly send: (text: string) => Promise<unknown> }
> {
  const bot = await runBot();
  const channel = await bot.client.channels.fetch('120000000000000001');
  if (!channel?.isSendable()) throw new Error('No channel to send to');
  let count = 0;
  return {
    ...bot,
    send: (content) => channel.send({ content, nonce: String((count += 1)), enforceNonce: true }),
  };
}

describe('faults', () => {
  it('answer 429 with its headers, which the client waits for before it tries again', async () => {
    const { server, client, send } = await botWithChannel();
    const limits: object[] = [];
    client.rest.on(RESTEvents.RateLimited, (limit) => limits.push(limit));
    await server.setFault({ kind: '429', route: posting, retryAfterSeconds: 0.2 });
    const started = Date.now();
    await send('hello');
    expect(Date.now() - started).toBeGreaterThanOrEqual(199);
    expect(limits).toMatchObject([{ global: false, scope: 'user' }]);
    const requests = await server.requests({ method: 'POST', path: '/channels/*/messages' });
    expect(requests.map(({ status }) => status)).toEqual([429, 200]);
    expect(await server.messages({ in: '#general' })).toHaveLength(1);
  });

  it('say in body and headers of a 429 how long and how far it holds', async () => {
    const server = await openSandbox();
    await server.setFault({ kind: '429', route: '*', retryAfterSeconds: 0.25, scope: 'global' });
    const headers = { authorization: `Bot ${server.token}` };
    const response = await fetch(`${server.apiUrl}/v10/users/@me`, { headers });
    expect(response.headers.get('retry-after')).toBe('1');
    expect(response.headers.get('x-ratelimit-global')).toBe('true');
    expect(await response.json()).toMatchObject({ retry_after: 0.25, global: true });
  });

  it('answer with a status, which the client retries', async () => {
    const { server, send } = await botWithChannel();
    await server.setFault({ kind: 'status', status: 502, route: posting });
    await send('hello');
    const requests = await server.requests({ method: 'POST', path: '/channels/*/messages' });
    expect(requests.map(({ status }) => status)).toEqual([502, 200]);
  });

  it('lose the answer of a request that was carried out; the nonce keeps the retry from doing it twice', async () => {
    const { server, seen, send } = await botWithChannel();
    await server.setFault({ kind: 'lost', route: posting });
    await send('hello');
    await server.delivered();
    expect(await server.requests({ method: 'POST', path: '/channels/*/messages' })).toHaveLength(2);
    expect(seen).toHaveLength(1);
  });

  it('break the connection before anything is done', async () => {
    const { server, send } = await botWithChannel();
    await server.setFault({ kind: 'reset', route: posting });
    await send('hello');
    expect(await server.messages({ in: '#general' })).toHaveLength(1);
  });

  it('answer late', async () => {
    const { server, send } = await botWithChannel();
    await server.setFault({ kind: 'latency', route: posting, milliseconds: 150 });
    const started = Date.now();
    await send('hello');
    expect(Date.now() - started).toBeGreaterThanOrEqual(149);
  });

  it('are over when cleared', async () => {
    const { server, send } = await botWithChannel();
    await server.setFault({ kind: 'status', status: 500, route: posting, times: 9 });
    await server.clearFaults();
    await send('hello');
    expect(await server.messages({ in: '#general' })).toHaveLength(1);
  });
});

describe('the server', () => {
  it('answers 401 without the token, and 404 for what it does not have; both are recorded', async () => {
    const server = await openSandbox();
    const get = (path: string, token: string): Promise<Response> =>
      fetch(`${server.apiUrl}/v10${path}`, { headers: { authorization: `Bot ${token}` } });
    const unauthorized = await get('/users/@me', 'wrong');
    expect([unauthorized.status, await unauthorized.json()]).toEqual([
      401,
      { message: '401: Unauthorized', code: 0 },
    ]);
    expect((await get('/stickers/1', server.token)).status).toBe(404);
    const requests = await server.requests();
    expect(requests.map(({ path, status }) => [path, status])).toEqual([
      ['/users/@me', 401],
      ['/stickers/1', 404],
    ]);
  });

  it('lists the guilds that the bot is in, a page at a time, with what it may do there', async () => {
    const server = await openSandbox();
    const second = await server.addGuild({ name: 'Second', owner: 'alice' });
    const { bot } = await server.info();
    await server.changePermissions({ for: bot.name, guild: 'Second', deny: ['SendPolls'] });
    const schema = z.array(z.object({ id: z.string(), name: z.string(), permissions: z.string() }));
    const page = async (query: string) => {
      const url = `${server.apiUrl}/v10/users/@me/guilds${query}`;
      return schema.parse(
        await (await fetch(url, { headers: { authorization: `Bot ${server.token}` } })).json(),
      );
    };
    const all = await page('');
    expect(all.map(({ name }) => name)).toEqual(['Sandbox', 'Second']);
    const maySendPolls = all.map(
      ({ permissions }) => (BigInt(permissions) & PermissionFlagsBits.SendPolls) !== 0n,
    );
    expect(maySendPolls).toEqual([true, false]);
    expect(await page(`?limit=1&after=${all[0]?.id}`)).toEqual([all[1]]);
    await server.setBotMembership({ guild: second.id, isMember: false });
    expect(await page('')).toHaveLength(1);
  });

  it('answers 50109 for a body that is not JSON', async () => {
    const server = await openSandbox();
    const headers = { authorization: `Bot ${server.token}`, 'content-type': 'application/json' };
    const url = `${server.apiUrl}/v10/users/@me/channels`;
    const response = await fetch(url, { method: 'POST', headers, body: '{' });
    expect([response.status, await response.json()]).toMatchObject([400, { code: 50_109 }]);
  });

  it('answers 404 for an attachment that is not there', async () => {
    const server = await openSandbox();
    expect((await fetch(`${server.url}/attachments/1/2/a.txt`)).status).toBe(404);
  });
});
