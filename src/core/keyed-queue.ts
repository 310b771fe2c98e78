import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate } from 'node:timers/promises';

import pLimit, { type LimitFunction } from 'p-limit';

import { lruCache } from './limits.ts';
import type { Locks } from './processes.ts';
import { withTimeout, type Clock } from './time.ts';

/** `refuseEarlier` was called for the job's key after its work had begun. */
export class RefusedJobError extends Error {
  override readonly name = 'RefusedJobError';
}

/** Work is over long before so many more keys were refused. */
const rememberedRefusals = 10_000;
/** In milliseconds; longer than any work takes. */
const refusedMs = 3_600_000;

/** How many refusals there were when work began, and other processes' refusals of its keys. */
interface Begun {
  readonly count: number;
  readonly refusals: Map<string, string | undefined>;
}

/** One for all queues, since each such storage slows every promise. */
const begun = new AsyncLocalStorage<Begun>();
let refusalCount = 0;

/** What orders jobs of a key between processes. */
export interface SharedOrder {
  readonly locks: Pick<Locks, 'hold'>;
  /** When any process last refused a key; ISO 8601. Rejects with `StoreError`. */
  readonly refusalOf: (key: string) => Promise<string | undefined>;
  readonly clock: Clock;
}

export type KeyedQueue = ReturnType<typeof createKeyedQueue>;

interface Lane {
  readonly limit: LimitFunction;
  jobs: number;
}

/**
 * Runs jobs of one key in order and of different keys side by side [S3]; with `shared`, also across processes
 * [X2]. After `patienceMs` a slow job goes on but no longer blocks the next one.
 */
export function createKeyedQueue({
  patienceMs,
  shared,
}: { readonly patienceMs?: number; readonly shared?: SharedOrder | undefined } = {}) {
  const lanes = new Map<string, Lane>();
  let waitingForIdle: (() => void)[] = [];
  const refusals = lruCache<string, number>(rememberedRefusals, { maxAge: refusedMs });

  function laneOf(key: string): Lane {
    const lane = lanes.get(key) ?? { limit: pLimit(1), jobs: 0 };
    lanes.set(key, lane);
    return lane;
  }

  function leave(key: string, lane: Lane): void {
    lane.jobs -= 1;
    if (lane.jobs === 0) lanes.delete(key);
    if (lanes.size > 0) return;
    for (const wake of waitingForIdle) wake();
    waitingForIdle = [];
  }

  /** Settles as the job does, even long after the next job of the lane began. */
  async function runPatiently<T>(key: string, lane: Lane, start: () => Promise<T>, ms: number): Promise<T> {
    const { done } = await lane.limit(async () => {
      const running = (async () => start())();
      await withTimeout(ms, running.then(nothing, nothing), undefined);
      leave(key, lane);
      return { done: running };
    });
    return done;
  }

  /** Once it has the key, other processes' refusals are known. */
  async function runShared<T>(
    { locks, refusalOf }: SharedOrder,
    key: string,
    { refusals: known }: Pick<Begun, 'refusals'>,
    job: () => Promise<T>,
  ): Promise<T> {
    return locks.hold(key, async () => {
      const newest = await refusalOf(key);
      if (known.has(key) && (newest ?? '') > (known.get(key) ?? ''))
        throw new RefusedJobError(refusedMessage);
      known.set(key, newest);
      return job();
    });
  }

  return {
    /**
     * Runs `job` after the earlier jobs of `key` and settles as it does. A job must not wait for a job of its
     * own key: that is a deadlock. Rejects with `RefusedJobError` where the calling work is refused; for an
     * hour after `refuseEarlier`, a job outside of any work counts as begun before.
     */
    run<T>(key: string, job: () => Promise<T>): Promise<T> {
      const work = begun.getStore();
      if ((work?.count ?? 0) < (refusals.get(key) ?? 0))
        return Promise.reject(new RefusedJobError(refusedMessage));
      const lane = laneOf(key);
      lane.jobs += 1;
      const start = (): Promise<T> =>
        shared === undefined ? job() : runShared(shared, key, work ?? { refusals: new Map() }, job);
      if (patienceMs !== undefined) return runPatiently(key, lane, start, patienceMs);
      return lane.limit(async () => {
        try {
          return await start();
        } finally {
          leave(key, lane);
        }
      });
    },

    /**
     * Runs work with all that it starts, so that `refuseEarlier` can keep it from adding jobs. Other processes'
     * refusals count from now on for the key `of`, for others from its first job of them.
     */
    async begin<T>(this: void, work: () => Promise<T>, of?: string): Promise<T> {
      const count = refusalCount;
      const known = new Map<string, string | undefined>();
      if (shared !== undefined && of !== undefined) {
        const now = shared.clock().toISOString();
        // Unknown: refusals count from now on.
        known.set(of, await shared.refusalOf(of).catch(() => now));
      }
      return begun.run({ count, refusals: known }, work);
    },

    /** Refuses jobs of `key` by work that began before now; jobs that wait already run. */
    refuseEarlier(key: string): void {
      refusalCount += 1;
      refusals.set(key, refusalCount);
    },

    /** Jobs that run or wait. */
    get size(): number {
      let jobs = 0;
      for (const lane of lanes.values()) jobs += lane.jobs;
      return jobs;
    },

    /** Resolves when nothing runs or waits, jobs added meanwhile included. */
    async idle(): Promise<void> {
      while (lanes.size > 0) {
        await new Promise<void>((resolve) => waitingForIdle.push(resolve));
        // A caller that waited for the last job may add its follow-up now.
        await setImmediate();
      }
    },
  };
}

const refusedMessage = 'the work was begun before its person was erased';

function nothing(): void {}
