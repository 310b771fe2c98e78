import pLimit from 'p-limit';

import { ModelError } from '../../core/errors.ts';
import { untilAborted } from '../until-aborted.ts';

/**
 * Runs work when its turn comes; work that has to wait for it is told by `onQueue`, and again, with `false`, when it came. Rejects with
 * `ModelError` `busy` where too many wait, and at once with the signal's reason when aborted.
 */
export type CallLimit = <T>(
  work: () => Promise<T>,
  signal: AbortSignal,
  onQueue?: (isWaiting: boolean) => void,
) => Promise<T>;

/** At most `concurrency` calls at a time, and at most `queueLimit` waiting for one to end [M7]. Who gives up leaves the queue. */
export function createCallLimit(concurrency: number, queueLimit: number): CallLimit {
  const limit = pLimit(concurrency);
  let open = 0;
  return async (work, signal, onQueue) => {
    if (open >= concurrency + queueLimit) throw new ModelError('Too many model calls are waiting', 'busy');
    const hasToWait = open >= concurrency;
    open += 1;
    try {
      if (hasToWait) onQueue?.(true);
      const turn = limit(() => {
        signal.throwIfAborted();
        if (hasToWait) onQueue?.(false);
        return work();
      });
      return await untilAborted(turn, signal);
    } finally {
      open -= 1;
    }
  };
}
