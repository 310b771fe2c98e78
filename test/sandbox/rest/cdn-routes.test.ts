import type { Attachment } from 'discord.js';
import { describe, expect, it } from 'vitest';

import { runBot, type RunningBot } from '../support/bot-client.ts';

const file = { name: 'a.txt', text: '0123456789' };

/** A file of Bob's, as the bot receives it. */
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
  it('redirects', async () => {
    const { server, attachment } = await botWithFile();
    await server.setCdnFault({ kind: 'redirect', to: 'http://192.0.2.1/elsewhere', file: 'other.txt' });
    await server.setCdnFault({ kind: 'redirect', to: 'http://192.0.2.1/elsewhere', file: 'a.txt' });
    const redirected = await fetch(attachment.url, { redirect: 'manual' });
    expect([redirected.status, redirected.headers.get('location')]).toEqual([
      302,
      'http://192.0.2.1/elsewhere',
    ]);
  });

  it('sends more than was said, without saying how much, until that is over', async () => {
    const { server, attachment } = await botWithFile();
    await server.setCdnFault({ kind: 'larger', bytes: 500, times: 2 });
    const sly = await fetch(attachment.url);
    expect([sly.headers.get('content-length'), (await sly.text()).length]).toEqual([null, 500]);
    await server.clearFaults();
    expect(await (await fetch(attachment.url)).text()).toBe(file.text);
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
