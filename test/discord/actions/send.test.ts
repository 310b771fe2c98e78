import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { inPrivate, openActionStage, type ActionStage } from '../support/action-harness.ts';

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

  it('sends nothing at the wish of somebody else, whom the person only asks about', async () => {
    const stage = await openActionStage();
    const context = await stage.ask('bob', '#general', 'what did carol want?');
    expect((await stage.act(context, 'discord_send', wish('free money'))).text).toMatch(
      /own message does not plainly ask for this/u,
    );
    expect(await stage.changingRequests()).toEqual([]);
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

  it('sends once, though Discord has forgotten the nonce', async () => {
    let now = Date.now() - 10 * 60_000;
    const stage = await openActionStage({ sandbox: { now: () => new Date(now) } });
    const context = await stage.ask('bob', '#general', 'tell #dev');
    const green = wish('the build is green');
    await stage.act(context, 'discord_send', green);
    now = Date.now();
    expect((await stage.act({ ...context }, 'discord_send', green)).text).toMatch(/nothing was sent again/u);
    expect(await sentTo(stage, '#dev')).toHaveLength(1);
  });

  it('sends from a direct message or private channel only the person’s own words, where they say', async () => {
    const stage = await openActionStage();
    const { ask, act } = stage;
    const dm = await ask('bob', 'dm', 'tell #dev the build is green');
    expect(await act(dm, 'discord_send', { channel: '#dev', text: 'Bob earns 5000' })).toMatchObject({
      ok: false,
    });
    expect(await act(dm, 'discord_send', { channel: '#general', text: 'the build is green' })).toMatchObject({
      ok: false,
    });
    expect(await act(dm, 'discord_send', { channel: '#dev', text: 'The build is green!' })).toMatchObject({
      ok: true,
    });
    const secret = await ask('bob', '#secret', 'tell #general lunch is ready');
    expect(await act(secret, 'discord_send', { channel: 'general', text: 'the merger is on' })).toMatchObject(
      { ok: false },
    );
    expect(await act(secret, 'discord_send', { channel: 'general', text: 'lunch is ready' })).toMatchObject({
      ok: true,
    });
    expect(await sentTo(stage, '#dev')).toEqual([`the build is green\n-# for <@${dm.speaker.id}>`]);
    expect(await sentTo(stage, '#general')).toEqual([`lunch is ready\n-# for <@${dm.speaker.id}>`]);
  });

  it('says freely in a thread what its channel may read, but not once the channel became public', async () => {
    const stage = await openActionStage();
    const thread = await stage.server.addThread({ channel: '#secret', name: 'plots', as: 'bob' });
    const context = await stage.ask('bob', '#secret', `go on and say it in <#${thread.id}>`);
    const plot = { channel: thread.id, text: 'the merger is on' };
    expect(await stage.act(context, 'discord_send', plot)).toMatchObject({ ok: true });
    await stage.server.setChannelPrivacy({ channel: '#secret', private: false });
    await stage.settled();
    expect(
      await stage.act({ ...context, messages: [...context.messages] }, 'discord_send', {
        ...plot,
        text: 'the price is 5',
      }),
    ).toMatchObject({ ok: false });
    expect(await stage.server.messages({ in: thread.id, from: 'bot' })).toHaveLength(1);
  });

  it('takes what was said in private for private, though the channel is public by now', async () => {
    const stage = await openActionStage();
    const context = await stage.ask('bob', '#general', 'tell #dev');
    const outcome = await stage.act({ ...context, saidIn: inPrivate(context.place) }, 'discord_send', {
      channel: '#dev',
      text: 'the merger is on',
    });
    expect(outcome.text).toMatch(/private place/u);
  });

  it('knows no channel that one of the two cannot see, that is in another server, or that does not exist', async () => {
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
      ok: true,
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

  it('goes into a private thread only for somebody who is in it', async () => {
    const stage = await openActionStage();
    const thread = await stage.server.addThread({
      channel: '#general',
      name: 'plots',
      as: 'bob',
      private: true,
      members: ['Discoclaw'],
    });
    const hello = { channel: thread.id, text: 'hello' };
    expect(
      (await stage.act(await stage.ask('carol', '#dev', 'tell #plots'), 'discord_send', hello)).text,
    ).toBe(nowhere);
    expect(
      await stage.act(await stage.ask('bob', '#dev', 'tell #plots'), 'discord_send', hello),
    ).toMatchObject({
      ok: true,
    });
  });

  it('asks which one where several channels have the name', async () => {
    const stage = await openActionStage();
    await stage.server.addChannel({ name: 'dev' });
    const context = await stage.ask('bob', '#general', 'tell #dev');
    expect((await stage.act(context, 'discord_send', { channel: '#dev', text: 'hello' })).text).toMatch(
      /by its id/u,
    );
  });
});

/** What only the model knows: from memory, from history, from what the person quotes. */
const secret = 'the merger is on';

it('never says in another channel what was not the person’s own word where not everybody could read along [V2]', async () => {
  const { server, ask, act, settled, ids } = await openActionStage();
  const thread = await server.addThread({ channel: '#secret', name: 'plots', as: 'bob' });
  const homes = new Map([
    ['#secret', 'secret'],
    [thread.id, 'secret'],
  ]);
  let refusedTimes = 0;
  let sentTimes = 0;
  let pressedTimes = 0;

  await fc.assert(
    fc.asyncProperty(
      fc.record({
        from: fc.constantFrom('dm', '#secret', thread.id, '#general'),
        to: fc.constantFrom('#dev', '#general', '#secret', thread.id),
        verb: fc.constantFrom('tell', 'think of'),
        says: fc.constantFrom('lunch is ready', `> ${secret}`, `lunch is ready\n> ${secret}`),
        text: fc.constantFrom('Lunch is ready.', secret, `lunch is ready, ${secret}`),
        isNamed: fc.boolean(),
        hasThirdPartyText: fc.boolean(),
        becomesPublic: fc.boolean(),
      }),
      async ({ from, to, verb, says, text, isNamed, hasThirdPartyText, becomesPublic }) => {
        const target = to.startsWith('#') ? `<#${ids[to.slice(1)] ?? ''}>` : to;
        const request = `${verb} ${isNamed ? target : 'them'} that\n${says}`;
        const context = { ...(await ask('bob', from, request)), hasThirdPartyText };
        if (becomesPublic) await server.setChannelPrivacy({ channel: '#secret', private: false });
        await settled();
        const before = await server.messages({ in: to, from: 'bot' });
        const { ok: isDone, offer } = await act(context, 'discord_send', { channel: to, text });
        const isPressed = /➡️/u.test(
          JSON.stringify(await offer?.carryOut(new AbortController().signal)) ?? '',
        );
        const ok = isDone || isPressed;
        if (isPressed) pressedTimes += 1;
        const sent = (await server.messages({ in: to, from: 'bot' })).slice(before.length);
        if (becomesPublic)
          await server.setChannelPrivacy({ channel: '#secret', private: true, members: ['alice', 'bob'] });
        await settled();

        expect(sent).toHaveLength(ok ? 1 : 0);
        if (ok) sentTimes += 1;
        else refusedTimes += 1;
        const hasSameReaders = homes.has(from) && homes.get(from) === homes.get(to) && !becomesPublic;
        if (hasSameReaders) return;
        expect(isDone && hasThirdPartyText && (!isNamed || verb !== 'tell')).toBe(false);
        if (from === '#general') return;
        const words = sent.map((message) => message.text.split('\n')[0]);
        expect(words).toEqual(ok ? ['lunch is ready'] : []);
        expect(ok && !isNamed).toBe(false);
      },
    ),
    { numRuns: 80 },
  );
  expect(pressedTimes).toBeGreaterThan(8);
  expect(sentTimes).toBeGreaterThan(8);
  expect(refusedTimes).toBeGreaterThan(8);
});
