import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { createDatabase, type Database } from '../../../src/storage/postgres/database.ts';
import { createWorkQueue, type WorkQueueOptions } from '../../../src/storage/postgres/work-queue.ts';
import { deferred } from '../../support/deferred.ts';
import { eventually } from '../../support/eventually.ts';
import { createTemporaryDatabase, type TemporaryDatabase } from './temporary-database.ts';
import { runs } from '../../support/runs.ts';

const [alice, ben] = ['100000000000000001', '100000000000000002'];

describe('work by person in a database [X2]', () => {
  let place: TemporaryDatabase;
  const databases: Database[] = [];
  const queues: ReturnType<typeof createWorkQueue>[] = [];
  beforeEach(async () => {
    place = await createTemporaryDatabase();
    await (await place.open()).close();
  });
  afterEach(async () => {
    for (const queue of queues.splice(0)) queue.stop();
    for (const database of databases.splice(0)) await database.close();
    await place.dispose();
  });

  /** As another process has it. */
  function makeQueue(options: Partial<WorkQueueOptions> = {}) {
    const { logger } = place;
    const database = createDatabase({ url: place.url, logger, connections: 3, patienceMs: 1000 });
    databases.push(database);
    const queue = createWorkQueue({ database, logger, pollMs: 20, ...options });
    queues.push(queue);
    return queue;
  }
  const rows = () => place.query('select * from discoclaw.work');
  /** The lease of now; `expire` has it be over, as where its process did not come to make it longer. */
  async function presentLease() {
    const fence = (await rows())[0]?.['fence'];
    const past = `update discoclaw.work set next_at = now() - interval '1 second' where fence = $1`;
    return { expire: () => place.query(past, [fence]) };
  }

  it("does one person's work in one process at a time, and what came meanwhile once more afterwards", async () => {
    const [first, second] = [makeQueue(), makeQueue()];
    const running = new Map<string, number>();
    const seen: string[] = [];
    let most = 0;
    const gate = deferred<void>();
    const work = async ({ userId, keys }: { readonly userId: string; readonly keys: readonly string[] }) => {
      running.set(userId, (running.get(userId) ?? 0) + 1);
      most = Math.max(most, ...running.values());
      seen.push(...keys.map((key) => `${userId} ${key}`));
      if (keys.includes('slow')) await gate.promise;
      running.set(userId, (running.get(userId) ?? 0) - 1);
    };
    first.start(work);
    second.start(work);
    await first.add(alice, 'slow');
    await eventually(async () => expect(seen).toContain(`${alice} slow`));
    await second.add(alice, 'slow');
    await second.add(ben, 'other');
    await eventually(async () => expect(seen).toContain(`${ben} other`));
    expect(seen.filter((each) => each === `${alice} slow`)).toHaveLength(1);
    gate.resolve();
    await eventually(async () => expect(seen.filter((each) => each === `${alice} slow`)).toHaveLength(2));
    await eventually(async () => expect(await rows()).toEqual([]));
    expect(most).toBe(1);
  });

  it('takes over the leases of a dead process, and tells a slow one that it lost its own', async () => {
    const slow = makeQueue({ leaseMs: 300, pollMs: 10_000 });
    const lost = deferred<void>();
    // It does not come to say that it goes on, as a process that is stopped.
    slow.start(
      ({ signal }) =>
        new Promise((resolve) => signal.addEventListener('abort', () => resolve(lost.resolve()))),
    );
    await slow.add(alice, 'key');
    await eventually(async () => expect(slow.size).toBe(1));
    const lease = await presentLease();
    const other = makeQueue();
    const taken: string[] = [];
    other.start(async ({ keys }) => void taken.push(...keys));
    // It may have said once more that it goes on, before its lease was over.
    await eventually(async () => {
      await lease.expire();
      expect(taken).toEqual(['key']);
    });
    await lost.promise;
    await eventually(async () => expect(await rows()).toEqual([]));
    expect(taken).toEqual(['key']);
  });

  it.each(['finishes', 'gives back'] as const)(
    'is not touched by a process that wakes and %s an old lease, though the work was done and queued again since',
    async (how) => {
      const slow = makeQueue({ leaseMs: 60_000, pollMs: 60_000 });
      const gate = deferred<void>();
      slow.start(() => gate.promise);
      await slow.add(alice, 'key');
      await eventually(async () => expect(slow.size).toBe(1));

      const other = makeQueue({ leaseMs: 60_000 });
      const taken: string[] = [];
      const end = deferred<void>();
      other.start(async ({ keys }) => {
        taken.push(...keys);
        if (keys.includes('new')) await end.promise;
      });
      await (await presentLease()).expire();
      await eventually(async () => expect(await rows()).toEqual([]));
      await other.add(alice, 'new');
      await eventually(async () => expect(taken).toEqual(['key', 'new']));
      const held = await rows();

      if (how === 'gives back') slow.stop();
      gate.resolve();
      await slow.idle();
      expect(await rows()).toEqual(held);
      end.resolve();
      await eventually(async () => expect(await rows()).toEqual([]));
      expect(taken).toEqual(['key', 'new']);
    },
  );

  it('leaves what is stopped to the next start, and what is dropped to nobody', async () => {
    const queue = makeQueue();
    const begun = deferred<void>();
    queue.start(({ signal }) => {
      begun.resolve();
      return new Promise((resolve) => signal.addEventListener('abort', () => resolve()));
    });
    await queue.add(alice, 'key');
    await begun.promise;
    queue.stop();
    const next = makeQueue();
    const again = deferred<void>();
    next.start(({ signal }) => {
      again.resolve();
      return new Promise((resolve) => signal.addEventListener('abort', () => resolve()));
    });
    await again.promise;
    await next.drop(alice);
    await next.idle();
    expect(await rows()).toEqual([]);
  });

  it('takes once more what could not be done, when its lease is over', async () => {
    const queue = makeQueue({ leaseMs: 200 });
    const taken: (readonly string[])[] = [];
    queue.start(async ({ keys }) => {
      taken.push(keys);
      if (taken.length === 1) throw new Error('The disk is full');
    });
    await queue.add(alice, 'key');
    await eventually(async () => expect(taken.length).toBeGreaterThan(1));
    await eventually(async () => expect(await rows()).toEqual([]));
    // Where the machine is too busy to finish within such a lease, there are more.
    expect(new Set(taken.flat())).toEqual(new Set(['key']));
  });

  it('loses nothing, whatever is added by whichever of two processes while others work', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ by: fc.nat(1), person: fc.nat(3), key: fc.constantFrom('a', 'b', 'c') }), {
          maxLength: 40,
        }),
        async (steps) => {
          const both = [makeQueue(), makeQueue()];
          const open = new Map<string, number>();
          const done: string[] = [];
          for (const queue of both)
            queue.start(async ({ userId, keys }) => {
              expect(open.get(userId) ?? 0).toBe(0);
              open.set(userId, 1);
              await new Promise(setImmediate);
              done.push(...keys.map((key) => `${userId} ${key}`));
              open.set(userId, 0);
            });
          await Promise.all(
            steps.map(({ by, person, key }) => (both[by] ?? makeQueue()).add(String(person), key)),
          );
          await eventually(async () => expect(await rows()).toEqual([]));
          expect(new Set(done)).toEqual(new Set(steps.map(({ person, key }) => `${person} ${key}`)));
          for (const queue of both) queue.stop();
        },
      ),
      { numRuns: runs(10) },
    );
  });
});
