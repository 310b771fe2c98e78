import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { ModelError, StoreError } from '../../src/core/errors.ts';
import type { OwnerNews, Reservation } from '../../src/core/model.ts';
import type { Store } from '../../src/core/store.ts';
import type { ExportedFile } from '../../src/memory/layer.ts';
import { createSpending, type SpendingOptions } from '../../src/observability/spending.ts';
import { aliceId, bobId } from '../support/incoming.ts';
import { MemoryStore } from '../support/memory-store.ts';
import { recordingLogger } from '../support/recording-logger.ts';
import { runs } from '../support/runs.ts';
import { SharedData } from '../support/shared-store.ts';

const chat = (userId = aliceId) => ({ userId, purpose: 'chat' }) as const;
const summary = (userId = aliceId) => ({ userId, purpose: 'summary' }) as const;

function spendingOver(store: Store, limits: SpendingOptions['limits']) {
  const logger = recordingLogger();
  const time = { now: new Date('2026-01-15T22:30:00Z') };
  const told: OwnerNews[] = [];
  const spending = createSpending({
    store,
    clock: () => time.now,
    timeZone: 'Europe/Berlin',
    limits,
    tellOwner: (use) => Promise.resolve(void told.push(use)),
    logger,
  });
  const reserve = (call: ReturnType<typeof chat | typeof summary>, usd: number): Promise<Reservation> => {
    if (spending.budget === undefined) throw new Error('There is no limit');
    return spending.budget.reserve(call, usd);
  };
  return { spending, reserve, logger, time, told };
}

const overLimit = (): unknown => expect.objectContaining({ failure: 'over-limit' });

describe('what model calls may cost a day [L2]', () => {
  it('is bounded by what calls can cost at most, and then by what they did cost', async () => {
    const { spending, reserve } = spendingOver(new MemoryStore(), { dailyCost: 1 });
    const first = await reserve(chat(), 0.6);
    await expect(reserve(chat(), 0.6)).rejects.toEqual(overLimit());
    first.charge(0.1);
    first.charge(0.9);
    await spending.flush();
    (await reserve(chat(bobId), 0.6)).charge();
    await expect(reserve(chat(), 0.31)).rejects.toEqual(overLimit());
    await reserve(chat(), 0.29);
  });

  it('is bounded for each person by itself', async () => {
    const { reserve } = spendingOver(new MemoryStore(), { dailyCostPerPerson: 0.5 });
    (await reserve(chat(), 0.5)).charge();
    await expect(reserve(summary(), 0.01)).rejects.toEqual(overLimit());
    await reserve(chat(bobId), 0.5);
  });

  it('starts at zero with the local day', async () => {
    const store = new MemoryStore();
    const { spending, reserve, time } = spendingOver(store, { dailyCost: 1, dailyCostPerPerson: 1 });
    const late = await reserve(chat(), 1);
    time.now = new Date('2026-01-15T23:00:00Z');
    await reserve(chat(bobId), 0.5);
    late.charge();
    (await reserve(chat(bobId), 0.5)).charge(0.5);
    await spending.flush();
    for (const key of ['spending.json', `users/${bobId}/spending.json`])
      expect(JSON.parse((await store.readText(key)) ?? '')).toMatchObject({ day: '2026-01-16', usd: 1 });
  });

  it('is exact after a stop; calls open at a kill count in full', async () => {
    const store = new MemoryStore();
    const before = spendingOver(store, { dailyCost: 1 });
    (await before.reserve(chat(), 0.6)).charge(0.1);
    await before.spending.flush();
    const second = spendingOver(store, { dailyCost: 1 });
    await second.reserve(chat(), 0.9);
    const third = spendingOver(store, { dailyCost: 1 });
    await expect(third.reserve(chat(), 0.01)).rejects.toEqual(overLimit());
  });

  it('goes on in memory while the disk refuses, and asks nothing where it cannot be read', async () => {
    const store = new MemoryStore();
    const update = store.update.bind(store);
    const read = store.read.bind(store);
    store.update = () => Promise.reject(new StoreError('full', 'spending.json'));
    const { reserve, logger } = spendingOver(store, { dailyCost: 1 });
    (await reserve(chat(), 0.7)).charge();
    await expect(reserve(chat(), 0.7)).rejects.toEqual(overLimit());
    expect(logger.errors).toContain('model cost could not be saved; counting in memory');

    store.read = () => Promise.reject(new StoreError('broken', 'spending.json'));
    const next = spendingOver(store, { dailyCost: 1 });
    await expect(next.reserve(chat(), 0.1)).rejects.toMatchObject({ failure: 'unavailable' });
    store.update = update;
    store.read = read;
    await next.reserve(chat(), 0.1);
  });

  it('lets the owner know once a day that most of it is used, over a restart too', async () => {
    const store = new MemoryStore();
    const { spending, reserve, told, time } = spendingOver(store, { dailyCost: 10 });
    (await reserve(chat(), 5)).charge(5);
    await spending.flush();
    expect(told).toEqual([]);
    (await reserve(chat(), 5)).charge(3);
    await spending.flush();
    (await reserve(chat(), 1)).charge(0.5);
    await spending.flush();
    expect(told).toEqual([{ day: '2026-01-15', spent: 8, limit: 10 }]);
    const next = spendingOver(store, { dailyCost: 10 });
    (await next.reserve(chat(), 1)).charge(1);
    await next.spending.flush();
    expect(next.told).toEqual([]);
    time.now = new Date('2026-01-16T12:00:00Z');
    (await reserve(chat(), 9)).charge(9);
    await spending.flush();
    expect(told).toHaveLength(2);
  });

  it('lets the owner know once a day in all of accounts, beside the limit and over a restart [M16]', async () => {
    const store = new MemoryStore();
    const { spending, reserve, told, time } = spendingOver(store, { dailyCost: 10 });
    (await reserve(chat(), 9)).charge(9);
    await spending.flush();
    await spending.tellOfAccount('out-of-credit', 'opus');
    await spending.tellOfAccount('unauthorized', 'haiku');
    expect(told.slice(1)).toEqual([{ day: '2026-01-15', spent: 9, model: 'opus', failure: 'out-of-credit' }]);
    const next = spendingOver(store, {});
    await next.spending.tellOfAccount('out-of-credit', 'opus');
    expect(next.told).toEqual([]);
    time.now = new Date('2026-01-16T12:00:00Z');
    await spending.tellOfAccount('out-of-credit', 'opus');
    expect(told).toHaveLength(3);
  });

  it('tells when background work that was refused can be done, once', async () => {
    const { spending, reserve, time } = spendingOver(new MemoryStore(), { dailyCost: 1 });
    await expect(reserve(chat(), 2)).rejects.toBeInstanceOf(ModelError);
    expect(spending.heldUntil(aliceId)).toBeUndefined();
    await expect(reserve(summary(), 2)).rejects.toBeInstanceOf(ModelError);
    expect(spending.heldUntil(bobId)).toBeUndefined();
    expect(spending.heldUntil(aliceId)).toEqual(new Date('2026-01-15T23:00:00Z'));
    expect(spending.heldUntil(aliceId)).toBeUndefined();
    await expect(reserve(summary(), 2)).rejects.toBeInstanceOf(ModelError);
    time.now = new Date('2026-01-15T23:00:01Z');
    expect(spending.heldUntil(aliceId)).toEqual(time.now);
  });

  it('is exported for its person and goes with an erasing, also while calls are open [K10][K11]', async () => {
    const store = new MemoryStore();
    const { spending, reserve } = spendingOver(store, { dailyCost: 9, dailyCostPerPerson: 1 });
    const open = await reserve(chat(), 0.5);
    (await reserve(chat(bobId), 0.5)).charge();
    await spending.flush();
    const exported = async () => {
      const files: ExportedFile[] = [];
      for await (const file of spending.layer.export(aliceId)) files.push(file);
      return files;
    };
    const [file] = await exported();
    expect(file?.path).toBe('cost.json');
    expect(JSON.parse(file?.text ?? '')).toEqual({ day: '2026-01-15', usd: expect.any(Number) });
    await spending.layer.delete({ kind: 'person', userId: aliceId });
    const left = async () => (await store.list('users')).map(({ path }) => path);
    expect(await left()).toEqual([`${bobId}/spending.json`]);
    open.charge();
    (await reserve(chat(bobId), 0.1)).charge();
    await spending.flush();
    expect(await left()).toEqual([`${bobId}/spending.json`]);
    expect(await exported()).toEqual([]);
  });
});

/** Two processes over one store. */
function openTwo(limits: SpendingOptions['limits']) {
  const time = { now: new Date('2026-01-15T12:00:00Z') };
  const data = new SharedData({ now: () => time.now.getTime(), pause: () => 1 });
  const told: OwnerNews[] = [];
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

describe('what model calls cost, counted by several processes [L2]', () => {
  it('stays within the limits in sum, whatever the order of calls, and frees what is not used', async () => {
    const call = fc.record({
      isFirst: fc.boolean(),
      userId: fc.constantFrom(aliceId, bobId),
      cents: fc.integer({ min: 1, max: 40 }),
      usedShare: fc.double({ min: 0, max: 1, noNaN: true }),
    });
    const property = fc.asyncProperty(fc.array(call, { maxLength: 20 }), async (calls) => {
      const { processes } = openTwo({ dailyCost: 1, dailyCostPerPerson: 0.6 });
      const used = new Map<string, number>();
      await Promise.all(
        calls.map(async ({ isFirst, userId, cents, usedShare }) => {
          const usd = cents / 100;
          const reservation: Reservation | undefined = await processes[isFirst ? 0 : 1].budget
            ?.reserve(chat(userId), usd)
            .catch(() => undefined);
          if (reservation === undefined) return;
          used.set(userId, (used.get(userId) ?? 0) + usd * usedShare);
          reservation.charge(usd * usedShare);
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

  it('is not refunded to another day or to an erased person', async () => {
    const { data, time, processes } = openTwo({ dailyCost: 1, dailyCostPerPerson: 1 });
    const [first, second] = processes;
    const late = await first.budget?.reserve(chat(aliceId), 0.5);
    time.now = new Date('2026-01-16T00:01:00Z');
    await second.budget?.reserve(chat(aliceId), 0.9);
    late?.charge(0.1);
    await first.flush();
    await expect(second.budget?.reserve(chat(aliceId), 0.2)).rejects.toMatchObject({ failure: 'over-limit' });
    await expect(second.budget?.reserve(chat(bobId), 0.2)).rejects.toMatchObject({ failure: 'over-limit' });
    const asked = await first.budget?.reserve(chat(bobId), 0.05);
    await first.layer.delete({ kind: 'person', userId: bobId });
    asked?.charge(0.01);
    await first.flush();
    expect(await data.common.list(`users/${bobId}`)).toEqual([]);
  });
});
