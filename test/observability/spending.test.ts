import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { ModelError, StoreError } from '../../src/core/errors.ts';
import type { Reservation } from '../../src/core/model.ts';
import type { DocumentKind, Store, Versioned } from '../../src/core/store.ts';
import type { ExportedFile } from '../../src/memory/layer.ts';
import { createSpending, type DailyUse, type SpendingOptions } from '../../src/observability/spending.ts';
import { aliceId, bobId } from '../support/incoming.ts';
import { MemoryStore } from '../support/memory-store.ts';
import { recordingLogger } from '../support/recording-logger.ts';
import { runs } from '../support/runs.ts';

const chat = (userId = aliceId) => ({ userId, purpose: 'chat' }) as const;
const summary = (userId = aliceId) => ({ userId, purpose: 'summary' }) as const;

/** Sums of thousands of prices in floating-point numbers; US dollars. */
const rounding = 1e-9;

function spendingOver(
  store: Store,
  limits: SpendingOptions['limits'],
  changes: Partial<SpendingOptions> = {},
) {
  const logger = recordingLogger();
  const time = { now: new Date('2026-01-15T22:30:00Z') };
  const told: DailyUse[] = [];
  const spending = createSpending({
    store,
    clock: () => time.now,
    timeZone: 'Europe/Berlin',
    limits,
    tellOwner: (use) => Promise.resolve(void told.push(use)),
    logger,
    ...changes,
  });
  const reserve = (call: ReturnType<typeof chat | typeof summary>, usd: number): Promise<Reservation> => {
    if (spending.budget === undefined) throw new Error('There is no limit');
    return spending.budget.reserve(call, usd);
  };
  return { spending, reserve, logger, time, told };
}

const overLimit = (): unknown => expect.objectContaining({ failure: 'over-limit' });

describe('what model calls may cost a day [L2]', () => {
  it('is unlimited by default: nothing is counted or written', async () => {
    const store = new MemoryStore();
    const { spending } = spendingOver(store, {});
    await spending.flush();
    expect(spending.budget).toBeUndefined();
    expect(await store.everything()).toBe('');
  });

  it('is bounded by what calls can cost at most, and then by what they did cost', async () => {
    const { spending, reserve } = spendingOver(new MemoryStore(), { dailyCost: 1 });
    const first = await reserve(chat(), 0.6);
    await expect(reserve(chat(), 0.6)).rejects.toEqual(overLimit());
    first.settle(0.1);
    first.settle(0.9);
    await spending.flush();
    (await reserve(chat(bobId), 0.6)).settle();
    await expect(reserve(chat(), 0.31)).rejects.toEqual(overLimit());
    await reserve(chat(), 0.29);
  });

  it('is bounded for each person by itself', async () => {
    const { reserve } = spendingOver(new MemoryStore(), { dailyCostPerPerson: 0.5 });
    (await reserve(chat(), 0.5)).settle();
    await expect(reserve(summary(), 0.01)).rejects.toEqual(overLimit());
    await reserve(chat(bobId), 0.5);
  });

  it('starts at zero with the local day', async () => {
    const store = new MemoryStore();
    const { spending, reserve, time } = spendingOver(store, { dailyCost: 1, dailyCostPerPerson: 1 });
    const late = await reserve(chat(), 1);
    time.now = new Date('2026-01-15T23:00:00Z');
    await reserve(chat(bobId), 0.5);
    late.settle();
    (await reserve(chat(bobId), 0.5)).settle(0.5);
    await spending.flush();
    for (const key of ['spending.json', `users/${bobId}/spending.json`])
      expect(JSON.parse((await store.readText(key)) ?? '')).toMatchObject({ day: '2026-01-16', usd: 1 });
  });

  it('is exact after a stop; calls open at a kill count in full', async () => {
    const store = new MemoryStore();
    const before = spendingOver(store, { dailyCost: 1 });
    (await before.reserve(chat(), 0.6)).settle(0.1);
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
    (await reserve(chat(), 0.7)).settle();
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
    (await reserve(chat(), 5)).settle(5);
    await spending.flush();
    expect(told).toEqual([]);
    (await reserve(chat(), 5)).settle(3);
    await spending.flush();
    (await reserve(chat(), 1)).settle(0.5);
    await spending.flush();
    expect(told).toEqual([{ day: '2026-01-15', spent: 8, limit: 10 }]);
    const next = spendingOver(store, { dailyCost: 10 });
    (await next.reserve(chat(), 1)).settle(1);
    await next.spending.flush();
    expect(next.told).toEqual([]);
    time.now = new Date('2026-01-16T12:00:00Z');
    (await reserve(chat(), 9)).settle(9);
    await spending.flush();
    expect(told).toHaveLength(2);
  });

  it('lets the owner know also where the rest is too little for a call before, and again where that failed', async () => {
    let failures = 1;
    const told: DailyUse[] = [];
    const { spending, reserve, logger } = spendingOver(
      new MemoryStore(),
      { dailyCost: 1 },
      {
        tellOwner(use) {
          failures -= 1;
          if (failures >= 0) return Promise.reject(new Error('Discord is away'));
          told.push(use);
          return Promise.resolve();
        },
      },
    );
    (await reserve(chat(), 0.6)).settle(0.5);
    await spending.flush();
    await expect(reserve(chat(), 0.6)).rejects.toEqual(overLimit());
    await expect.poll(() => logger.warnings).toContain('the owner could not be told about the daily cost');
    await expect(reserve(chat(), 0.6)).rejects.toEqual(overLimit());
    expect(told).toEqual([{ day: '2026-01-15', spent: 0.5, limit: 1 }]);
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
    (await reserve(chat(bobId), 0.5)).settle();
    await spending.flush();
    const exported = async () => {
      const files: ExportedFile[] = [];
      for await (const file of spending.layer.export(aliceId)) files.push(file);
      return files;
    };
    const [file] = await exported();
    expect(file?.path).toBe('cost.json');
    expect(JSON.parse(file?.text ?? '')).toEqual({ day: '2026-01-15', usd: expect.any(Number) });
    await spending.layer.erase({ userId: aliceId, isWhole: true });
    const left = async () => (await store.list('users')).map(({ path }) => path);
    expect(await left()).toEqual([`${bobId}/spending.json`]);
    open.settle();
    (await reserve(chat(bobId), 0.1)).settle();
    await spending.flush();
    expect(await left()).toEqual([`${bobId}/spending.json`]);
    expect(await exported()).toEqual([]);
  });
});

/** A process's view of the disk: writes take a while, and after a kill nothing happens any more. */
class KillableStore extends MemoryStore {
  readonly #disk: MemoryStore;
  readonly #delay: () => Promise<void>;
  #last: Promise<void> = Promise.resolve();
  #isDead = false;

  constructor(disk: MemoryStore, delay: () => Promise<void>) {
    super();
    this.#disk = disk;
    this.#delay = delay;
  }

  override async read<T extends Versioned>(key: string, kind: DocumentKind<T>): Promise<T | undefined> {
    await this.#alive();
    return this.#disk.read(key, kind);
  }

  override async update<T extends Versioned>(
    key: string,
    kind: DocumentKind<T>,
    change: (current: T | undefined) => T | undefined,
  ): Promise<T | undefined> {
    this.#last = this.#written(this.#last, () => this.#disk.update(key, kind, change));
    await this.#last;
    return undefined;
  }

  kill(): void {
    this.#isDead = true;
  }

  async #written(before: Promise<void>, write: () => Promise<unknown>): Promise<void> {
    await before;
    await this.#alive();
    await write();
    await this.#alive();
  }

  async #alive(): Promise<void> {
    await this.#delay();
    if (this.#isDead) await new Promise<never>(() => {});
  }
}

it('never takes all calls, or one person’s, over the limit: not with 1,000 at once, of which some fail and some are killed; and goes on after each restart [L2]', async () => {
  const price = fc.double({ min: 0.0001, max: 3, noNaN: true });
  const call = fc.record({
    person: fc.nat({ max: 4 }),
    usd: price,
    /** Of what was set aside, what it cost; where it fails, that is not known. */
    share: fc.option(fc.double({ min: 0, max: 1, noNaN: true }), { freq: 5 }),
    takes: fc.nat({ max: 30 }),
  });
  const callAt = (most: number) =>
    fc.tuple(fc.nat({ max: most }), call).map(([at, each]) => ({ ...each, at }));
  const process = fc.record({
    calls: fc.oneof(
      fc.array(callAt(0), { minLength: 1, maxLength: 1000, size: 'max' }),
      // So few that now and then none is open.
      fc.array(callAt(200), { minLength: 1, maxLength: 15 }),
    ),
    /** So many rounds of the event loop until the process is killed; otherwise it stops in order. */
    killedAfter: fc.option(fc.nat({ max: 200 })),
    disk: fc.nat({ max: 4 }),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(process, { minLength: 1, maxLength: 4 }),
      fc.double({ min: 1, max: 50, noNaN: true }),
      fc.double({ min: 0.5, max: 20, noNaN: true }),
      async (processes, dailyCost, dailyCostPerPerson) => {
        const disk = new MemoryStore();
        /** What was, or may have been, used of each limit, of which an open call may yet use all that it can. */
        const used = new Map<string, number>();
        const most = new Map<string, number>();
        const refused: unknown[] = [];
        const use = (names: readonly string[], usd: number): void => {
          for (const name of names) used.set(name, (used.get(name) ?? 0) + usd);
        };
        for (const { calls, killedAfter, disk: slowness } of processes) {
          const killable = new KillableStore(disk, () => rounds(slowness));
          const { spending, reserve } = spendingOver(killable, { dailyCost, dailyCostPerPerson }, {});
          let isDead = false;
          const running = calls.map(async ({ at, person, usd, share, takes }) => {
            await rounds(at);
            if (isDead) return;
            const names = ['all', `person ${person}`];
            const reserved = await reserve(chat(`14000000000000000${person}`), usd).catch(
              (error: unknown) => void refused.push(error),
            );
            // A process that is killed sends nothing any more.
            if (isDead || reserved === undefined) return;
            use(names, usd);
            for (const name of names) most.set(name, Math.max(most.get(name) ?? 0, used.get(name) ?? 0));
            await rounds(takes);
            if (isDead) return;
            use(names, share === null ? 0 : usd * share - usd);
            reserved.settle(share === null ? undefined : usd * share);
          });
          if (killedAfter === null) {
            await Promise.all(running);
            await spending.flush();
          } else {
            await rounds(killedAfter);
            isDead = true;
            killable.kill();
            await rounds(slowness + 1);
          }
          const total = JSON.parse((await disk.readText('spending.json')) ?? '{"usd":0}');
          expect(total.usd).toBeGreaterThanOrEqual((used.get('all') ?? 0) - rounding);
          for (const [name, usd] of most)
            expect(usd).toBeLessThanOrEqual((name === 'all' ? dailyCost : dailyCostPerPerson) + rounding);
          expect(refused).toEqual(refused.map(overLimit));
        }
      },
    ),
    { numRuns: runs(40) },
  );
});

async function rounds(count: number): Promise<void> {
  for (let round = 0; round < count; round += 1) await new Promise((resolve) => setImmediate(resolve));
}
