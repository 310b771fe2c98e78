import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import type { SessionKey } from '../../src/core/place.ts';
import { processTimer } from '../../src/core/time.ts';
import { IdleSessions } from '../../src/turn/after-turn.ts';
import { aliceId, bobId, generalId } from '../support/incoming.ts';

const alice: SessionKey = { channelId: generalId, userId: aliceId };
const bob: SessionKey = { channelId: generalId, userId: bobId };

/** Sessions under a clock that a test moves; at most one timer is set at a time. */
function setUp() {
  let now = 0;
  let set: { readonly at: number; readonly callback: () => void } | undefined;
  const woken: { readonly userId: string; readonly at: number }[] = [];
  const sessions = new IdleSessions({
    schedule: ({ userId }) => woken.push({ userId, at: now }),
    clock: () => new Date(now),
    timer(callback, ms) {
      expect(set).toBeUndefined();
      expect(ms).toBeLessThan(2 ** 31);
      set = { at: now + ms, callback };
      return () => {
        set = undefined;
      };
    },
  });
  return {
    sessions,
    woken,
    isTimerSet: () => set !== undefined,
    wakeAt: (session: SessionKey, time: number) => sessions.wakeAt(session, new Date(time)),
    pass: (ms: number): void => {
      const end = now + ms;
      while (set !== undefined && set.at <= end) {
        const { at, callback } = set;
        now = Math.max(now, at);
        set = undefined;
        callback();
      }
      now = end;
    },
  };
}

function sorted(list: readonly { readonly userId: string; readonly at: number }[]): readonly string[] {
  return list.map(({ userId, at }) => `${at} ${userId}`).toSorted();
}

describe('idle sessions', () => {
  it('are woken when their time has come, once', () => {
    const { woken, wakeAt, pass, isTimerSet } = setUp();
    wakeAt(alice, 1000);
    wakeAt(bob, 400);
    pass(399);
    expect(woken).toEqual([]);
    pass(10_000);
    expect(woken).toEqual([
      { userId: bobId, at: 400 },
      { userId: aliceId, at: 1000 },
    ]);
    expect(isTimerSet()).toBe(false);
  });

  it('are woken at the newest time they were given', () => {
    const { woken, wakeAt, pass } = setUp();
    wakeAt(alice, 1000);
    pass(900);
    wakeAt(alice, 1900);
    pass(5000);
    expect(woken).toEqual([{ userId: aliceId, at: 1900 }]);
  });

  it('are woken at once when their time is past, and after months when it is far', () => {
    const { woken, wakeAt, pass } = setUp();
    const months = 100 * 86_400_000;
    wakeAt(alice, -5);
    wakeAt(bob, months);
    pass(0);
    expect(woken).toEqual([{ userId: aliceId, at: 0 }]);
    pass(months);
    expect(woken[1]).toEqual({ userId: bobId, at: months });
  });

  it('sleep on once stopped', () => {
    const { sessions, woken, wakeAt, pass, isTimerSet } = setUp();
    wakeAt(alice, 10);
    sessions.stop();
    wakeAt(bob, 20);
    expect(isTimerSet()).toBe(false);
    pass(100);
    expect(woken).toEqual([]);
  });

  it('always wake at the last time given, never before and never twice', () => {
    const step = fc.record({
      user: fc.constantFrom(alice, bob),
      wait: fc.integer({ min: 0, max: 50 }),
      pass: fc.integer({ min: 0, max: 30 }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        const { woken, wakeAt, pass } = setUp();
        const expected: { userId: string; at: number }[] = [];
        const due = new Map<string, number>();
        let now = 0;
        const advance = (ms: number): void => {
          now += ms;
          for (const [userId, at] of due) {
            if (at > now) continue;
            expected.push({ userId, at });
            due.delete(userId);
          }
          pass(ms);
        };
        for (const { user, wait, pass: ms } of steps) {
          wakeAt(user, now + wait);
          due.set(user.userId, now + wait);
          advance(ms);
        }
        advance(1000);
        expect(sorted(woken)).toEqual(sorted(expected));
      }),
    );
  });

  it('are woken by the real timer too, which can be cancelled', async () => {
    let rings = 0;
    const cancel = processTimer(() => (rings += 10), 5);
    cancel();
    processTimer(() => (rings += 1), 5);
    await expect.poll(() => rings).toBe(1);
  });
});
