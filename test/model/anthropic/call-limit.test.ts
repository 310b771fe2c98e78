import { describe, expect, it } from 'vitest';

import { failureOf } from '../failure-of.ts';
import { clientOf, request } from './client-under-test.ts';

describe('the limit of calls', () => {
  it('is kept, and all calls get their turn', async () => {
    const { client, server } = await clientOf(() => ({ text: 'Hi', delayMs: 30 }), { concurrency: 2 });

    await Promise.all(Array.from({ length: 8 }, () => client.complete(request())));

    expect(server.requests).toHaveLength(8);
    expect(server.peakConcurrency).toBe(2);
  });

  it('turns away what would wait too long', async () => {
    const { client, server } = await clientOf(() => ({ text: 'Hi', delayMs: 50 }), {
      concurrency: 1,
      queueLimit: 2,
    });
    const calls = Array.from({ length: 5 }, () => client.complete(request()));

    const outcomes = await Promise.allSettled(calls);

    expect(outcomes.map(({ status }) => status)).toEqual([
      'fulfilled',
      'fulfilled',
      'fulfilled',
      'rejected',
      'rejected',
    ]);
    const last = outcomes.at(-1);
    expect(last?.status === 'rejected' && last.reason).toMatchObject({ failure: 'busy' });
    expect(server.requests).toHaveLength(3);
  });

  it('tells who has to wait, and when the waiting is over', async () => {
    const { client } = await clientOf(() => ({ text: 'Hi', delayMs: 20 }), { concurrency: 1 });
    const told: string[] = [];
    const ask = (name: string) =>
      client.complete(request(), {
        onText: () => told.push(`${name} speaks`),
        onQueue: (isWaiting) => told.push(`${name} ${isWaiting ? 'waits' : 'begins'}`),
      });

    await Promise.all([ask('first'), ask('second')]);

    expect(told).toEqual(['second waits', 'first speaks', 'second begins', 'second speaks']);
  });

  it('lets the next call through after a failed one', async () => {
    const { client } = await clientOf((_, index) => (index === 0 ? { status: 400 } : { text: 'Hi' }), {
      concurrency: 1,
    });

    const [failed, fine] = await Promise.allSettled([client.complete(request()), client.complete(request())]);

    expect([failed?.status, fine?.status]).toEqual(['rejected', 'fulfilled']);
  });

  it('counts the time in the queue', async () => {
    const { client } = await clientOf(() => 'silent', { concurrency: 1, totalTimeoutMs: 150 });

    const failures = await Promise.all([1, 2].map(() => failureOf(client.complete(request()))));

    expect(failures.map(({ failure }) => failure)).toEqual(['timeout', 'timeout']);
  });
});
