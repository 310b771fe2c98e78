import { setTimeout as delay } from 'node:timers/promises';

import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { ChannelOrder } from '../../src/discord/channel-order.ts';
import { deferred } from './support/deferred.ts';

describe('the order of a channel', () => {
  it('never lets a later event overtake an earlier one, however long that takes', async () => {
    const jobs = fc.array(
      fc.record({ channel: fc.constantFrom('a', 'b'), ms: fc.integer({ min: 0, max: 3 }) }),
      {
        maxLength: 12,
      },
    );
    await fc.assert(
      fc.asyncProperty(jobs, async (given) => {
        const order = new ChannelOrder();
        const done: Record<string, number[]> = { a: [], b: [] };
        for (const [index, { channel, ms }] of given.entries()) {
          void order.run(channel, async () => {
            await delay(ms);
            done[channel]?.push(index);
          });
        }
        await order.idle();
        for (const channel of ['a', 'b']) {
          expect(done[channel]).toEqual(
            [...given.keys()].filter((index) => given[index]?.channel === channel),
          );
        }
      }),
      { numRuns: 30 },
    );
  });

  it('does not let one channel wait for another', async () => {
    const order = new ChannelOrder();
    const done: string[] = [];
    const work = deferred<void>();
    const slow = order.run('a', async () => {
      await work.promise;
      done.push('a');
    });
    await order.run('b', () => void done.push('b'));
    work.resolve();
    await slow;
    expect(done).toEqual(['b', 'a']);
  });
});
