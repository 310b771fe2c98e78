import { describe, expect, it } from 'vitest';

import type { ChatMessage } from '../../src/core/message.ts';
import { RecentChanges } from '../../src/core/changes.ts';
import { offerText } from '../../src/core/tool.ts';
import { createHistory, type HistoryOptions } from '../../src/discord/history.ts';
import { RecordingLogger } from '../support/recording-logger.ts';
import { deferred } from '../support/deferred.ts';
import { textsOf } from './support/gateway-harness.ts';

const channelId = '200000000000000001';

function message(number: number, changes: Partial<ChatMessage> = {}): ChatMessage {
  return {
    id: `${400_000_000_000_000_000 + number * 1000}`,
    channelId,
    author: { id: '100000000000000001', name: 'Alice', kind: 'human' },
    text: `message ${number}`,
    at: '2026-01-15T10:00:00.000Z',
    attachments: [],
    ...changes,
  };
}

function historyOf(changes: Partial<HistoryOptions> = {}) {
  const fetches: string[] = [];
  const logger = new RecordingLogger();
  const recent = new RecentChanges();
  const { fetchNewest = () => Promise.resolve([]), ...others } = changes;
  const history = createHistory({
    hiddenIn: () => Promise.resolve(() => false),
    isCommand: (text) => text.startsWith('!memory'),
    recent,
    logger,
    fetchNewest(channel, limit) {
      fetches.push(channel);
      return fetchNewest(channel, limit);
    },
    ...others,
  });
  const changing = {
    ...history,
    removed: (channel: string, messageIds: readonly string[]) =>
      recent.note({ kind: 'deleted', channelId: channel, messageIds }),
    edited: (channel: string, messageId: string, text: string) =>
      recent.note({ kind: 'edited', channelId: channel, messageId, text }),
  };
  return { history: changing, fetches, logger };
}

describe('history', () => {
  it('fetches a cold channel once, and is kept current by events from then on', async () => {
    const { history, fetches } = historyOf({
      fetchNewest: () => Promise.resolve([message(3), message(1), message(2)]),
    });
    history.seen(message(3));
    expect(textsOf(await history.recent(channelId, 10))).toEqual(['message 1', 'message 2', 'message 3']);
    history.seen(message(4));
    history.removed(channelId, [message(2).id]);
    history.edited(channelId, message(1).id, 'corrected');
    expect(textsOf(await history.recent(channelId, 10))).toEqual(['corrected', 'message 3', 'message 4']);
    expect(fetches).toHaveLength(1);
  });

  it('follows what happens to the message that a thread was made from, whose id is the thread’s', async () => {
    const parentId = '200000000000000002';
    const starter = message(1, { channelId: message(1).id });
    const { history } = historyOf({ fetchNewest: () => Promise.resolve([starter]) });
    expect(textsOf(await history.recent(starter.id, 10))).toEqual(['message 1']);
    history.edited(parentId, starter.id, 'corrected');
    expect(textsOf(await history.recent(starter.id, 10))).toEqual(['corrected']);
    history.removed(parentId, [starter.id]);
    expect(await history.recent(starter.id, 10)).toEqual([]);
  });

  it('leaves out commands, what is hidden by its id, and what says nothing', async () => {
    const hidden = message(3, {
      author: { id: '1', name: 'Discoclaw', kind: 'self' },
      text: 'Remembered: "tea"',
    });
    const { history } = historyOf({
      hiddenIn: () => Promise.resolve((id) => id === hidden.id),
      fetchNewest: () =>
        Promise.resolve([
          message(1),
          message(2, { text: '!memory remember tea' }),
          hidden,
          message(4, { text: '' }),
          message(5, { text: '', attachments: ['cat.png'] }),
          message(6, {
            text: '!memory is how you ask me',
            author: { id: '1', name: 'Discoclaw', kind: 'self' },
          }),
        ]),
    });
    const recent = await history.recent(channelId, 10);
    expect(recent.map(({ id }) => id)).toEqual([message(1).id, message(5).id, message(6).id]);
  });

  it('leaves out the answer to a message that was deleted [G5], and keeps one to a message further back', async () => {
    const self = { id: '100000000000000009', name: 'Discoclaw', kind: 'self' } as const;
    const { history } = historyOf({
      fetchNewest: () =>
        Promise.resolve([
          message(2),
          message(4, { author: self, answers: message(3).id, text: 'Remembered: "I keep bees"' }),
          message(5, { author: self, text: 'and Remembered: "I keep wasps"' }),
          message(6, { author: self, text: 'lunch\n-# for <@2>', hasThirdPartyText: true }),
          message(7, { author: self, answers: message(1).id, text: 'an answer to what is further back' }),
          message(8, { author: self, text: 'and its second part' }),
        ]),
    });
    expect(textsOf(await history.recent(channelId, 10))).toEqual([
      'message 2',
      'lunch\n-# for <@2>',
      'an answer to what is further back',
      'and its second part',
    ]);
  });

  it('leaves out what the bot says by itself by its form, as the outbox may not know its id [F2]', async () => {
    const self = { id: '1', name: 'Discoclaw', kind: 'self' } as const;
    const { history } = historyOf({
      fetchNewest: () =>
        Promise.resolve([
          message(1),
          message(2, { author: self, answers: message(1).id, text: '-# an answer in small print' }),
          message(3, { author: self, text: '-# 💭 May I remember: "tea"?\n-# 1 more' }),
          message(4, { author: self, text: 'The rest of a long answer\n-# with a small end' }),
          message(5, { author: self, text: '⚠️ My answer broke off here.\n-# 💾 Remembered: "tea"' }),
          message(6, { text: '-# said by a person' }),
          message(7, { author: self, text: '⏰ @Alice feed the cat\nand the dog' }),
          message(8, { author: self, text: '🔑 `Bob` (@Bob) has no access' }),
          message(9, { author: self, text: '⏳ You have begun 3 turns' }),
          message(10, { author: self, text: '📦 Here is everything', attachments: ['memory.zip'] }),
          message(11, { text: '!memory show' }),
          message(12, { author: self, answers: message(11).id, text: '1. I keep bees' }),
          message(13, { author: self, text: '2. I keep wasps' }),
        ]),
    });
    const recent = await history.recent(channelId, 10);
    expect(recent.map(({ id }) => id)).toEqual([1, 2, 4, 6].map((number) => message(number).id));
    // A reply to it shows it [RM5].
    expect(await history.isHidden(message(7, { author: self, text: '⏰ feed the cat' }))).toBe(false);
    const offered = offerText({ what: 'Send to <#2>:', words: 'the merger is on\n\nsoon' });
    expect(await history.isHidden(message(7, { author: self, text: offered ?? '' }))).toBe(true);
    const over = `${offered}\n-# Not done.`;
    expect(await history.isHidden(message(8, { author: self, text: over }))).toBe(true);
    const relayed = message(9, { author: self, text: 'lunch\n-# for <@2>', hasThirdPartyText: true });
    expect(await history.isHidden(relayed)).toBe(false);
    expect(await history.isHidden(message(3, { author: self, text: '-# Paused' }))).toBe(true);
  });

  it('leaves out what it cannot be sure of', async () => {
    const { history, logger } = historyOf({ hiddenIn: () => Promise.reject(new Error('disk')) });
    history.seen(message(1));
    expect(await history.recent(channelId, 10)).toEqual([]);
    expect(logger.warnings).toHaveLength(1);
  });

  it('never shows what was deleted, nor an old text, though the fetch was under way then', async () => {
    const answer = deferred<readonly ChatMessage[]>();
    const { history, fetches } = historyOf({ fetchNewest: () => answer.promise });
    const asked = [history.recent(channelId, 10), history.recent(channelId, 10)];
    history.removed(channelId, [message(1).id]);
    history.edited(channelId, message(2).id, 'corrected');
    history.seen(message(3));
    answer.resolve([message(1), message(2)]);
    const [first, second] = await Promise.all(asked);
    expect(textsOf(first ?? [])).toEqual(['corrected', 'message 3']);
    expect(second).toEqual(first);
    expect(fetches).toHaveLength(1);
  });
});
