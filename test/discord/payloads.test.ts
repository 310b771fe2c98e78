import { once } from 'node:events';
import { createServer } from 'node:http';

import { describe, expect, it, onTestFinished } from 'vitest';

import { createDiscordApi } from '../../src/discord/discord-api.ts';
import { usableEvent } from '../../src/discord/payloads.ts';
import { payloadScene, playMalformedPayloads } from './payloads-property.ts';
import { documentedEvents } from './support/documented-payloads.ts';
import { malformedFrames } from './support/malformed-payloads.ts';
import { newClient, openSandbox, runGateway } from './support/gateway-harness.ts';
import { seededRandom } from '../support/seeded-random.ts';

describe('payloads that are not as documented [L5]', () => {
  it('neither end the process nor silence a channel', async () => {
    const { server, handlers, malformed } = await runGateway();
    const answered = async (place: string, text: string): Promise<void> => {
      await server.say({ as: 'alice', in: place, text, mentionBot: true });
      await expect.poll(() => handlers.texts.includes(text)).toBe(true);
    };
    expect(await playMalformedPayloads(server, { count: 2000, seed: 1, answered })).toBe(25);
    expect(malformed.length).toBeGreaterThan(500);
  });

  it('do no harm before the client is ready either', async () => {
    const server = await openSandbox();
    const { ids } = await payloadScene(server);
    const random = seededRandom(2);
    server.sendEarly({
      beforeReady: malformedFrames(ids, random, 300),
      beforeGuilds: malformedFrames(ids, random, 300),
    });
    const { handlers } = await runGateway({ server });
    await server.say({ as: 'alice', in: '#general', text: 'Are you there?', mentionBot: true });
    await expect.poll(() => handlers.texts).toContain('Are you there?');
  });

  it('are each counted, whatever they were to be', async () => {
    const { server, malformed } = await runGateway();
    const { ids } = await payloadScene(server);
    const types = [...new Set(documentedEvents(ids, theFirst).map(({ t }) => t))].filter(
      (t) => !notPassedOn.has(t),
    );
    for (const t of types) for (const d of [null, 'x', [], {}]) server.sendRaw({ t, d });
    await server.delivered();
    expect(malformed.toSorted()).toEqual(types.flatMap((t) => [t, t, t, t]).toSorted());
  });
});

it('a server with unusable channels is read without them, and not at all without its roles [L5]', () => {
  const [id, channelId] = ['110000000000000001', '120000000000000001'];
  const everyone = { id, name: '@everyone', permissions: '1024' };
  const channel = { id: channelId, type: 0, name: 'general', permission_overwrites: [] };
  const guild = {
    id,
    name: 'Sandbox',
    roles: [everyone],
    channels: [null, { ...channel, type: 99 }, channel],
  };
  expect(usableEvent('GUILD_CREATE', structuredClone(guild))).toMatchObject({
    channels: [{ id: channelId }],
  });
  expect(usableEvent('GUILD_CREATE', { ...guild, roles: [null, everyone] })).toBe('malformed');
});

describe('answers to requests that are not as documented [L5]', () => {
  const author = { id: '140000000000000002', username: 'bob' };
  const good = {
    id: '150000000000000001',
    channel_id: '150000000000000009',
    type: 0,
    content: 'hello',
    author,
  };

  it('keep what can be read of a page, and a placeholder for a message that cannot be', async () => {
    const unreadable = { id: '150000000000000002', channel_id: good.channel_id, content: 5, author: null };
    const api = await apiAnswering([good, unreadable]);
    const page = await api.messagesAfter(good.channel_id, '150000000000000000');
    expect(page.map(({ id, content, type }) => [id, content, type])).toEqual([
      [good.id, 'hello', 0],
      [unreadable.id, '', -1],
    ]);
  });

  it.each([
    [null],
    [{}],
    ['text'],
    [{ ...good, author: null }],
    [{ ...good, embeds: 'none' }],
    [{ ...good, content: 5 }],
  ])('take nothing back from an edit that is done: %j', async (answer) => {
    const api = await apiAnswering(answer);
    const { id, channel_id: channelId } = good;
    expect(await api.editMessage(channelId, id, { content: 'x' })).toMatchObject({
      id,
      channel_id: channelId,
    });
  });

  it.each([
    { author: { ...author, global_name: '' } },
    { embeds: [{ title: 5 }] },
    { attachments: [{ id: 'x' }] },
    { sticker_items: [null] },
  ])('lose no more than a field that is malformed: %j', async (changes) => {
    const api = await apiAnswering({ ...good, ...changes });
    const sent = await api.postMessage(good.channel_id, { content: 'hello' });
    expect(sent).toMatchObject({ id: good.id, content: 'hello', author });
  });
});

/** The API's client, whose server gives this answer to everything. */
async function apiAnswering(answer: unknown) {
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(answer));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const client = newClient({ apiUrl: `http://127.0.0.1:${port}/api` });
  client.rest.setToken('token');
  return createDiscordApi(client);
}

/** What the bot has no use for, and what begins a session. */
const notPassedOn = new Set(['TYPING_START', 'AN_EVENT_OF_TOMORROW', 'error', 'READY', 'RESUMED']);

function theFirst<T>([first]: readonly T[]): T {
  if (first === undefined) throw new Error('There is nothing to choose from');
  return first;
}
