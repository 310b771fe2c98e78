import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate } from 'node:timers/promises';

import pLimit, { type LimitFunction } from 'p-limit';

import { StoreError } from './errors.ts';
import { growingCache } from './limits.ts';
import type { Locks } from './processes.ts';
import { within } from './time.ts';

/** A job came too late: `refuseEarlier` was called for its key after the work had begun that it is part of. */
export class RefusedJobError extends Error {
  override readonly name = 'RefusedJobError';
}

/** Keys of which it is remembered that earlier work is refused; that work is over long before so many more were. */
const rememberedRefusals = 10_000;

/** What the newest refusal of a key is known by, or why that could not be known. */
type Refusal = string | undefined | StoreError;

/** A piece of work that began: how many refusals there were then, in all queues, and what other processes' refusals of its keys were known by. */
interface Begun {
  readonly count: number;
  readonly refusals: Map<string, Refusal>;
}

/** The present piece of work. One for all: each of its kind costs every promise its part. */
const begun = new AsyncLocalStorage<Begun>();
let refusalCount = 0;

/** What orders jobs of a key between processes. */
export interface SharedOrder {
  readonly locks: Pick<Locks, 'hold'>;
  /** What the newest refusal of a key, by whichever process, is known by. Rejects with `StoreError`. */
  readonly refusalOf: (key: string) => Promise<string | undefined>;
}

/** A queue of one key at a time needs one; those of many at once are made again. */
const mostSpare = 16;

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

  /** What another process refused since the work began is known now, while no other has a job of the key. */
  async function runShared<T>(
    { locks, refusalOf }: SharedOrder,
    key: string,
    { refusals: known }: Pick<Begun, 'refusals'>,
    job: () => Promise<T>,
  ): Promise<T> {
    return locks.hold(key, async () => {
      const earlier = known.get(key);
      // Where it could not be known, nothing of the work is taken.
      if (earlier instanceof StoreError) throw earlier;
      const newest = await refusalOf(key);
      if (known.has(key) && earlier !== newest) throw new RefusedJobError(refusedMessage);
      known.set(key, newest);
      return job();
    });
  }

  return {
    /**
     * Runs `job` after the earlier jobs of `key`, whether those succeeded or failed; settles as the job does. A job must not wait for
     * another job of its own key: neither would ever end. Rejects with `RefusedJobError` where the work that calls this is refused by now.
     */
    async run<T>(key: string, job: () => Promise<T>): Promise<T> {
      const work = begun.getStore();
      if ((work?.count ?? refusalCount) < (refusals.get(key) ?? 0)) throw new RefusedJobError(refusedMessage);
      const lane = laneOf(key);
      lane.jobs += 1;
      const { done } = await lane.limit(async () => {
        const running = (async () =>
          shared === undefined ? job() : runShared(shared, key, work ?? { refusals: new Map() }, job))();
        await endOrLate(running, patienceMs);
        leave(key, lane);
        return { done: running };
      });
      return done;
    },

    /**
     * Runs work, with all that it calls and starts: `refuseEarlier` can keep it from adding jobs later. Other processes' refusals count from here on for
     * the key `of`; for others, from the work's first job of them.
     */
    async begin<T>(this: void, work: () => Promise<T>, of?: string): Promise<T> {
      const count = refusalCount;
      const known = new Map<string, Refusal>();
      if (shared !== undefined && of !== undefined) known.set(of, await orFailure(shared.refusalOf(of)));
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
        // Whoever waited for the last job may add its follow-up now.
        await setImmediate();
      }
    },
  };
}

async function orFailure(asked: Promise<string | undefined>): Promise<Refusal> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof StoreError) return error;
    throw error;
  }
}

const refusedMessage = 'the work was begun before its person was erased';

/** Resolves when a job has ended, in whichever way, or after so many milliseconds. */
function endOrLate(job: Promise<unknown>, patienceMs: number | undefined): Promise<void> {
  const ended = job.then(
    () => undefined,
    () => undefined,
  );
  return patienceMs === undefined ? ended : within(patienceMs, ended, undefined);
}
