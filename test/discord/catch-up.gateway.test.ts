import { MessageType, type Message } from 'discord.js';
import { describe, expect, it } from 'vitest';

import { compareSnowflakes, snowflakeTime } from '../../src/core/snowflake.ts';
import { fetchMissedMessages, missedChanges, type CatchUpOptions } from '../../src/discord/catch-up.ts';
import { createDiscordClient } from '../../src/discord/client.ts';
import { RecordingLogger } from '../support/recording-logger.ts';
import { openSandbox, runGateway } from './support/gateway-harness.ts';

const now = new Date('2026-01-15T10:00:00Z');

type Changes = Partial<Omit<CatchUpOptions, 'messages'>> & {
  readonly messages?: Pick<CatchUpOptions['messages'], 'after'>;
};

function setUp({ messages, ...changes }: Changes = {}) {
  const logger = new RecordingLogger();
  const received: string[] = [];
  const options: CatchUpOptions = {
    client: createDiscordClient({ logger }),
    botId: '1',
    messages: { after: () => Promise.resolve([]), newest: () => Promise.resolve([]), ...messages },
    knownChannels: () => Promise.resolve([]),
    remembered: () => Promise.resolve([]),
    changes: { missed: () => Promise.resolve() },
    settings: { channelIds: [] },
    isUnfinished: () => Promise.resolve(false),
    async received(message) {
      received.push(message.id);
    },
    clock: () => now,
    logger,
    ...changes,
  };
  return { options, received, logger };
}

/** All that catching up looks at. */
function messageWithId(id: string): Message {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- all that is looked at
  return { id, author: { id: '2' }, type: MessageType.Default } as Message;
}

function replyTo(messageId: string, authorId: string): Message {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- all that is looked at
  return {
    id: `${messageId}0`,
    author: { id: authorId },
    type: MessageType.Reply,
    reference: { messageId },
  } as Message;
}

describe('catching up [G3a]', () => {
  it('asks each channel once for what is younger than five minutes', async () => {
    const asked: string[] = [];
    const { options } = setUp({
      knownChannels: () => Promise.resolve(['10', '11', '10']),
      messages: {
        after(channelId, messageId) {
          asked.push(channelId);
          expect(snowflakeTime(messageId)).toEqual(new Date('2026-01-15T09:55:00Z'));
          return Promise.resolve([]);
        },
      },
    });
    await fetchMissedMessages(options);
    expect(asked.toSorted(compareSnowflakes)).toEqual(['10', '11']);
  });

  it('leaves out what the bot has replied to, and only that', async () => {
    const { options, received } = setUp({
      knownChannels: () => Promise.resolve(['10']),
      messages: {
        after: () =>
          Promise.resolve([messageWithId('3'), messageWithId('4'), replyTo('3', '1'), replyTo('4', '2')]),
      },
    });
    await fetchMissedMessages(options);
    expect(received).toEqual(['4', '30', '40']);
  });

  it('does not take a reply that was only begun for the answer', async () => {
    const { options, received } = setUp({
      knownChannels: () => Promise.resolve(['10']),
      isUnfinished: (channelId, messageId) => Promise.resolve(channelId === '10' && messageId === '3'),
      messages: {
        after: () =>
          Promise.resolve([messageWithId('3'), messageWithId('4'), replyTo('3', '1'), replyTo('4', '1')]),
      },
    });
    await fetchMissedMessages(options);
    expect(received).toEqual(['3', '30', '40']);
  });

  it('goes on with the other channels when one cannot be read', async () => {
    const { options, received, logger } = setUp({
      knownChannels: () => Promise.resolve(['10', '11']),
      messages: {
        after: (channelId) =>
          channelId === '10'
            ? Promise.reject(new Error('403'))
            : Promise.resolve([messageWithId('1'), messageWithId('2')]),
      },
    });
    await fetchMissedMessages(options);
    expect(received).toEqual(['1', '2']);
    expect(logger.warnings).toEqual(['missed messages could not be fetched']);
  });

  it('catches up where Discord tells of something new, though the known channels cannot be read', async () => {
    const { server, client } = await runGateway();
    const { channelId } = await server.say({ as: 'bob', in: '#dev', text: 'something new' });
    await server.delivered();
    const { options, received, logger } = setUp({
      client,
      knownChannels: () => Promise.reject(new Error('disk')),
      messages: { after: (id) => Promise.resolve(id === channelId ? [messageWithId('3')] : []) },
    });
    await fetchMissedMessages(options);
    expect(received).toEqual(['3']);
    expect(logger.warnings).toEqual(['the channels to catch up with are not known']);
  });

  it('spares the request where the guild says that nothing is new', async () => {
    const { server, client } = await runGateway();
    await server.say({ as: 'bob', in: '#dev', text: 'the newest message' });
    await server.delivered();
    const { channels } = await server.info();
    const asked: string[] = [];
    const known = [channels['dev'] ?? '', channels['general'] ?? ''];
    const later = new Date(Date.now() + 3_600_000);
    const { options } = setUp({
      client,
      clock: () => later,
      knownChannels: () => Promise.resolve(known),
      messages: {
        after(channelId) {
          asked.push(channelId);
          return Promise.resolve([]);
        },
      },
    });
    await fetchMissedMessages(options);
    expect(asked).not.toContain(channels['dev']);
  });

  it('looks wherever something was said of late, as it may have mentioned the bot', async () => {
    const { server, client, settled, ids } = await runGateway();
    await server.setOverwrite({
      channel: '#secret',
      for: 'Discoclaw',
      allow: ['ViewChannel'],
      deny: ['ReadMessageHistory'],
    });
    for (const where of ['#dev', '#general', '#secret'])
      await server.say({ as: 'bob', in: where, text: 'hello' });
    await settled();
    await server.addChannel({ name: 'quiet' });
    const asked: (string | undefined)[] = [];
    const { options } = setUp({
      client,
      clock: () => new Date(),
      settings: { channelIds: [ids['dev'] ?? '', ids['secret'] ?? ''] },
      messages: {
        after(channelId) {
          asked.push(channelId);
          return Promise.resolve([]);
        },
      },
    });
    await fetchMissedMessages(options);
    expect(asked).toEqual([ids['dev']]);
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

  it('reads page after page, oldest first', async () => {
    const { server, handlers, client, settled, gateway } = await runGateway();
    await gateway.stopIntake();
    for (let number = 0; number < 130; number += 1) {
      await server.say({ as: 'bob', in: 'dm', text: `message ${number}` });
    }
    await settled();
    expect(handlers.texts).toEqual([]);
    await client.destroy();
    const { id } = await server.openDm({ person: 'bob' });
    const next = await runGateway({ server, knownChannels: [id] });
    expect(next.handlers.texts).toEqual(Array.from({ length: 130 }, (_, number) => `message ${number}`));
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
