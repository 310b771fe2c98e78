import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate } from 'node:timers/promises';

import pLimit, { type LimitFunction } from 'p-limit';

import { growingCache } from './limits.ts';
import type { Locks } from './processes.ts';
import { within, type Clock } from './time.ts';

/** A job came too late: `refuseEarlier` was called for its key after the work had begun that it is part of. */
export class RefusedJobError extends Error {
  override readonly name = 'RefusedJobError';
}

/** Keys of which it is remembered that earlier work is refused; that work is over long before so many more were. */
const rememberedRefusals = 10_000;
/** Milliseconds from a refusal until what it kept from adding jobs is over: far more than any work takes. */
const refusedMs = 3_600_000;

/** A piece of work that began: how many refusals there were then, and when other processes had refused its keys. */
interface Begun {
  readonly count: number;
  readonly refusals: Map<string, string | undefined>;
}

/** The present piece of work, and how many refusals there were: one for all queues, since each such storage costs every promise its part. */
const begun = new AsyncLocalStorage<Begun>();
let refusalCount = 0;

/** What orders jobs of a key between processes. */
export interface SharedOrder {
  readonly locks: Pick<Locks, 'hold'>;
  /** When a key was refused last, by whichever process; ISO 8601. Rejects with `StoreError`. */
  readonly refusalOf: (key: string) => Promise<string | undefined>;
  readonly clock: Clock;
}

export type KeyedQueue = ReturnType<typeof createKeyedQueue>;

interface Lane {
  readonly limit: LimitFunction;
  jobs: number;
}

/**
 * Jobs in order within a key, side by side between keys [S3]; with `shared` also between processes, one of a key at a time [X2]. A key without jobs takes
 * no memory. A job that takes longer than `patienceMs` goes on, but what comes after it no longer waits for it; without, it waits for ever.
 */
export function createKeyedQueue({
  patienceMs,
  shared,
}: { readonly patienceMs?: number; readonly shared?: SharedOrder | undefined } = {}) {
  const lanes = new Map<string, Lane>();
  let waitingForIdle: (() => void)[] = [];
  const refusals = growingCache<string, number>(rememberedRefusals, { maxAge: refusedMs });

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

  /** Rejects and resolves as the job does, even long after the next job of the lane began. */
  async function runPatiently<T>(key: string, lane: Lane, start: () => Promise<T>, ms: number): Promise<T> {
    const { done } = await lane.limit(async () => {
      const running = (async () => start())();
      await within(ms, running.then(nothing, nothing), undefined);
      leave(key, lane);
      return { done: running };
    });
    return done;
  }

  /** What another process refused since the work began is known now, while no other has a job of the key. */
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
     * Runs `job` after the earlier jobs of `key`, whether those succeeded or failed; settles as the job does. A job must not wait for
     * another job of its own key: neither would ever end. Rejects with `RefusedJobError` where the work that calls this is refused by now; for an hour
     * after `refuseEarlier`, whatever is part of no work counts as having begun before.
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
     * Runs work, with all that it calls and starts: `refuseEarlier` can keep it from adding jobs later. Other processes' refusals count from here on for
     * the key `of`; for others, from the work's first job of them.
     */
    async begin<T>(this: void, work: () => Promise<T>, of?: string): Promise<T> {
      const count = refusalCount;
      const known = new Map<string, string | undefined>();
      if (shared !== undefined && of !== undefined) {
        const now = shared.clock().toISOString();
        // Where it cannot be known, what was refused from now on counts.
        known.set(of, await shared.refusalOf(of).catch(() => now));
      }
      return begun.run({ count, refusals: known }, work);
    },

    /** From now on no work that has begun until now adds a job of `key`; jobs that wait already run. */
    refuseEarlier(key: string): void {
      refusalCount += 1;
      refusals.set(key, refusalCount);
    },

    /** Jobs running or waiting, over all keys. */
    get size(): number {
      let jobs = 0;
      for (const lane of lanes.values()) jobs += lane.jobs;
      return jobs;
    },

    /** Resolves when nothing runs or waits; jobs added in the meantime, by follow-ups too, are waited for. */
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
