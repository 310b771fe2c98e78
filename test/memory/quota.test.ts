import { describe, expect, it } from 'vitest';

import { tooMuch } from '../../src/memory/retention.ts';
import { createRecall } from '../../src/memory/recall/recall.ts';
import { createMessageSource } from '../../src/memory/recall/sources.ts';
import { aliceId, publicPlace } from '../support/incoming.ts';
import { channel, dmPlace, openSessions, session, startTime } from '../support/sessions.ts';
import { everybodyIn } from '../support/everybody.ts';
import { RecordingLogger } from '../support/recording-logger.ts';
import { unconditional } from '../../src/core/writes.ts';

const minuteMs = 60_000;

/** Alice's memory with a quota, what she can find in it, and how much is on disk. */
function openWithQuota(maxBytes: number) {
  const sessions = openSessions();
  const { store, writes, log, states, time, clock } = sessions;
  const recall = createRecall({ sources: [createMessageSource(log)], timeZone: 'UTC' });
  const logger = new RecordingLogger();
  const row = tooMuch({ store, writes, log, states, maxBytes, folds: ['rolling'], logger });
  const speaker = { id: aliceId, isOwner: false };
  return {
    ...sessions,
    quota: () => row(everybodyIn([aliceId])),
    logger,
    /** A minute passes with each turn, so that every message has a time of its own. */
    turns: async (from: number, to: number, place = publicPlace) => {
      for (let number = from; number <= to; number += 1) {
        time.now = startTime + number * minuteMs;
        await sessions.turn(`word${number} ${'x'.repeat(200)}`, 'ok', place);
      }
    },
    /** A summary holds the log up to a line. */
    fold: (cursor: number, of = session) =>
      states.update({ ...of, ...unconditional(of.userId) }, (state) => ({
        ...state,
        rolling: { from: 0, cursor, seen: cursor, revision: 1, rebuild: false },
      })),
    isFound: async (number: number) => {
      const request = {
        queries: [`word${number}`],
        scope: 'all',
        limit: 5,
        place: dmPlace,
        excluded: [],
      } as const;
      return (await recall.search({ ...request, speaker, now: clock() })).length > 0;
    },
    bytes: async () => (await store.list('sessions')).reduce((sum, { bytes }) => sum + bytes, 0),
  };
}

describe('a person’s quota [L3]', () => {
  it('lets the oldest messages go that every layer has folded, wherever they were said; recall finds them no more', async () => {
    const { quota, turns, fold, isFound, bytes, states, log } = openWithQuota(20_000);
    const dev = channel('dev', '200000000000000002');
    const inDev = { ...session, channelId: dev.channelId };
    await turns(1, 20);
    await turns(21, 60, dev);
    await fold(40);
    await fold(80, inDev);
    expect(await isFound(1)).toBe(true);
    expect(await bytes()).toBeGreaterThan(20_000);

    await quota();

    expect(await bytes()).toBeLessThanOrEqual(18_500);
    expect(await Promise.all([1, 20, 60].map(isFound))).toEqual([false, false, true]);
    expect((await states.read(session)).rolling?.cursor).toBe(40);
    // The next message goes on where the log was.
    await turns(61, 61);
    expect(await log.lastSequence(session)).toBe(42);
  });

  it('lets nothing go that a layer has yet to fold, and says that it is too much', async () => {
    const { quota, turns, fold, isFound, logger } = openWithQuota(5_000);
    await turns(1, 30);
    await fold(20);

    await quota();

    expect(await Promise.all([1, 10, 11, 30].map(isFound))).toEqual([false, false, true, true]);
    expect(logger.warnings).toEqual(['a person has more on disk than their quota']);
  });

  it('changes nothing within it, and keeps the newest 400 daily logs', async () => {
    const { quota, turns, fold, isFound, store } = openWithQuota(1_000_000);
    await turns(1, 5);
    await fold(10);
    for (let day = 0; day < 410; day += 1) {
      const date = new Date(startTime + day * 24 * 60 * minuteMs).toISOString().slice(0, 10);
      await store.writeText(`users/${aliceId}/notebook/daily/${date}.md`, 'A day.');
    }

    await quota();

    expect(await isFound(1)).toBe(true);
    const days = await store.list(`users/${aliceId}/notebook/daily`);
    expect(days).toHaveLength(400);
    expect(days[0]?.path).toBe('2026-01-25.md');
  });
});
