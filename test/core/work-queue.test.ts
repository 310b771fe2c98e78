import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { createWorkQueue, type WorkLease } from '../../src/core/work-queue.ts';
import { deferred } from '../support/deferred.ts';
import { ManualTimer } from '../support/manual-timer.ts';
import { recordingLogger } from '../support/recording-logger.ts';
import { runs } from '../support/runs.ts';

const [alice, bob] = ['100000000000000001', '100000000000000002'];

function openQueue() {
  const timer = new ManualTimer();
  const logger = recordingLogger();
  const queue = createWorkQueue({ clock: () => new Date(timer.now), timer: timer.set, logger });
  return { queue, timer, logger };
}

const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('work that waits by person, in one process [X5]', () => {
  it('makes one lease of a burst, a moment later; what came meanwhile is done once more afterwards', async () => {
    const { queue, timer } = openQueue();
    const leases: (readonly string[])[] = [];
    const gate = deferred<void>();
    queue.start(async ({ userId, keys }) => {
      leases.push([userId, ...keys]);
      if (leases.length === 1) await gate.promise;
    });
    for (const key of ['one', 'two', 'one']) await queue.add(alice, key);
    timer.pass(50);
    expect(leases).toEqual([]);
    timer.pass(50);
    await queue.add(alice, 'two');
    await queue.add(bob, 'other');
    timer.pass(1000);
    expect(leases).toEqual([
      [alice, 'one', 'two'],
      [bob, 'other'],
    ]);
    gate.resolve();
    await queue.idle();
    expect(leases.slice(2)).toEqual([[alice, 'two']]);
    expect(queue.size).toBe(0);
  });

  it('takes again what could not be done, or was ended, and not what was dropped', async () => {
    const { queue, timer, logger } = openQueue();
    const taken: string[] = [];
    queue.start(async ({ keys, signal }: WorkLease) => {
      taken.push(...keys);
      if (keys.includes('fails') && taken.length === 1) throw new Error('not yet');
      if (keys.includes('waits'))
        await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    });
    await queue.add(alice, 'fails');
    await queue.idle();
    expect(logger.warnings).toHaveLength(1);
    timer.pass(30_000);
    await queue.idle();
    expect(taken).toEqual(['fails', 'fails']);
    await queue.add(bob, 'waits');
    timer.pass(100);
    queue.end(bob);
    await settle();
    timer.pass(100);
    expect(taken.slice(2)).toEqual(['waits', 'waits']);
    await queue.add(bob, 'more');
    await queue.drop(bob);
    await queue.idle();
    timer.pass(100_000);
    expect(taken).toHaveLength(4);
  });

  it('takes nothing more once it stops, and ends what runs', async () => {
    const { queue, timer } = openQueue();
    let isEnded = false;
    queue.start(
      ({ signal }) =>
        new Promise((resolve) =>
          signal.addEventListener('abort', () => {
            isEnded = true;
            resolve();
          }),
        ),
    );
    await queue.add(alice, 'runs');
    await queue.add(bob, 'waits', new Date(1000));
    timer.pass(100);
    queue.stopTaking();
    timer.pass(10_000);
    expect([isEnded, queue.size]).toEqual([false, 2]);
    queue.stop();
    await queue.idle();
    expect(isEnded).toBe(true);
  });

  it('does everything that was added, when its time has come and not before, one lease of a person at a time', async () => {
    const step = fc.record({
      userId: fc.constantFrom(alice, bob),
      key: fc.constantFrom('a', 'b'),
      wait: fc.integer({ min: 0, max: 5000 }),
      pass: fc.integer({ min: 0, max: 3000 }),
      takes: fc.nat({ max: 2 }),
    });
    const property = fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      const { queue, timer } = openQueue();
      const due = new Map<string, number>();
      const running = new Set<string>();
      let takes = 0;
      queue.start(async ({ userId, keys }) => {
        expect(running.has(userId)).toBe(false);
        running.add(userId);
        for (const key of keys) {
          expect(due.get(`${userId} ${key}`)).toBeLessThanOrEqual(timer.now);
          due.delete(`${userId} ${key}`);
        }
        for (let round = 0; round < takes; round += 1) await settle();
        running.delete(userId);
      });
      for (const each of steps) {
        ({ takes } = each);
        const at = timer.now + each.wait;
        const name = `${each.userId} ${each.key}`;
        due.set(name, Math.min(at, due.get(name) ?? at));
        await queue.add(each.userId, each.key, new Date(at));
        timer.pass(each.pass);
        await settle();
      }
      timer.pass(10_000);
      await queue.idle();
      expect(due.size).toBe(0);
    });
    await fc.assert(property, { numRuns: runs(100) });
  });
});
