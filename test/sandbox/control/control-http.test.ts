import { describe, expect, it } from 'vitest';

import { connectSandbox } from '../../../src/sandbox/control/control-http.ts';
import { openSandbox, runBot } from '../support/bot-client.ts';

describe('the control over HTTP', () => {
  it('does what the control in the process does', async () => {
    const { server, client } = await runBot();
    const remote = connectSandbox(server.url);
    client.on('messageCreate', (message) => {
      if (!message.author.bot) void message.reply('answer');
    });
    expect(await remote.info()).toEqual(await server.info());
    const said = await remote.say({ as: 'bob', in: '#dev', text: 'question' });
    const reply = await remote.waitForReply({ in: '#dev', after: said.id });
    expect(reply).toMatchObject({ text: 'answer', replyTo: said.id });
    expect(await remote.delivered()).toBeUndefined();
    expect(await remote.messages({ in: '#dev' })).toEqual(await server.messages({ in: '#dev' }));
    expect(await remote.sessions()).toHaveLength(1);
  });

  it('takes reactions, edits, pins, threads, posts and faults, and tells what became of them', async () => {
    const { server } = await runBot();
    const remote = connectSandbox(server.url);
    const { id } = await remote.say({ as: 'alice', in: '#dev', text: 'draft' });
    await remote.edit({ message: id, text: 'final' });
    await remote.react({ as: 'bob', message: id, emoji: '👀' });
    await remote.pin({ as: 'alice', message: id });
    expect((await remote.messages({ in: '#dev' }))[0]).toMatchObject({
      isPinned: true,
      reactions: { '👀': ['bob'] },
    });
    expect((await remote.versions({ message: id })).map(({ text }) => text)).toEqual(['draft', 'final']);
    await remote.addThread({ as: 'alice', channel: 'dev', name: 'talk', message: id });
    expect(await remote.alterThread({ thread: 'talk', archived: true })).toMatchObject({ isArchived: true });
    await remote.addChannel({ name: 'ideas', form: 'forum' });
    const post = await remote.addPost({ as: 'bob', forum: 'ideas', title: 'Snacks', text: 'more' });
    expect(post.channelId).toBe(post.id);
    await remote.setCdnFault({ kind: 'larger', bytes: 9 });
    await remote.setRateLimits({ on: true });
    expect(await remote.presence()).toEqual({ status: 'online', activities: [] });
    expect(await remote.downloads()).toEqual([]);
    expect(await remote.invalidRequests()).toEqual({ count: 0, requests: [] });
    await expect(remote.react({ as: 'bob', message: id, emoji: 'eyes' })).rejects.toThrow(
      '"eyes" is not an emoji',
    );
  });

  it('has every method of the control', async () => {
    const server = await openSandbox();
    const ownToProcess = new Set(['url', 'apiUrl', 'token', 'subscribe', 'sendRaw', 'sendEarly', 'close']);
    expect(Object.keys(connectSandbox(server.url))).toEqual(
      Object.keys(server).filter((name) => !ownToProcess.has(name)),
    );
  });

  it('says what is wrong with a call', async () => {
    const remote = connectSandbox((await openSandbox()).url);
    await expect(remote.say({ as: 'eve', in: '#dev', text: 'a' })).rejects.toThrow(
      'Nobody is called "eve"; there are Discoclaw, alice, bob, carol',
    );
    await expect(remote.say({ as: 'bob', in: '#dev' })).rejects.toThrow('needs a text or an attachment');
  });

  it('checks what it is given, also from callers without types', async () => {
    const server = await openSandbox();
    const call = async (method: string, body: object): Promise<[number, unknown]> => {
      const response = await fetch(`${server.url}/sandbox/${method}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      return [response.status, await response.json()];
    };
    const [status, answer] = await call('say', { as: 'bob', channel: '#dev' });
    expect(status).toBe(400);
    expect(JSON.stringify(answer)).toMatch(/say: .*Unrecognized key.*channel/);
    expect(await call('sing', {})).toEqual([404, { error: 'The sandbox has no method sing' }]);
  });
});
