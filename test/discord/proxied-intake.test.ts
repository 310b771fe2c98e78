import { onTestFinished, describe, expect, it } from 'vitest';

import { startPluralKit } from '../support/pluralkit-server.ts';
import { pluralKit, postCopy } from '../support/proxy-copy.ts';
import { type RunOptions, type RunningGateway, runGateway, textsOf } from './support/gateway-harness.ts';

/** A bot that answers mentions, where proxies post what people wrote. */
async function open(options: RunOptions = {}) {
  const kit = await startPluralKit();
  onTestFinished(() => kit[Symbol.asyncDispose]());
  const running = await runGateway({
    proxied: { appIds: [pluralKit], pluralKitUrl: kit.url },
    answerModes: {
      answerMode: async () => 'mentions',
      recentAnswerMode: () => 'mentions',
    },
    ...options,
  });
  const { server, ids } = running;
  return {
    kit,
    ...running,
    general: ids['general'] ?? '',
    bob: ids['bob'] ?? '',
    /** Bob writes with a tag, and the proxy posts it again. */
    writes: async (text: string) => {
      const original = await server.say({ as: 'bob', in: '#general', text: `A: ${text}` });
      await server.delete({ message: original.id });
      kit.storeNext({ original: original.id, sender: ids['bob'] ?? '' });
      return postCopy(server, { in: '#general', text });
    },
  };
}

describe('a copy [G2a]', () => {
  it('is a message of the account under the copy’s name, and so are its edits [G5]', async () => {
    const { server, handlers, settled, writes, bob } = await open();
    const copy = await writes('@Discoclaw hello');
    await settled();
    expect(handlers.messages).toMatchObject([
      { id: copy.id, author: { id: bob, name: 'Anna', kind: 'human' }, text: 'hello', isProxied: true },
    ]);
    await server.edit({ message: copy.id, text: '@Discoclaw good morning' });
    await settled();
    expect(handlers.edits).toMatchObject([{ messageId: copy.id, authorId: bob, text: 'good morning' }]);
  });

  it('is in history as a person’s; a cold one leaves out whose account is not known; another webhook’s post is a bot’s', async () => {
    const { server, history, settled, writes, general, bob } = await open();
    await history.recent(general, 10);
    await writes('good morning');
    await postCopy(server, { in: '#general', text: 'Build passed', name: 'CI', appId: '150000000000000009' });
    await settled();
    expect(await history.recent(general, 10)).toMatchObject([
      { author: { name: 'Anna', kind: 'human' }, text: 'good morning' },
      { author: { name: 'CI', kind: 'bot' }, text: 'Build passed' },
    ]);
    const copy = await writes('@Discoclaw hello');
    await settled();
    expect((await history.recent(general, 10)).at(-1)).toMatchObject({ id: copy.id, author: { id: bob } });
    history.forget(() => true);
    expect((await history.recent(general, 10)).map(({ id, author }) => [id, author.id, author.kind])).toEqual(
      [
        [expect.any(String), expect.any(String), 'bot'],
        [copy.id, bob, 'human'],
      ],
    );
  });

  it('has the access of its account [G1]', async () => {
    const access = { access: 'allowlist', allowedUserIds: ['140000000000000001'] } as const;
    const { server, handlers, settled, writes } = await open({ access });
    const copy = await writes('@Discoclaw hello');
    await settled();
    expect(handlers.messages).toEqual([]);
    const reactions = async () =>
      (await server.messages({ in: '#general' })).find(({ id }) => id === copy.id)?.reactions ?? {};
    await expect.poll(async () => Object.keys(await reactions())).toEqual(['🔒']);
  });

  it('ends its original, also where that stands, and without a record is a webhook’s message', async () => {
    const { server, handlers, settled, kit, bob } = await open();
    const original = await server.say({ as: 'bob', in: '#general', text: 'A: @Discoclaw hello' });
    kit.storeNext({ original: original.id, sender: bob });
    const copy = await postCopy(server, { in: '#general', text: '@Discoclaw hello' });
    await settled();
    expect(handlers.messages.map(({ id }) => id)).toEqual([original.id, copy.id]);
    expect(handlers.events).toContain(`deleted ${original.id}`);
    kit.is({ status: 403 });
    await postCopy(server, { in: '#general', text: '@Discoclaw hello again' });
    await settled();
    expect(handlers.messages).toHaveLength(2);
  });

  it('replies to what its card links to', async () => {
    const { server, handlers, settled, kit, bob, general } = await open();
    const first = await server.say({ as: 'carol', in: '#general', text: '@Discoclaw hello' });
    await settled();
    const link = `https://discord.com/channels/1/${general}/${first.id}`;
    kit.storeNext({ original: '300000000000000000', sender: bob });
    await postCopy(server, {
      in: '#general',
      text: '@Discoclaw what she says',
      embeds: [{ description: `**[Reply to:](${link})** hello` }],
    });
    await settled();
    expect(handlers.messages.at(-1)).toMatchObject({
      author: { id: bob },
      repliesTo: { id: first.id, channelId: general },
      shown: undefined,
      hasThirdPartyText: true,
    });
  });

  it('of before a start is told to nobody: not as a channel’s talk [B4], a message replied to, or a thread’s first [K11]', async () => {
    const before = await open();
    const { server, general } = before;
    const copy = await before.writes('@Discoclaw I was at the doctor');
    await server.say({ as: 'carol', in: '#general', text: 'good morning' });
    const thread = await server.addThread({
      channel: 'general',
      name: 'that',
      as: 'carol',
      message: copy.id,
    });
    await server.say({ as: 'carol', in: thread.id, text: 'get well soon' });
    await before.settled();
    const place = { audience: 'public', channelId: general, homeId: general } as const;
    const wish = {
      place,
      userId: before.ids['carol'] ?? '',
      isForAskerOnly: false,
      limit: 500,
      requestIds: [],
    };
    const told = async ({ history, readChannel, readReplied }: RunningGateway) => {
      const talk = await readChannel({ ...wish, since: new Date(0) });
      const replied = await readReplied({ channelId: general, id: copy.id });
      return {
        talk: talk.kind === 'read' ? textsOf(talk.messages) : [],
        replied: typeof replied === 'string' ? replied : replied.text,
        thread: textsOf(await history.recent(thread.id, 10)),
      };
    };
    expect(await told(before)).toEqual({
      talk: ['I was at the doctor', 'good morning'],
      replied: 'I was at the doctor',
      thread: ['I was at the doctor', 'get well soon'],
    });
    await before.gateway.destroy();
    const proxied = { appIds: [pluralKit], pluralKitUrl: 'http://127.0.0.1:9' };
    expect(await told(await runGateway({ server, proxied }))).toEqual({
      talk: ['good morning'],
      replied: 'hidden',
      thread: ['get well soon'],
    });
  });
});
