import { setImmediate, setTimeout as delay } from 'node:timers/promises';

import pLimit, { type LimitFunction } from 'p-limit';

export type KeyedQueue = ReturnType<typeof createKeyedQueue>;

interface Lane {
  readonly limit: LimitFunction;
  jobs: number;
}

/**
 * Jobs in order within a key, side by side between keys [S3]: at most `concurrencyPerKey` of one key at a time. A key without jobs takes
 * no memory. A job that takes longer than `patienceMs` goes on, but what comes after it no longer waits for it; without, it waits for ever.
 */
export function createKeyedQueue({
  concurrencyPerKey = 1,
  patienceMs,
}: { readonly concurrencyPerKey?: number; readonly patienceMs?: number } = {}) {
  const lanes = new Map<string, Lane>();
  let waitingForIdle: (() => void)[] = [];

  function laneOf(key: string): Lane {
    const known = lanes.get(key);
    if (known !== undefined) return known;
    const lane = { limit: pLimit(concurrencyPerKey), jobs: 0 };
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

  return {
    /**
     * Runs `job` after the earlier jobs of `key`, whether those succeeded or failed; settles as the job does. A job must not wait for
     * another job of its own key: neither would ever end.
     */
    async run<T>(key: string, job: () => Promise<T>): Promise<T> {
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
async function endOrLate(job: Promise<unknown>, patienceMs: number | undefined): Promise<void> {
  const ended = job.then(
    () => undefined,
    () => undefined,
  );
  if (patienceMs === undefined) return ended;
  const over = new AbortController();
  const late = delay(patienceMs, undefined, { signal: over.signal }).catch(() => undefined);
  await Promise.race([ended, late]);
  over.abort();
}
