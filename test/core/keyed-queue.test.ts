import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { createKeyedQueue } from '../../src/core/keyed-queue.ts';
import { runs } from '../support/runs.ts';

const turnOfTheLoop = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('createKeyedQueue', () => {
  it('does not let a job that never ends hold up its key for ever, where it has a limit [L5]', async () => {
    const queue = createKeyedQueue({ patienceMs: 20 });
    const never = queue.run('anna', () => new Promise<void>(() => undefined));
    expect(await queue.run('anna', () => Promise.resolve('next'))).toBe('next');
    await expect(queue.run('anna', () => Promise.reject(new Error('failed')))).rejects.toThrow('failed');
    await queue.idle();
    expect(queue.size).toBe(0);
    expect(await Promise.race([never, turnOfTheLoop().then(() => 'still running')])).toBe('still running');
  });

  it('is idle only when jobs added by jobs, and follow-ups to them, have ended', async () => {
    const queue = createKeyedQueue();
    const ended: string[] = [];
    async function conversation(): Promise<void> {
      await queue.run('anna', async () => {
        await turnOfTheLoop();
        ended.push('first');
        void queue.run('ben', async () => {
          await turnOfTheLoop();
          ended.push('added by a job');
        });
      });
      await queue.run('anna', async () => {
        await turnOfTheLoop();
        ended.push('follow-up');
      });
    }
    void conversation();
    await queue.idle();
    expect(ended.toSorted()).toEqual(['added by a job', 'first', 'follow-up']);
  });

  it('never has two jobs of a key at once, keeps their order, and runs every one', async () => {
    const jobs = fc.array(
      fc.record({ key: fc.constantFrom('a', 'b', 'c'), turns: fc.nat({ max: 3 }), fails: fc.boolean() }),
      { maxLength: 30 },
    );
    await fc.assert(
      fc.asyncProperty(jobs, async (planned) => {
        const queue = createKeyedQueue();
        const active = new Map<string, number>();
        const started = new Map<string, number[]>();
        const results = planned.map(({ key, turns, fails }, index) =>
          queue.run(key, async () => {
            active.set(key, (active.get(key) ?? 0) + 1);
            started.set(key, [...(started.get(key) ?? []), index]);
            expect(active.get(key)).toBe(1);
            for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
            active.set(key, (active.get(key) ?? 0) - 1);
            if (fails) throw new Error('planned');
            return index;
          }),
        );
        const settled = await Promise.allSettled(results);
        await queue.idle();
        expect(settled.map(({ status }) => status)).toEqual(
          planned.map(({ fails }) => (fails ? 'rejected' : 'fulfilled')),
        );
        for (const order of started.values()) expect(order).toEqual(order.toSorted((a, b) => a - b));
        expect(queue.size).toBe(0);
      }),
      { numRuns: runs(100) },
    );
  });
});
