import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import type { Reservation } from '../../src/core/model.ts';
import { createSpending, type DailyUse } from '../../src/observability/spending.ts';
import { aliceId, bobId } from '../support/incoming.ts';
import { recordingLogger } from '../support/recording-logger.ts';
import { SharedData } from '../support/shared-store.ts';
import { runs } from '../support/runs.ts';

function open(limits: { readonly dailyCost?: number; readonly dailyCostPerPerson?: number }) {
  const time = { now: new Date('2026-01-15T12:00:00Z') };
  const data = new SharedData({ now: () => time.now.getTime(), pause: () => 1 });
  const told: DailyUse[] = [];
  const openProcess = () =>
    createSpending({
      store: data.open().store,
      clock: () => time.now,
      timeZone: 'UTC',
      limits,
      tellOwner: (use) => Promise.resolve(void told.push(use)),
      logger: recordingLogger(),
    });
  return { data, time, told, processes: [openProcess(), openProcess()] as const };
}

const chat = (userId: string) => ({ userId, purpose: 'chat' }) as const;

describe('what model calls cost, counted by several processes [L2]', () => {
  it('stays within the limits in sum, whatever the order of calls, and frees what is not used', async () => {
    const call = fc.record({
      isFirst: fc.boolean(),
      userId: fc.constantFrom(aliceId, bobId),
      cents: fc.integer({ min: 1, max: 40 }),
      usedShare: fc.double({ min: 0, max: 1, noNaN: true }),
    });
    const property = fc.asyncProperty(fc.array(call, { maxLength: 20 }), async (calls) => {
      const { processes } = open({ dailyCost: 1, dailyCostPerPerson: 0.6 });
      const used = new Map<string, number>();
      await Promise.all(
        calls.map(async ({ isFirst, userId, cents, usedShare }) => {
          const usd = cents / 100;
          const reservation: Reservation | undefined = await processes[isFirst ? 0 : 1].budget
            ?.reserve(chat(userId), usd)
            .catch(() => undefined);
          if (reservation === undefined) return;
          used.set(userId, (used.get(userId) ?? 0) + usd * usedShare);
          reservation.settle(usd * usedShare);
        }),
      );
      for (const sum of used.values()) expect(sum).toBeLessThanOrEqual(0.6 + 1e-9);
      const total = [...used.values()].reduce((sum, usd) => sum + usd, 0);
      expect(total).toBeLessThanOrEqual(1 + 1e-9);
      await Promise.all(processes.map((each) => each.flush()));
      const left = 1 - total;
      // Who was never refused has all of the rest.
      if (left > 0.01 && !used.has(bobId))
        await processes[1].budget?.reserve(chat(bobId), Math.min(0.6, left - 0.005));
    });
    await fc.assert(property, { numRuns: runs(30) });
  });

  it('is told to the owner once, and goes with its person [K11]', async () => {
    const { data, told, processes } = open({ dailyCost: 1, dailyCostPerPerson: 1 });
    const [first, second] = processes;
    (await first.budget?.reserve(chat(aliceId), 0.5))?.settle();
    (await second.budget?.reserve(chat(bobId), 0.4))?.settle();
    await Promise.all(processes.map((each) => each.flush()));
    (await first.budget?.reserve(chat(aliceId), 0.05))?.settle();
    await first.flush();
    expect(told).toHaveLength(1);
    await second.layer.erase({ userId: aliceId, isWhole: true });
    expect(await data.common.list(`users/${aliceId}`)).toEqual([]);
  });

  it('is not refunded to another day or to an erased person', async () => {
    const { data, time, processes } = open({ dailyCost: 1, dailyCostPerPerson: 1 });
    const [first, second] = processes;
    const late = await first.budget?.reserve(chat(aliceId), 0.5);
    time.now = new Date('2026-01-16T00:01:00Z');
    await second.budget?.reserve(chat(aliceId), 0.9);
    late?.settle(0.1);
    await first.flush();
    await expect(second.budget?.reserve(chat(aliceId), 0.2)).rejects.toMatchObject({ failure: 'over-limit' });
    await expect(second.budget?.reserve(chat(bobId), 0.2)).rejects.toMatchObject({ failure: 'over-limit' });
    const asked = await first.budget?.reserve(chat(bobId), 0.05);
    await first.layer.erase({ userId: bobId, isWhole: true });
    asked?.settle(0.01);
    await first.flush();
    expect(await data.common.list(`users/${bobId}`)).toEqual([]);
  });

  it('is counted in the day that has begun, where the clock of another process is behind', async () => {
    const { time, processes } = open({ dailyCost: 1 });
    const [first, second] = processes;
    time.now = new Date('2026-01-16T00:00:01Z');
    await first.budget?.reserve(chat(aliceId), 0.9);
    time.now = new Date('2026-01-15T23:59:59Z');
    await expect(second.budget?.reserve(chat(bobId), 0.2)).rejects.toMatchObject({ failure: 'over-limit' });
  });
});
