import pLimit from 'p-limit';

import { createKeyedQueue } from '../core/keyed-queue.ts';
import { isWithin } from './keys.ts';

export type KeyLocks = ReturnType<typeof createKeyLocks>;

/** Orders changes by key, apart from removals of folders above; at most `maxJobsAtOnce` run at once. */
export function createKeyLocks(maxJobsAtOnce: number) {
  const jobs = createKeyedQueue();
  const removals = createKeyedQueue();
  const bounded = pLimit(maxJobsAtOnce);
  const running = new Map<string, Promise<unknown>>();
  let removal: { readonly folder: string; readonly ended: Promise<unknown> } | undefined;

  function removalOver(key: string): Promise<unknown> | undefined {
    return removal !== undefined && isWithin(key, removal.folder) ? removal.ended : undefined;
  }

  return {
    /** After the earlier jobs of `key` and outside of any `runAlone` over it. Locks must not be nested. */
    run: <T>(key: string, job: () => Promise<T>): Promise<T> =>
      jobs.run(key, async () => {
        for (let over = removalOver(key); over !== undefined; over = removalOver(key)) await over;
        const work = bounded(job);
        running.set(key, work);
        try {
          return await work;
        } finally {
          running.delete(key);
        }
      }),

    /** While nothing at or below `folder` runs. One at a time, so that two never wait for each other. */
    runAlone: <T>(folder: string, job: () => Promise<T>): Promise<T> =>
      removals.run('', async () => {
        const below = [...running].filter(([key]) => isWithin(key, folder));
        const work = Promise.allSettled(below.map(([, earlier]) => earlier)).then(job);
        removal = { folder, ended: ended(work) };
        try {
          return await work;
        } finally {
          removal = undefined;
        }
      }),
  };
}

function ended(work: Promise<unknown>): Promise<unknown> {
  return work.catch(() => undefined);
}
