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

/**
 * Tries again what may help, at most five times, with a growing random backoff or the wait the server asked for. A wait that
 * would outlast the deadline is not begun: the last failure is the answer then. `random` gives from 0 up to 1 how much of the
 * backoff is waited, so that many who failed together do not come back together.
 */
export async function withRetries<T>(
  attempt: () => Promise<T>,
  { deadline, random, logger }: { deadline: Deadline; random: () => number; logger: Logger },
): Promise<T> {
  for (let retries = 0; ; retries += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (retries === maxRetries || !(error instanceof ModelError) || !retried.has(error.failure))
        throw error;
      const asked = error instanceof AttemptError ? (error.retryAfterMs ?? 0) : 0;
      const waitMs = asked + random() * Math.min(maxBackoffMs, firstBackoffMs * 2 ** retries);
      if (waitMs >= deadline.remainingMs()) throw error;
      logger.warn('retrying a model call', { failure: error.failure, reason: error.message, waitMs });
      await sleep(waitMs, undefined, { signal: deadline.signal });
    }
  }
}

/** System errors of a connection that never came about. */
const neverConnected = /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH/u;

/** One attempt at a call that failed. Its words are ours: what a server or the network says is quoted with secrets taken out. */
export class AttemptError extends ModelError {
  /** What the server asked to wait, in milliseconds. */
  readonly retryAfterMs: number | undefined;
  /** The server took no work on: an error in place of an answer, or no connection at all. What breaks off later may be billed. */
  readonly isFree: boolean;
  constructor(
    message: string,
    failure: ModelFailure,
    {
      retryAfterMs,
      isFree = false,
    }: { readonly retryAfterMs?: number | undefined; readonly isFree?: boolean } = {},
  ) {
    super(message, failure);
    this.retryAfterMs = retryAfterMs;
    this.isFree = isFree;
  }
}

/**
 * What went wrong in an attempt. The SDK's own error is not kept as a cause, since it carries headers and bodies.
 * @param secret the API key, which no message may show.
 */
export function attemptError(error: unknown, secret: string, now: Date): ModelError {
  if (error instanceof ModelError) return error;
  if (error instanceof APIConnectionError) {
    const code = codeOf(error);
    return new AttemptError(`The model's server cannot be reached${code}`, 'unavailable', {
      isFree: neverConnected.test(code),
    });
  }
  if (error instanceof APIError) {
    const said = error.apiMessage === null ? '' : `: ${redact(error.apiMessage, secret)}`;
    const status = typeof error.status === 'number' ? error.status : undefined;
    const message = `The model's server answered ${[status, error.type].filter(Boolean).join(' ') || 'with an error'}${said}`;
    return new AttemptError(message, failureOf(status, error.type), {
      retryAfterMs: retryAfter(error.headers, now),
      isFree: status !== undefined,
    });
  }
  return new AttemptError(`The model's answer broke off${codeOf(error)}`, 'broken');
}

function failureOf(status: number | undefined, type: string | null): ModelFailure {
  if (status === 429 || type === 'rate_limit_error') return 'rate-limited';
  if (status === 529 || type === 'overloaded_error') return 'overloaded';
  if (status !== undefined) return status >= 500 ? 'unavailable' : 'rejected';
  if (type === 'invalid_request_error' || type === 'authentication_error' || type === 'permission_error') {
    return 'rejected';
  }
  return 'unavailable';
}

function retryAfter(headers: unknown, now: Date): number | undefined {
  if (!(headers instanceof Headers)) return undefined;
  const milliseconds = headers.get('retry-after-ms');
  const seconds = headers.get('retry-after');
  const wait =
    milliseconds === null
      ? seconds === null
        ? Number.NaN
        : /^\s*[\d.]+\s*$/u.test(seconds)
          ? Number(seconds) * 1000
          : Date.parse(seconds) - now.getTime()
      : Number(milliseconds);
  return Number.isFinite(wait) ? Math.max(0, wait) : undefined;
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
