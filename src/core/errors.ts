import { createHash } from 'node:crypto';

/** The disk refused a write, which may have come out short. The old content is intact. */
export class StoreError extends Error {
  override readonly name: string = 'StoreError';
  readonly key: string;
  constructor(message: string, key: string, options?: { cause?: unknown }) {
    super(message, options);
    this.key = key;
  }
}

/** The operator must mend something first, such as a wrong password: a restart does not help [O2]. */
export class UnusableStoreError extends StoreError {}

/** Written by a newer program; neither read nor rewritten [S4]. */
export class NewerVersionError extends StoreError {
  readonly found: number;
  readonly supported: number;
  constructor(key: string, found: number, supported: number) {
    super(`${key} has version ${found}, this program reads up to ${supported}`, key);
    this.found = found;
    this.supported = supported;
  }
}

/** Failures that may pass by themselves: they are worth a retry [M7]. */
const passing = ['rate-limited', 'overloaded', 'unavailable', 'broken', 'stalled'] as const;

/**
 * `rate-limited`, `overloaded`, `unavailable`, `broken` and `stalled` were retried first; `empty`: without words, twice;
 * `no-api`: the server has no Messages API at the address; `busy`: the local queue was full; not asked: `over-limit`, as it might
 * exceed the day's limit [L2], `paused`, as it failed a while ago [M16].
 */
export type ModelFailure =
  | (typeof passing)[number]
  | 'timeout'
  | 'invalid'
  | 'empty'
  | 'unknown-model'
  | 'no-api'
  | 'out-of-credit'
  | 'unauthorized'
  | 'rejected'
  | 'too-large'
  | 'busy'
  | 'over-limit'
  | 'paused'
  | 'aborted';

export const passingFailures: ReadonlySet<ModelFailure> = new Set(passing);

/** They last until somebody puts the account right [M16]. */
export const accountFailures: ReadonlySet<ModelFailure> = new Set(['out-of-credit', 'unauthorized']);

/** The model cannot be had, whatever it is asked. */
export const outages = new Set<ModelFailure>([
  ...passing,
  ...accountFailures,
  'timeout',
  'unknown-model',
  'no-api',
]);

/** In milliseconds. A longer wait is told with its end, and no call is made for it [M16]. */
export const longestRetryMs = 60_000;

export class ModelError extends Error {
  override readonly name = 'ModelError';
  readonly failure: ModelFailure;
  /** What had been streamed until then, possibly empty. */
  readonly partialText: string;
  /** Milliseconds that the server asks to wait; 0 where it does not say. */
  readonly retryAfterMs: number;
  constructor(message: string, failure: ModelFailure, options: Partial<ModelError> = {}) {
    super(message, options);
    this.failure = failure;
    this.partialText = options.partialText ?? '';
    this.retryAfterMs = options.retryAfterMs ?? 0;
  }
}

const conditions: Partial<Record<ModelFailure, string>> = {
  'rate-limited': 'over its rate limit',
  overloaded: 'overloaded',
  invalid: 'giving no usable answers',
  empty: 'giving answers without words',
  'unknown-model': 'unknown to its server',
  'out-of-credit': 'out of credit',
  unauthorized: 'without a valid key',
  rejected: 'refusing requests',
};

/** What a model is that fails so, for people: it goes behind "is". */
export function conditionOf(failure: ModelFailure): string {
  return conditions[failure] ?? 'out of reach';
}

/** A short reference to a failure, which people quote and the log is searched for; the same for the same id. */
export function referenceTo(id: string): string {
  return createHash('sha256').update(id).digest('hex').slice(0, 6);
}

export function withReference(line: string, reference: string): string {
  return `${line} (reference ${reference})`;
}
