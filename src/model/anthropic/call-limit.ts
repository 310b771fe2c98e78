import pLimit from 'p-limit';

import { ModelError } from '../../core/errors.ts';
import { untilAborted } from '../until-aborted.ts';

/** Runs work when its turn comes. Rejects with `ModelError` `busy` where too many wait, and at once with the signal's reason when aborted. */
export type CallLimit = <T>(work: () => Promise<T>, signal: AbortSignal) => Promise<T>;

/** At most `concurrency` calls at a time, and at most `queueLimit` waiting for one to end [M7]. Who gives up leaves the queue. */
export function createCallLimit(concurrency: number, queueLimit: number): CallLimit {
  const limit = pLimit(concurrency);
  let open = 0;
  return async (work, signal) => {
    if (open >= concurrency + queueLimit) throw new ModelError('Too many model calls are waiting', 'busy');
    open += 1;
    try {
      const turn = limit(() => {
        signal.throwIfAborted();
        return work();
      });
      return await untilAborted(turn, signal);
    } finally {
      open -= 1;
    }
  };
}
