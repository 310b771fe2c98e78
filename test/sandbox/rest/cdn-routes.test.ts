import { setTimeout as sleep } from 'node:timers/promises';

import type { Attachment } from 'discord.js';
import { describe, expect, it } from 'vitest';

import { runBot, type RunningBot } from '../support/bot-client.ts';

const file = { name: 'a.txt', text: '0123456789' };

/** A file of Bob's, as the bot is told of it. */
async function botWithFile(
  attachment: NonNullable<Parameters<RunningBot['server']['say']>[0]['attachments']>[number] = file,
  options: Parameters<typeof runBot>[0] = {},
): Promise<RunningBot & { readonly attachment: Attachment }> {
  const bot = await runBot(options);
  await bot.server.say({ as: 'bob', in: '#general', attachments: [attachment] });
  await bot.server.delivered();
  const found = bot.seen[0]?.attachments.first();
  if (found === undefined) throw new Error('The bot has seen no attachment');
  return { ...bot, attachment: found };
}

async function status(url: string): Promise<number> {
  return (await fetch(url)).status;
}

function files(count: number, bytes: number): { attachment: Buffer; name: string }[] {
  return Array.from({ length: count }, (_, index) => ({
    attachment: Buffer.alloc(bytes),
    name: `${index}.txt`,
  }));
}

describe('a file', () => {
  it('is served with its type and length, and every download is known', async () => {
    const { server, attachment } = await botWithFile();
    const response = await fetch(attachment.url);
    expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(response.headers.get('content-length')).toBe('10');
    expect(await response.text()).toBe(file.text);
    await fetch(attachment.url, { headers: { authorization: 'Bot secret' } });
    const { pathname, search } = new URL(attachment.url);
    await expect
      .poll(() => server.downloads())
      .toMatchObject([
        { path: pathname + search, status: 200, sentToken: false },
        { status: 200, sentToken: true },
      ]);
  });

  it('is served for a day, and only under its whole address', async () => {
    let now = Date.parse('2026-03-01T12:00:00Z');
    const { attachment } = await botWithFile(file, { now: () => new Date(now) });
    expect(await status(attachment.url)).toBe(200);
    expect(await status(attachment.url.replace(/\?.*$/, ''))).toBe(404);
    now += 25 * 3_600_000;
    expect(await status(attachment.url)).toBe(404);
  });

  it('is gone with its message', async () => {
    const { server, attachment } = await botWithFile();
    const [message] = await server.messages({ in: '#general' });
    await server.delete({ message: message?.id ?? '' });
    expect((await fetch(attachment.url)).status).toBe(404);
  });

  it('may be announced with another length, and lie at another host', async () => {
    const url = 'http://192.0.2.1/attachments/1/2/a.txt';
    const { attachment } = await botWithFile({ ...file, pretended: { url, bytes: 3 } });
    expect(attachment).toMatchObject({ size: 3, url });
  });
});

describe('a misbehaving CDN', () => {
  it('redirects, refuses, or names another type', async () => {
    const { server, attachment } = await botWithFile();
    await server.setCdnFault({ kind: 'redirect', to: 'http://192.0.2.1/elsewhere' });
    const redirected = await fetch(attachment.url, { redirect: 'manual' });
    expect([redirected.status, redirected.headers.get('location')]).toEqual([
      302,
      'http://192.0.2.1/elsewhere',
    ]);
    await server.setCdnFault({ kind: 'status', status: 503, file: 'a.txt' });
    await server.setCdnFault({ kind: 'status', status: 500, file: 'other.txt' });
    expect((await fetch(attachment.url)).status).toBe(503);
    await server.setCdnFault({ kind: 'type', contentType: 'image/png', times: 2 });
    expect((await fetch(attachment.url)).headers.get('content-type')).toBe('image/png');
    await server.clearFaults();
    expect((await fetch(attachment.url)).headers.get('content-type')).toContain('text/plain');
  });

  it('sends more than was said, with or without saying how much', async () => {
    const { server, attachment } = await botWithFile();
    await server.setCdnFault({ kind: 'no-length' });
    const silent = await fetch(attachment.url);
    expect([silent.headers.get('content-length'), await silent.text()]).toEqual([null, file.text]);
    await server.setCdnFault({ kind: 'larger', bytes: 500 });
    const honest = await fetch(attachment.url);
    expect([honest.headers.get('content-length'), (await honest.text()).length]).toEqual(['500', 500]);
    await server.setCdnFault({ kind: 'larger', bytes: 500, withLength: false });
    const sly = await fetch(attachment.url);
    expect([sly.headers.get('content-length'), (await sly.text()).length]).toEqual([null, 500]);
  });

  it('stalls in the middle of a file, or breaks off', async () => {
    const { server, attachment } = await botWithFile();
    await server.setCdnFault({ kind: 'slow', milliseconds: 60_000 });
    const patience = new AbortController();
    const slow = await fetch(attachment.url, { signal: patience.signal });
    const text = slow.text();
    expect(await Promise.race([text, sleep(200, 'stalled')])).toBe('stalled');
    patience.abort();
    await expect(text).rejects.toThrow('aborted');
    await server.setCdnFault({ kind: 'cut' });
    const broken = await fetch(attachment.url);
    await expect(broken.text()).rejects.toThrow('terminated');
  });
});

describe('the bot’s files', () => {
  it('come with what it says of them, and are kept, taken away and added by an edit', async () => {
    const { server, client } = await runBot();
    const channel = await client.channels.fetch('120000000000000001');
    if (!channel?.isSendable()) throw new Error('No channel to send to');
    const png = Buffer.from('89504e470d0a1a0a0000000d49484452000000200000001008060000007d2a2a2a', 'hex');
    const message = await channel.send({
      files: [
        { attachment: png, name: 'a.png', description: 'a red square' },
        { attachment: Buffer.from('b'), name: 'b.txt' },
      ],
    });
    expect(message.attachments.first()).toMatchObject({
      contentType: 'image/png',
      description: 'a red square',
      width: 32,
      height: 16,
    });
    const names = async (): Promise<readonly string[]> =>
      ((await server.messages({ in: '#general' }))[0]?.attachments ?? []).map(({ name }) => name);
    await message.edit('with words');
    expect(await names()).toEqual(['a.png', 'b.txt']);
    const [first] = message.attachments.values();
    await message.edit({
      attachments: first === undefined ? [] : [first],
      files: [{ attachment: Buffer.from('c'), name: 'c.txt' }],
    });
    expect(await names()).toEqual(['a.png', 'c.txt']);
    await expect(message.edit({ content: '', attachments: [] })).rejects.toMatchObject({ code: 50_006 });
  });

  it('are ten at most, of ten megabytes each, where the bot may attach files', async () => {
    const { server, client } = await runBot();
    const channel = await client.channels.fetch('120000000000000001');
    if (!channel?.isSendable()) throw new Error('No channel to send to');
    await expect(channel.send({ files: files(11, 1) })).rejects.toMatchObject({ code: 50_035 });
    await expect(channel.send({ files: files(1, 10 * 1024 * 1024 + 1) })).rejects.toMatchObject({
      code: 40_005,
      status: 413,
    });
    await server.setOverwrite({ channel: '#general', for: 'Discoclaw', deny: ['AttachFiles'] });
    await expect(channel.send({ files: files(1, 1) })).rejects.toMatchObject({ code: 50_013 });
    await server.setOverwrite({ channel: '#general', for: 'bob', deny: ['AttachFiles'] });
    const refused = server.say({ as: 'bob', in: '#general', attachments: [file] });
    await expect(refused).rejects.toThrow('bob lacks AttachFiles in #general');
  });
});
