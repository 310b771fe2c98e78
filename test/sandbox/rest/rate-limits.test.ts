import { describe, expect, it } from 'vitest';

import { RateLimits } from '../../../src/sandbox/rest/rate-limits.ts';
import { openSandbox, runBot } from '../support/bot-client.ts';

const general = '120000000000000001';

describe('rate limits', () => {
  it('let five messages a channel through in five seconds', () => {
    let now = Date.parse('2026-03-01T12:00:00Z');
    const limits = new RateLimits(() => new Date(now), true);
    const send = (channel: string): ReturnType<RateLimits['take']> =>
      limits.take('POST', `/channels/${channel}/messages`);
    const remaining = Array.from({ length: 5 }, () => send('1')?.headers['x-ratelimit-remaining']);
    expect(remaining).toEqual(['4', '3', '2', '1', '0']);
    now += 4_000;
    expect(send('1')).toMatchObject({ isExceeded: true, isGlobal: false, resetAfterSeconds: 1 });
    expect(send('2')?.isExceeded).toBe(false);
    expect(limits.take('PATCH', '/channels/1/messages/2')?.isExceeded).toBe(false);
    now += 1_000;
    expect(send('1')).toMatchObject({ isExceeded: false, headers: { 'x-ratelimit-remaining': '4' } });
  });

  it('let fifty requests of all kinds through in a second', () => {
    const limits = new RateLimits(() => new Date(0), true);
    for (let number = 0; number < 50; number += 1) limits.take('GET', '/users/@me');
    expect(limits.take('GET', '/users/@me')).toMatchObject({ isExceeded: true, isGlobal: true });
  });

  it('are kept by a client that knows the bucket: it waits for the next window', async () => {
    let ahead = 0;
    const { server, client } = await runBot({
      rateLimits: true,
      now: () => new Date(Date.now() + ahead),
    });
    const { id } = await server.say({ as: 'bob', in: '#general', text: 'hello' });
    const channel = await client.channels.fetch(general);
    if (channel?.isTextBased() !== true) throw new Error('No such channel');
    await channel.messages.react(id, '👀');
    // discord.js does not apply what it learns of a bucket to the request right after.
    ahead = 300;
    await channel.messages.react(id, '🎉');
    await channel.messages.react(id, '🛑');
    expect((await server.messages({ in: '#general' }))[0]?.reactions).toMatchObject({ '🛑': ['Discoclaw'] });
    expect(await server.invalidRequests()).toEqual({ count: 0, requests: [] });
  });

  it('answer 429 to clients that exceed them, which counts against the bot', async () => {
    const server = await openSandbox({ now: () => new Date('2026-03-01T12:00:00Z') });
    const { id } = await server.say({ as: 'bob', in: '#general', text: 'hello' });
    const react = async (emoji: string): Promise<Response> => {
      const path = `/channels/${general}/messages/${id}/reactions/${encodeURIComponent(emoji)}/@me`;
      const headers = { authorization: `Bot ${server.token}` };
      return await fetch(`${server.apiUrl}/v10${path}`, { method: 'PUT', headers });
    };
    expect([(await react('👀')).status, (await react('🎉')).status]).toEqual([204, 204]);
    await server.setRateLimits({ on: true });
    const [first, second] = [await react('🛑'), await react('🐀')];
    expect([first.status, first.headers.get('x-ratelimit-bucket')]).toEqual([204, 'reaction']);
    expect([second.status, second.headers.get('retry-after')]).toEqual([429, '1']);
    expect(await second.json()).toMatchObject({ global: false, retry_after: expect.closeTo(0.25, 0) });
    expect(await server.invalidRequests()).toMatchObject({ count: 1, requests: [{ status: 429 }] });
  });

  it('that are shared with others do not count against the bot, want of a right does', async () => {
    const { server, client } = await runBot();
    await server.setFault({
      kind: '429',
      route: 'POST /channels/*/typing',
      scope: 'shared',
      retryAfterSeconds: 0.01,
    });
    await client.rest.post(`/channels/${general}/typing`);
    await server.setOverwrite({ channel: '#general', for: 'Discoclaw', deny: ['AddReactions'] });
    const { id } = await server.say({ as: 'bob', in: '#general', text: 'hello' });
    const reaction = `/channels/${general}/messages/${id}/reactions/${encodeURIComponent('👀')}/@me` as const;
    await expect(client.rest.put(reaction)).rejects.toMatchObject({ code: 50_013 });
    expect(await server.invalidRequests()).toMatchObject({ count: 1, requests: [{ status: 403 }] });
  });
});
