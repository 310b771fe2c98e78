import { setImmediate } from 'node:timers/promises';

import pLimit, { type LimitFunction } from 'p-limit';

import { withTimeout } from './time.ts';

export type KeyedQueue = ReturnType<typeof createKeyedQueue>;

interface Lane {
  readonly limit: LimitFunction;
  jobs: number;
}

/**
 * Runs jobs of one key in order and of different keys side by side. After `patienceMs` a slow job goes on but no
 * longer blocks the next one.
 */
export function createKeyedQueue({ patienceMs }: { readonly patienceMs?: number } = {}) {
  const lanes = new Map<string, Lane>();
  let waitingForIdle: (() => void)[] = [];

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

  return {
    /**
     * Runs `job` after the earlier jobs of `key` and settles as it does, even long after the next one began. A job
     * must not wait for a job of its own key: that is a deadlock.
     */
    async run<T>(key: string, job: () => Promise<T>): Promise<T> {
      const lane = laneOf(key);
      lane.jobs += 1;
      const { result } = await lane.limit(async () => {
        const running = (async () => job())();
        const over = running.then(nothing, nothing);
        await (patienceMs === undefined ? over : withTimeout(patienceMs, over, undefined));
        leave(key, lane);
        return { result: running };
      });
      return result;
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

function nothing(): void {}
