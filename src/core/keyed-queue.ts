import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate } from 'node:timers/promises';

import pLimit, { type LimitFunction } from 'p-limit';

import { growingCache } from './limits.ts';
import { within } from './time.ts';

/** A job came too late: `refuseEarlier` was called for its key after the work had begun that it is part of. */
export class RefusedJobError extends Error {
  override readonly name = 'RefusedJobError';
}

/** Keys of which it is remembered that earlier work is refused; that work is over long before so many more were. */
const rememberedRefusals = 10_000;

/** How many refusals there were, in all queues, when the present piece of work began. One for all: each of its kind costs every promise its part. */
const begun = new AsyncLocalStorage<number>();
let refusalCount = 0;

/** A queue of one key at a time needs one; those of many at once are made again. */
const mostSpare = 16;

export type KeyedQueue = ReturnType<typeof createKeyedQueue>;

interface Lane {
  readonly limit: LimitFunction;
  jobs: number;
}

/**
 * Jobs in order within a key, side by side between keys [S3]. A key without jobs takes
 * no memory. A job that takes longer than `patienceMs` goes on, but what comes after it no longer waits for it; without, it waits for ever.
 */
export function createKeyedQueue({ patienceMs }: { readonly patienceMs?: number } = {}) {
  const lanes = new Map<string, Lane>();
  /** Lanes without jobs, for the next keys. */
  const spare: Lane[] = [];
  let waitingForIdle: (() => void)[] = [];
  const refusals = growingCache<string, number>(rememberedRefusals);

  function laneOf(key: string): Lane {
    const known = lanes.get(key);
    if (known !== undefined) return known;
    const lane = spare.pop() ?? { limit: pLimit(1), jobs: 0 };
    lanes.set(key, lane);
    return lane;
  }

  function leave(key: string, lane: Lane): void {
    lane.jobs -= 1;
    if (lane.jobs === 0) {
      lanes.delete(key);
      if (spare.length < mostSpare) spare.push(lane);
    }
    if (lanes.size > 0) return;
    for (const wake of waitingForIdle) wake();
    waitingForIdle = [];
  }

  return {
    /**
     * Runs `job` after the earlier jobs of `key`, whether those succeeded or failed; settles as the job does. A job must not wait for
     * another job of its own key: neither would ever end. Rejects with `RefusedJobError` where the work that calls this is refused by now.
     */
    async run<T>(key: string, job: () => Promise<T>): Promise<T> {
      if ((begun.getStore() ?? refusalCount) < (refusals.get(key) ?? 0))
        throw new RefusedJobError('the work was begun before its person was erased');
      const lane = laneOf(key);
      lane.jobs += 1;
      const { done } = await lane.limit(async () => {
        const running = (async () => job())();
        await endOrLate(running, patienceMs);
        leave(key, lane);
        return { done: running };
      });
      return done;
    },

    /** Runs work, with all that it calls and starts: `refuseEarlier` can keep it from adding jobs later. */
    begin: <T>(work: () => Promise<T>): Promise<T> => begun.run(refusalCount, work),

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
        // Whoever waited for the last job may add its follow-up now.
        await setImmediate();
      }
    },
  };
}

/** Resolves when a job has ended, in whichever way, or after so many milliseconds. */
function endOrLate(job: Promise<unknown>, patienceMs: number | undefined): Promise<void> {
  const ended = job.then(
    () => undefined,
    () => undefined,
  );
  return patienceMs === undefined ? ended : within(patienceMs, ended, undefined);
}
