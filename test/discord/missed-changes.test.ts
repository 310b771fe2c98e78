import type { Message } from 'discord.js';
import { describe, expect, it } from 'vitest';

import { missedChanges } from '../../src/discord/missed-changes.ts';
import { openSandbox, runGateway } from './support/gateway-harness.ts';

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
  it('are deletions of what stands there no more, of a long answer each part', () => {
    const messages = [standing('10'), standing('11')];
    expect(missedChanges(remembered, { messages, isWhole: true })).toEqual({
      deleted: ['12', '13'],
      edited: [],
    });
  });

  it('are no deletions where not all was fetched, or where nothing is gone', () => {
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

  it('finds also what was said long before the gap, among the newest messages of the channel', async () => {
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

  it('takes nothing for deleted where it may not read what was said before', async () => {
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
