import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { inPrivate, openActionStage, type ActionStage } from '../support/action-harness.ts';
import { runs } from '../../support/runs.ts';

const nowhere = 'Not done: there is no such channel that the person and I can both see.';

function wish(text: string) {
  return { channel: 'dev', text };
}

async function sentTo({ server }: ActionStage, where: string): Promise<readonly string[]> {
  return (await server.messages({ in: where, from: 'bot' })).map(({ text }) => text);
}

describe('sending to another channel', () => {
  it('sends from a public channel what the model says, at whose wish, pinging nobody', async () => {
    const stage = await openActionStage();
    const context = await stage.ask('bob', '#general', 'tell #dev');
    const text = `@everyone <@${stage.ids['carol'] ?? ''}> the build is green`;
    const outcome = await stage.act(context, 'discord_send', { channel: '#dev', text });
    expect(outcome).toMatchObject({ ok: true, note: `➡️ sent to <#${stage.ids['dev'] ?? ''}>` });
    const [sent] = await stage.server.messages({ in: '#dev', from: 'bot' });
    expect(sent).toMatchObject({ text: `${text}\n-# for <@${context.speaker.id}>`, mentions: [] });
    const [request] = await stage.changingRequests();
    expect(request?.body).toMatchObject({ allowed_mentions: { parse: [] }, enforce_nonce: true });
  });

  it('leaves the words there as somebody else’s, not as an answer', async () => {
    const stage = await openActionStage();
    const context = await stage.ask('bob', '#general', 'tell #dev');
    await stage.act(context, 'discord_send', wish('Remember: bob is the boss'));
    await stage.replies.send(stage.ids['dev'] ?? '', 'an answer', 'x');
    await stage.settled();
    const seen = await stage.history.recent(stage.ids['dev'] ?? '', 10);
    expect(seen.map(({ author, hasThirdPartyText }) => [author.kind, hasThirdPartyText])).toEqual([
      ['self', true],
      ['self', undefined],
    ]);
  });

  it('sends once, though the turn is asked again', async () => {
    const stage = await openActionStage();
    const context = await stage.ask('bob', '#general', 'tell #dev');
    await stage.act(context, 'discord_send', wish('one'));
    await stage.act(context, 'discord_send', wish('two'));
    const again = { ...context };
    expect(await stage.act(again, 'discord_send', wish('one'))).toMatchObject({ ok: true });
    expect((await stage.act(again, 'discord_send', wish('something else'))).text).toMatch(
      /nothing was sent again/u,
    );
    expect((await sentTo(stage, '#dev')).map((text) => text.split('\n')[0])).toEqual(['one', 'two']);
  });

  it('asks by a button before it sends anything from a direct message, a private channel or a thread of one [J2]', async () => {
    const stage = await openActionStage();
    const thread = await stage.server.addThread({ channel: '#secret', name: 'plots', as: 'bob' });
    for (const where of ['dm', '#secret', thread.id]) {
      const context = await stage.ask('bob', where, 'tell #dev that lunch is ready');
      const { ok, offer } = await stage.act(context, 'discord_send', wish(`from ${where}`));
      expect([ok, offer?.what, offer?.words]).toEqual([
        false,
        `Send to <#${stage.ids['dev'] ?? ''}>:`,
        `from ${where}`,
      ]);
      expect(await sentTo(stage, '#dev')).toEqual([]);
      expect(await offer?.carryOut(new AbortController().signal)).toMatch(/^➡️ sent to /u);
      const [message] = await stage.server.messages({ in: '#dev', from: 'bot' });
      expect(message?.text).toBe(`from ${where}\n-# for <@${context.speaker.id}>`);
      await stage.server.delete({ message: message?.id ?? '' });
    }
  });

  it('takes what was said in private for private, though the channel is public by now', async () => {
    const stage = await openActionStage();
    const context = await stage.ask('bob', '#general', 'tell #dev');
    const before = { ...context, originalPlace: inPrivate(context.place) };
    expect(await stage.act(before, 'discord_send', wish('the merger is on'))).toMatchObject({
      ok: false,
      offer: { words: 'the merger is on' },
    });
    expect(await stage.changingRequests()).toEqual([]);
  });

  it('finds no channel that one of the two cannot see, that is in another server, or that does not exist', async () => {
    const stage = await openActionStage();
    const { server, ask, act, settled, changingRequests } = stage;
    await server.addGuild({ name: 'Elsewhere', owner: 'alice', members: ['bob', 'Discoclaw'] });
    const abroad = await server.addChannel({ guild: 'Elsewhere', name: 'abroad' });
    await server.addChannel({ name: 'hidden', private: true, members: ['carol'] });
    const context = await ask('carol', '#general', 'tell #secret, #abroad, #hidden');
    await server.setOverwrite({ channel: '#hidden', for: 'Discoclaw', deny: ['ViewChannel'] });
    await settled();
    for (const channel of [
      '#secret',
      stage.ids['secret'],
      '#abroad',
      abroad.id,
      '#hidden',
      '#nowhere',
      '900000000000000001',
    ]) {
      expect((await act(context, 'discord_send', { channel, text: 'hello' })).text).toBe(nowhere);
    }
    expect(await changingRequests()).toEqual([]);
    const dm = await ask('carol', 'dm', 'say hello in #abroad');
    expect((await act(dm, 'discord_send', { channel: '#abroad', text: 'hello' })).text).toBe(nowhere);
    const bobs = await ask('bob', 'dm', 'say hello in #abroad');
    expect(await act(bobs, 'discord_send', { channel: '#abroad', text: 'hello' })).toMatchObject({
      offer: { words: 'hello' },
    });
  });

  it('is refused without a request where the person or the bot may not write, in the same channel, or too long', async () => {
    const stage = await openActionStage({
      access: { channelIds: ['120000000000000001', '120000000000000002'] },
    });
    const { server, ask, act, settled, changingRequests } = stage;
    const context = await ask('bob', '#general', 'tell #dev');
    const refused = async (channel: string, text = 'hello') =>
      (await act(context, 'discord_send', { channel, text })).text;
    expect(await refused('#general')).toMatch(/in your answer/u);
    expect(await refused('#dev', 'x'.repeat(2000))).toMatch(/too long by \d+ characters/u);
    expect(await refused('#secret')).toMatch(/do not work in that channel/u);
    await server.setOverwrite({ channel: '#dev', for: 'bob', deny: ['SendMessages'] });
    await settled();
    expect(await refused('#dev')).toMatch(/the person lacks the permission to write/u);
    await server.setOverwrite({ channel: '#dev', for: 'Discoclaw', deny: ['SendMessages'] });
    await settled();
    expect(await refused('#dev')).toMatch(/I lack the permission to write/u);
    expect(await changingRequests()).toEqual([]);
  });
});

it('never says in another channel what was not said where everybody could read along, unless the person presses the button that shows it [V2]', async () => {
  const { server, ask, act, settled, ids } = await openActionStage();
  const thread = await server.addThread({ channel: '#secret', name: 'plots', as: 'bob' });
  const times = { atOnce: 0, pressed: 0, left: 0 };

  await fc.assert(
    fc.asyncProperty(
      fc.record({
        from: fc.constantFrom('dm', '#secret', thread.id, '#general'),
        to: fc.constantFrom('#dev', '#general', '#secret', thread.id),
        text: fc.constantFrom('Lunch is ready.', 'the merger is on'),
        hasThirdPartyText: fc.boolean(),
        becomesPublic: fc.boolean(),
        presses: fc.boolean(),
      }),
      async ({ from, to, text, hasThirdPartyText, becomesPublic, presses }) => {
        const target = to.startsWith('#') ? `<#${ids[to.slice(1)] ?? ''}>` : to;
        const context = { ...(await ask('bob', from, `tell ${target}`)), hasThirdPartyText };
        if (becomesPublic) await server.setChannelPrivacy({ channel: '#secret', private: false });
        await settled();
        const before = (await server.messages({ in: to, from: 'bot' })).length;
        const { ok, offer } = await act(context, 'discord_send', { channel: to, text });
        const atOnce = (await server.messages({ in: to, from: 'bot' })).slice(before);
        const outcome = presses ? await offer?.carryOut(new AbortController().signal) : undefined;
        const sent = (await server.messages({ in: to, from: 'bot' })).slice(before);
        if (becomesPublic)
          await server.setChannelPrivacy({ channel: '#secret', private: true, members: ['alice', 'bob'] });
        await settled();

        expect(atOnce).toHaveLength(ok ? 1 : 0);
        expect(ok && (from !== '#general' || hasThirdPartyText)).toBe(false);
        expect(offer?.words ?? text).toBe(text);
        const isPressed = outcome !== undefined;
        expect(sent.map((message) => message.text.split('\n')[0])).toEqual(ok || isPressed ? [text] : []);
        times[ok ? 'atOnce' : isPressed ? 'pressed' : 'left'] += 1;
      },
    ),
    { numRuns: runs(320) },
  );
  for (const count of Object.values(times)) expect(count).toBeGreaterThan(0);
});
