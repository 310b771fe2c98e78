import { describe, expect, it } from 'vitest';

import { StoreError } from '../../src/core/errors.ts';
import type { SessionKey } from '../../src/core/place.ts';
import { snowflakeAt } from '../../src/core/snowflake.ts';
import { createChannelJournal } from '../../src/turn/channel-journal.ts';
import type { ChannelJournal, PreparedReply } from '../../src/turn/channel-journal.ts';
import { keptBackLine } from '../../src/turn/failure-line.ts';
import { recover } from '../../src/turn/recover.ts';
import type { RecoveryOptions } from '../../src/turn/recover.ts';
import { aliceId, generalId, publicPlace } from '../support/incoming.ts';
import { MemoryStore } from '../support/memory-store.ts';
import { recordingLogger } from '../support/recording-logger.ts';
import { secretPlace, session } from '../support/sessions.ts';

const now = new Date('2026-01-15T10:00:00Z');
const recent = snowflakeAt(new Date(now.getTime() - 60_000));
const old = snowflakeAt(new Date(now.getTime() - 600_000));

async function start(
  messageId: string,
  changes: (journal: ChannelJournal) => Partial<RecoveryOptions>,
  prepared: Partial<PreparedReply> = {},
) {
  const journal = createChannelJournal({ store: new MemoryStore() });
  await journal.prepare({
    messageIds: [messageId],
    userId: aliceId,
    speakerName: 'Alice',
    place: publicPlace,
    text: 'ready',
    ...prepared,
  });
  const sent: string[] = [];
  const logged: string[] = [];
  const scheduled: SessionKey[] = [];
  await recover({
    journal,
    sessionLog: {
      recordReply: (_context, { text }) => Promise.resolve(void logged.push(text)),
      sessions: () => Promise.resolve([session]),
    },
    afterTurn: { schedule: (each) => scheduled.push(each) },
    finishRetractions: () => Promise.resolve(),
    replies: {
      typing: () => () => {},
      send: async (_channel, text, nonceBase, beforeSeen) => {
        sent.push(`${text} as ${nonceBase}`);
        await beforeSeen?.('900000000000000001');
        return ['900000000000000001'];
      },
    },
    presentPlace: (place) => Promise.resolve(place),
    clock: () => now,
    logger: recordingLogger(),
    ...changes(journal),
  });
  return { journal, sent, logged, scheduled };
}

describe('recovery after a kill', () => {
  it('sends an answer that was ready under its old nonce, logs it, and lets the layers go on', async () => {
    const { journal, sent, logged, scheduled } = await start(recent, () => ({}));
    expect(sent).toEqual([`ready as ${recent}`]);
    expect(logged).toEqual(['ready']);
    expect(await journal.isHandled(generalId, recent)).toBe(true);
    expect(scheduled).toEqual([session]);
  });

  it('keeps the answer to a command out of history, also where the kill came before it was noted', async () => {
    const { journal, sent, logged } = await start(recent, () => ({}), { isCommand: true });
    expect(sent).toEqual([`ready as ${recent}`]);
    expect(logged).toEqual([]);
    expect(await journal.isHidden(generalId, '900000000000000001')).toBe(true);
    expect(await journal.isHandled(generalId, recent)).toBe(true);
  });

  it('keeps back what was made for a channel that has become public', async () => {
    for (const isCommand of [true, undefined]) {
      const { journal, sent, logged } = await start(
        recent,
        () => ({ presentPlace: () => Promise.resolve(publicPlace) }),
        { place: secretPlace, ...(isCommand && { isCommand }) },
      );
      expect(sent).toEqual([`${keptBackLine} as ${recent}`]);
      expect(logged).toEqual([]);
      expect(await journal.isHidden(generalId, '900000000000000001')).toBe(true);
      expect(await journal.isHandled(generalId, recent)).toBe(true);
    }
  });

  it('answers nothing that is older than five minutes', async () => {
    const { journal, sent } = await start(old, () => ({}));
    expect(sent).toEqual([]);
    expect(await journal.isHandled(generalId, old)).toBe(true);
  });

  it('leaves what could not be sent to catching up, so that the person still gets an answer', async () => {
    const { journal, scheduled } = await start(recent, () => ({
      replies: { typing: () => () => {}, send: () => Promise.reject(new Error('Discord is away')) },
    }));
    expect(await journal.isHandled(generalId, recent)).toBe(false);
    expect(scheduled).toEqual([session]);
  });

  it('does not answer again what was sent, though the disk refuses to log it', async () => {
    const { journal } = await start(recent, () => ({
      sessionLog: {
        recordReply: () => Promise.reject(new StoreError('full', 'log')),
        sessions: () => Promise.resolve([]),
      },
    }));
    expect(await journal.isHandled(generalId, recent)).toBe(true);
  });

  it('goes on with the other channels where one cannot be read', async () => {
    const { sent, scheduled } = await start(recent, (journal) => ({
      journal: {
        ...journal,
        channels: () => Promise.resolve(['200000000000000099', generalId]),
        unsent: (channelId) =>
          channelId === generalId
            ? journal.unsent(channelId)
            : Promise.reject(new StoreError('unreadable', channelId)),
      },
    }));
    expect(sent).toHaveLength(1);
    expect(scheduled).toHaveLength(1);
  });

  it('takes a deletion to the layers that it had not reached, and goes on where that fails', async () => {
    const finished: SessionKey[] = [];
    const { scheduled } = await start(recent, () => ({
      finishRetractions: (each) => {
        finished.push(each);
        return Promise.reject(new StoreError('full', 'durable'));
      },
    }));
    expect(finished).toEqual([session]);
    expect(scheduled).toEqual([session]);
  });
});
