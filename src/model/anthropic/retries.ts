import { setTimeout as sleep } from 'node:timers/promises';

import { APIConnectionError, APIError } from '@anthropic-ai/sdk';

import { ModelError, type ModelFailure } from '../../core/errors.ts';
import type { Logger } from '../../core/logger.ts';
import { clip, toSingleLine } from '../../core/text.ts';
import type { Deadline } from '../deadline.ts';

const maxRetries = 5;
const firstBackoffMs = 500;
const maxBackoffMs = 8_000;
/** Failures worth a retry [M7]. */
const retried: ReadonlySet<ModelFailure> = new Set([
  'rate-limited',
  'overloaded',
  'unavailable',
  'broken',
  'stalled',
]);

export interface FailedAttempt {
  readonly error: ModelError;
  /** Milliseconds, as the server asked. */
  readonly retryAfterMs?: number;
  /** The server did no work, so nothing is billed. */
  readonly isFree?: boolean;
}

/** Waits at least as long as the server asked. @throws the error where a retry does not help or fit the deadline. */
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

const neverConnected = /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH/u;

/** Never shows `secret`, nor keeps the SDK's error as a cause, since that carries bodies. */
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

/** A date instead of seconds is ignored. */
function secondsIn(headers: unknown): number {
  const seconds = headers instanceof Headers ? Number(headers.get('retry-after')) : 0;
  return seconds > 0 ? seconds : 0;
}

function redact(text: string, secret: string): string {
  const known = secret === '' ? text : text.replaceAll(secret, '[key]');
  return clip(toSingleLine(known.replace(/\bsk-[\w-]{8,}/gu, '[key]')), 200);
}

/** Such as ` (ECONNREFUSED)`; the messages of such errors may show headers or addresses. */
function codeOf(error: unknown, depth = 0): string {
  if (!(error instanceof Error) || depth > 4) return '';
  if ('code' in error && typeof error.code === 'string') return ` (${error.code})`;
  return codeOf(error.cause, depth + 1);
}
