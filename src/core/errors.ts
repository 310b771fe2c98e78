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
 * `no-api`: the server has no Messages API at the address; `busy`: the local queue was full; `over-limit`: not asked, as it might exceed the day's limit [L2].
 */
export type ModelFailure =
  | (typeof passing)[number]
  | 'timeout'
  | 'invalid'
  | 'empty'
  | 'unknown-model'
  | 'no-api'
  | 'rejected'
  | 'too-large'
  | 'busy'
  | 'over-limit'
  | 'aborted';

export const passingFailures: ReadonlySet<ModelFailure> = new Set(passing);

/** `partialText` is what had been streamed until then, possibly empty. */
export class ModelError extends Error {
  override readonly name = 'ModelError';
  readonly failure: ModelFailure;
  readonly partialText: string;
  constructor(message: string, failure: ModelFailure, options?: { cause?: unknown; partialText?: string }) {
    super(message, options);
    this.failure = failure;
    this.partialText = options?.partialText ?? '';
  }
}

/** A short reference to a failure, which people quote and the log is searched for; the same for the same id. */
export function referenceTo(id: string): string {
  return createHash('sha256').update(id).digest('hex').slice(0, 6);
}

export function withReference(line: string, reference: string): string {
  return `${line} (reference ${reference})`;
}
