import { setTimeout as sleep } from 'node:timers/promises';

import pRetry from 'p-retry';

import type { Logger } from '../../core/logger.ts';
import type { Deadline } from '../deadline.ts';
import { AttemptError, isRetryable } from './attempt-error.ts';

const maxRetries = 5;
const firstBackoffMs = 500;
const maxBackoffMs = 8_000;

export interface RetryOptions {
  readonly deadline: Deadline;
  /** From 0 up to 1: how much of the backoff is waited, so that many who failed together do not come back together. */
  readonly random: () => number;
  readonly logger: Logger;
}

/**
 * Tries again what may help, at most five times, with a growing random backoff or the wait the server asked for. A wait that
 * would outlast the deadline is not begun: the last failure is the answer then.
 */
export function withRetries<T>(attempt: () => Promise<T>, options: RetryOptions): Promise<T> {
  const { deadline, random, logger } = options;
  return pRetry(attempt, {
    retries: maxRetries,
    minTimeout: 0,
    signal: deadline.signal,
    shouldRetry: async ({ error, retriesConsumed }) => {
      if (!isRetryable(error)) return false;
      const asked = error instanceof AttemptError ? (error.retryAfterMs ?? 0) : 0;
      const waitMs = asked + random() * Math.min(maxBackoffMs, firstBackoffMs * 2 ** retriesConsumed);
      if (waitMs >= deadline.remainingMs()) return false;
      logger.warn('model call is tried again', { failure: error.failure, reason: error.message, waitMs });
      await sleep(waitMs, undefined, { signal: deadline.signal });
      return true;
    },
  });
}
