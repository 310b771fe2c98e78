import { setTimeout as sleep } from 'node:timers/promises';

import { APIConnectionError, APIError } from '@anthropic-ai/sdk';

import { ModelError, type ModelFailure } from '../../core/errors.ts';
import type { Logger } from '../../core/logger.ts';
import { clip, flatten } from '../../core/text.ts';
import type { Deadline } from '../deadline.ts';

const maxRetries = 5;
const firstBackoffMs = 500;
const maxBackoffMs = 8_000;
/** Failures after which trying again may help [M7]. */
const retried: ReadonlySet<ModelFailure> = new Set([
  'rate-limited',
  'overloaded',
  'unavailable',
  'broken',
  'stalled',
]);

/** An attempt at a call that failed. */
export interface FailedAttempt {
  readonly error: ModelError;
  /** What the server asked to wait, in milliseconds. */
  readonly retryAfterMs?: number;
  /** The server took no work on: an error in place of an answer, or no connection at all. What breaks off later may be billed. */
  readonly isFree?: boolean;
}

/**
 * Waits before a failed attempt is made again: a growing random backoff, and as long as the server asked. `random` gives
 * how much of the backoff is waited, so that many who failed together do not come back together.
 * @throws the error where trying again does not help, was done five times, or would outlast the deadline.
 */
export async function backOff(
  { error, retryAfterMs = 0 }: FailedAttempt,
  retries: number,
  { deadline, random, logger }: { deadline: Deadline; random: () => number; logger: Logger },
): Promise<void> {
  const waitMs = retryAfterMs + random() * Math.min(maxBackoffMs, firstBackoffMs * 2 ** retries);
  if (retries === maxRetries || !retried.has(error.failure) || waitMs >= deadline.remainingMs()) throw error;
  logger.warn('retrying a model call', { failure: error.failure, reason: error.message, waitMs });
  await sleep(waitMs, undefined, { signal: deadline.signal });
}

/** System errors of a connection that never came about. */
const neverConnected = /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH/u;

/**
 * What went wrong, in our words: what others say is quoted without secrets, and the SDK's error, which carries bodies,
 * is no cause.
 * @param secret the API key, which no message may show.
 */
export function failedAttempt(error: unknown, secret: string): FailedAttempt {
  if (error instanceof ModelError) return { error };
  if (error instanceof APIConnectionError) {
    const code = codeOf(error);
    return {
      error: new ModelError(`The model's server cannot be reached${code}`, 'unavailable'),
      isFree: neverConnected.test(code),
    };
  }
  if (!(error instanceof APIError))
    return { error: new ModelError(`The model's answer broke off${codeOf(error)}`, 'broken') };
  const { apiMessage, type } = error;
  const status = typeof error.status === 'number' ? error.status : undefined;
  const said = apiMessage === null ? '' : `: ${redact(apiMessage, secret)}`;
  const what = [status, type].filter(Boolean).join(' ') || 'with an error';
  return {
    error: new ModelError(`The model's server answered ${what}${said}`, failureOf(status, type)),
    retryAfterMs: secondsIn(error.headers) * 1000,
    isFree: status !== undefined,
  };
}

function failureOf(status: number | undefined, type: string | null): ModelFailure {
  if (status === 429 || type === 'rate_limit_error') return 'rate-limited';
  if (status === 529 || type === 'overloaded_error') return 'overloaded';
  if (status !== undefined) return status >= 500 ? 'unavailable' : 'rejected';
  const isRefusal = /^(?:invalid_request|authentication|permission)_error$/u.test(type ?? '');
  return isRefusal ? 'rejected' : 'unavailable';
}

/** Of a server that names a date instead, the usual backoff has to do. */
function secondsIn(headers: unknown): number {
  const seconds = headers instanceof Headers ? Number(headers.get('retry-after')) : 0;
  return seconds > 0 ? seconds : 0;
}

function redact(text: string, secret: string): string {
  const known = secret === '' ? text : text.replaceAll(secret, '[key]');
  return clip(flatten(known.replace(/\bsk-[\w-]{8,}/gu, '[key]')), 200);
}

/** A system error's code, such as ` (ECONNREFUSED)`; the texts of such errors may show headers or addresses. */
function codeOf(error: unknown, depth = 0): string {
  if (!(error instanceof Error) || depth > 4) return '';
  if ('code' in error && typeof error.code === 'string') return ` (${error.code})`;
  return codeOf(error.cause, depth + 1);
}
