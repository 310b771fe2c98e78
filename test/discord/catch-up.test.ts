import type { Message } from 'discord.js';
import { describe, expect, it } from 'vitest';

import { missedChanges } from '../../src/discord/catch-up.ts';
import type { TestSandbox } from '../support/sandbox/test-sandbox.ts';
import { deferred } from '../support/deferred.ts';
import { openSandbox, runGateway } from './support/gateway-harness.ts';

/** Two messages in Bob's DM, of which the bot has replied to the first before it was stopped. */
async function replied() {
  const server = await openSandbox();
  const first = await server.say({ as: 'bob', in: 'dm', text: 'one' });
  await server.say({ as: 'bob', in: 'dm', text: 'two' });
  await server.say({ as: 'Discoclaw', in: '@bob', text: 'An answer', replyTo: first.id });
  return { server, first, knownChannels: [first.channelId] };
}

describe('catching up [G3a]', () => {
  it('leaves out what the bot has replied to, and only that', async () => {
    const { handlers } = await runGateway(await replied());
    expect(handlers.texts).toEqual(['two']);
  });

  it('does not take a reply that was only started for the answer', async () => {
    const { first, ...options } = await replied();
    const { handlers } = await runGateway({ ...options, isUnfinished: ({ id }) => id === first.id });
    expect(handlers.texts).toEqual(['one', 'two']);
  });

  it('asks for nothing where the guild says that nothing is new [G3b]', async () => {
    let ago = 3_600_000;
    const server = await openSandbox({ now: () => new Date(Date.now() - ago) });
    await server.say({ as: 'bob', in: '#dev', text: 'the newest message', mentionBot: true });
    ago = 0;
    await runGateway({ server });
    expect(await server.requests({ method: 'GET', path: '/channels/*/messages' })).toEqual([]);
  });

  it('takes in what was said to it in DMs and by mention within five minutes, and nothing older', async () => {
    const minute = 60_000;
    let ago = 0;
    const server = await openSandbox({ now: () => new Date(Date.now() - ago) });
    const { id } = await server.openDm({ person: 'bob' });
    for (const [minutes, text] of [
      [6, 'too old'],
      [4, 'young enough'],
    ] as const) {
      ago = minutes * minute;
      await server.say({ as: 'bob', in: 'dm', text: `${text} in a DM` });
      await server.say({ as: 'alice', in: '#dev', text: `${text} in a channel`, mentionBot: true });
      await server.say({ as: 'alice', in: '#dev', text: `${text}, but for nobody` });
    }
    ago = 0;
    const { handlers, gateway } = await runGateway({ server, knownChannels: [id] });
    await gateway.caughtUp;
    expect(handlers.texts.toSorted()).toEqual(['young enough in a DM', 'young enough in a channel']);
  });
});

/** Channels that Discord is slow to show, each known and the other people's. */
async function slowChannels(server: TestSandbox, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let index = 0; index < count; index += 1) {
    await server.addPerson({ name: `person${index}` });
    const { id } = await server.openDm({ person: `person${index}` });
    await server.setFault({ kind: 'latency', milliseconds: 2000, route: `GET /channels/${id}/messages` });
    ids.push(id);
  }
  return ids;
}

describe('what happens while the bot catches up [G3b]', () => {
  it('waits for its own channel alone, and comes after what was missed there', async () => {
    const server = await openSandbox();
    const slow = await slowChannels(server, 6);
    const { id } = await server.openDm({ person: 'bob' });
    await server.say({ as: 'bob', in: 'dm', text: 'missed' });
    const { handlers, gateway } = await runGateway({ server, knownChannels: [...slow, id], settles: false });
    let isCaughtUp = false;
    void gateway.caughtUp.then(() => (isCaughtUp = true));
    await server.say({ as: 'bob', in: 'dm', text: 'live' });
    await expect.poll(() => handlers.texts).toEqual(['missed', 'live']);
    expect(isCaughtUp).toBe(false);
    await gateway.stopIntake();
  });

  it('waits for what a kill left undone there', async () => {
    const recovering = deferred<undefined>();
    const asked: string[] = [];
    const { server, handlers, gateway } = await runGateway({
      settles: false,
      recover(channelId) {
        asked.push(channelId);
        return recovering.promise;
      },
    });
    const { channelId } = await server.say({ as: 'bob', in: 'dm', text: 'hello' });
    await expect.poll(() => asked).toEqual([channelId]);
    expect(handlers.texts).toEqual([]);
    recovering.resolve(undefined);
    await expect.poll(() => handlers.texts).toEqual(['hello']);
    await gateway.stopIntake();
  });

  it('is done as a command though its channel cannot be caught up with now', async () => {
    const server = await openSandbox();
    // Registers the commands.
    const { client } = await runGateway({ server });
    await client.destroy();
    const { id } = await server.openDm({ person: 'bob' });
    await server.setFault({ kind: 'latency', milliseconds: 8000, route: `GET /channels/${id}/messages` });
    const { handlers, gateway } = await runGateway({ server, knownChannels: [id], settles: false });
    const { answer } = await server.slash({ as: 'bob', in: 'dm', name: 'memory', subcommand: 'show' });
    expect(answer?.text).toBe('Here you are.');
    expect(handlers.commands).toHaveLength(1);
    await gateway.stopIntake();
  });

  it('starts with recently active channels; those idle for over a week come last', async () => {
    const server = await openSandbox();
    const days = [9, 0, 30, 6];
    const ids: string[] = [];
    for (const day of days) {
      await server.addPerson({ name: `person${day}` });
      ids.push((await server.openDm({ person: `person${day}` })).id);
    }
    const knownChannels = ids.map((id, index) => ({
      id,
      activeAt: Date.now() - (days[index] ?? 0) * 86_400_000,
    }));
    await runGateway({ server, knownChannels });
    const asked = await server.requests({ method: 'GET', path: '/channels/*/messages' });
    const order = asked.map(({ path }) => days[ids.indexOf(path.split('/')[2] ?? '')]);
    expect(new Set(order.slice(0, 2))).toEqual(new Set([0, 6]));
    expect(new Set(order.slice(2))).toEqual(new Set([9, 30]));
  });

  it('asks once for a channel that is deleted, whatever the number of starts, and again for one that it may not see', async () => {
    const server = await openSandbox();
    const { id: hidden } = await server.addThread({
      channel: '#general',
      name: 'a',
      as: 'bob',
      private: true,
    });
    const deleted = '200000000000000077';
    const gone = new Set<string>();
    for (let start = 0; start < 2; start += 1)
      await runGateway({ server, knownChannels: [deleted, hidden], gone });
    expect(await server.requests({ path: `/channels/${deleted}` })).toMatchObject([{ status: 404 }]);
    expect(await server.requests({ path: `/channels/${hidden}` })).toHaveLength(2);
  });
});

/** All that is looked at. */
function standing(id: string, changes: { content?: string; editedTimestamp?: number | null } = {}): Message {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- all that is looked at
  return { id, content: 'hello', editedTimestamp: null, ...changes } as Message;
}

const remembered = [
  { ids: ['10'], isOwn: false },
  { ids: ['11', '12'], isOwn: true },
  { ids: ['13'], isOwn: false },
];

describe('what was missed', () => {
  it('includes deleted messages, and each part of a long answer', () => {
    const messages = [standing('10'), standing('11')];
    expect(missedChanges(remembered, { messages, isWhole: true })).toEqual({
      deleted: ['12', '13'],
      edited: [],
    });
  });

  it('are not deletions where not all was fetched, or where nothing is gone', () => {
    const messages = [standing('10'), standing('11')];
    expect(missedChanges(remembered, { messages, isWhole: false }).deleted).toEqual([]);
    expect(missedChanges(remembered, { messages: [], isWhole: false }).deleted).toEqual([]);
    const all = ['10', '11', '12', '13', '14'].map((id) => standing(id));
    expect(missedChanges(remembered, { messages: all, isWhole: true }).deleted).toEqual([]);
  });

  it('are edits of what people said, as far as the bot may read it', () => {
    const edited = { editedTimestamp: 1 };
    const messages = [standing('10', edited), standing('11', edited), standing('12')];
    const hidden = standing('13', { ...edited, content: '' });
    expect(missedChanges(remembered, { messages: [...messages, hidden], isWhole: true })).toEqual({
      deleted: [],
      edited: [messages[0]],
    });
  });
});

describe('a gateway that was away', () => {
  it('tells of what was deleted and edited meanwhile before anything that is new', async () => {
    const { server, client } = await runGateway();
    const { id: channelId } = await server.openDm({ person: 'bob' });
    const said = await Promise.all(
      ['kept', 'edited', 'deleted'].map((text) => server.say({ as: 'bob', in: 'dm', text })),
    );
    const [, edited, deleted] = said.map(({ id }) => id);
    await client.destroy();
    await server.edit({ message: edited ?? '', text: 'corrected' });
    await server.delete({ message: deleted ?? '' });
    await server.say({ as: 'bob', in: 'dm', text: 'new' });
    const next = await runGateway({
      server,
      knownChannels: [channelId],
      remembered: said.map(({ id }) => ({ ids: [id], isOwn: false })),
    });
    await next.gateway.caughtUp;
    // These handlers forget nothing, so that they are told again by the look back.
    expect(next.handlers.events.slice(0, 5)).toEqual([
      `deleted ${deleted ?? ''}`,
      'edited corrected',
      'message kept',
      'message corrected',
      'message new',
    ]);
  });

  it('also finds changes to messages from long before the gap, if they are among the newest of the channel', async () => {
    let ago = 3_600_000;
    const server = await openSandbox({ now: () => new Date(Date.now() - ago) });
    const { id: channelId } = await server.openDm({ person: 'bob' });
    const deleted = await server.say({ as: 'bob', in: 'dm', text: 'deleted' });
    const edited = await server.say({ as: 'bob', in: 'dm', text: 'edited' });
    ago = 0;
    await server.edit({ message: edited.id, text: 'corrected' });
    await server.delete({ message: deleted.id });
    const said = [deleted, edited].map(({ id }) => ({ ids: [id], isOwn: false }));
    const { handlers } = await runGateway({ server, knownChannels: [channelId], remembered: said });
    expect(handlers.events).toEqual([`deleted ${deleted.id}`, 'edited corrected']);
  });

  it('treats nothing as deleted if it may not read the channel’s history', async () => {
    const { server, client, ids } = await runGateway();
    const said = await server.say({ as: 'bob', in: '#dev', text: 'hello' });
    await client.destroy();
    await server.setOverwrite({ channel: '#dev', for: 'Discoclaw', deny: ['ReadMessageHistory'] });
    const next = await runGateway({
      server,
      knownChannels: [ids['dev'] ?? ''],
      remembered: [{ ids: [said.id], isOwn: false }],
    });
    await next.gateway.caughtUp;
    expect(next.handlers.events).toEqual([]);
  });
});
