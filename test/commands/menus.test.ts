import { describe, expect, it } from 'vitest';

import type { ChatMessage } from '../../src/core/message.ts';
import type { Place } from '../../src/core/place.ts';
import { aliceId, bobId, publicPlace } from '../support/incoming.ts';
import { createHarness, dmPlace, privatePlace } from './harness.ts';

const messageId = '410000000000000001';
const alice = { id: aliceId, name: 'Alice', kind: 'human' } as const;
const bob = { id: bobId, name: 'Bob', kind: 'human' } as const;
const self = { id: '500000000000000001', name: 'Discoclaw', kind: 'self' } as const;

function openMenus(options: Parameters<typeof createHarness>[0] = {}) {
  const harness = createHarness(options);
  return {
    ...harness,
    choose: async (name: 'remember' | 'about', message: Partial<ChatMessage>, place: Place = publicPlace) => {
      const { text } = await harness.commands.menu({
        id: '420000000000000001',
        name: { remember: 'Remember this', about: 'What do you know about this?' }[name],
        ephemeral: true,
        speaker: { id: aliceId, name: 'Alice', isOwner: false },
        place,
        at: '2026-01-15T10:00:00.000Z',
        message: {
          id: messageId,
          channelId: place.channelId,
          author: alice,
          text: 'I like green tea',
          at: '2026-01-15T09:00:00.000Z',
          attachments: [],
          ...message,
        },
        work: { userId: aliceId },
      });
      return text;
    },
    /** The bot answers somebody in two messages. */
    answer: async (userId: string, ids: readonly string[]) => {
      const turn = {
        speaker: { id: userId, name: '', isOwner: false },
        place: publicPlace,
        messages: [{ id: '400000000000000001', text: 'What?', at: '', attachments: [] }],
        now: new Date(0),
        hasThirdPartyText: false,
        work: { userId },
      };
      await harness.sessionLog.recordUser(turn);
      await harness.sessionLog.recordReply(turn, {
        ids,
        text: 'A long answer',
        at: '2026-01-15T09:30:00.000Z',
      });
    },
  };
}

describe('Remember this', () => {
  it('keeps the asker’s own message, with it as source and the place’s visibility [V1]', async () => {
    const { choose, durable } = openMenus();
    expect(await choose('remember', {})).toContain('Remembered: "I like green tea"');
    await choose('remember', { text: 'I keep bees' }, privatePlace);
    await choose('remember', { text: 'I am shy' }, dmPlace);
    expect(await durable.list(aliceId)).toMatchObject([
      { text: 'I am shy', visibility: 'dm' },
      { text: 'I keep bees', visibility: 'here' },
      { text: 'I like green tea', visibility: 'everywhere', source: { type: 'manual', messageId } },
    ]);
  });

  it('keeps what the bot answered the asker, each of its messages', async () => {
    const { choose, answer } = openMenus();
    await answer(aliceId, [messageId, '410000000000000002']);
    for (const id of [messageId, '410000000000000002'])
      expect(await choose('remember', { id, author: self, text: `Part ${id}` })).toContain('Remembered');
  });

  it('keeps what a proxy posted for the asker, by the log [G2a]', async () => {
    const { choose, answer } = openMenus();
    const copy = { author: { id: '150000000000000001', name: 'Anna', kind: 'bot' } } as const;
    expect(await choose('remember', copy)).toContain('not what others wrote');
    await answer(aliceId, [messageId]);
    expect(await choose('remember', { ...copy, id: '400000000000000001' })).toContain('Remembered');
  });

  it.each([
    ['what the bot answered somebody else', { author: self }, 'not one of my answers to you'],
    ['what other people wrote', { author: bob }, 'not what others wrote'],
    ['what another bot wrote', { author: { ...bob, kind: 'bot' } }, 'not what others wrote'],
    ['a message without text', { text: ' ' }, 'no text'],
  ] as const)('refuses %s', async (_, message, reason) => {
    const { choose, answer, durable } = openMenus();
    await answer(bobId, [messageId]);
    expect(await choose('remember', message)).toContain(reason);
    expect(await durable.list(aliceId)).toEqual([]);
  });

  it('refuses commands, answers to them and notices', async () => {
    const { choose, answer, hidden, durable } = openMenus();
    await answer(aliceId, [messageId]);
    hidden.add(messageId);
    expect(await choose('remember', { text: '!memory show' })).toContain('do not remember');
    expect(await choose('remember', { author: self })).toContain('do not remember');
    expect(await durable.list(aliceId)).toEqual([]);
  });
});

describe('What do you know about this?', () => {
  it('finds what the asker’s memory has on anybody’s words', async () => {
    const { choose, say } = openMenus();
    await say('remember I keep bees', dmPlace);
    expect(await choose('about', { author: bob, text: 'bees, anybody?' })).toContain('I keep bees');
  });
});
