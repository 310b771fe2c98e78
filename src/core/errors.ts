import { createHash } from 'node:crypto';

/** The disk refused: full, read-only, no permission, or a write came out short. The old content is intact. */
export class StoreError extends Error {
  override readonly name: string = 'StoreError';
  readonly key: string;
  constructor(message: string, key: string, options?: { cause?: unknown }) {
    super(message, options);
    this.key = key;
  }
}

/** The store cannot be used before its operator mends something, such as a wrong password: starting again does not help [O2]. */
export class UnusableStoreError extends StoreError {}

/** A document was written by a newer program; it is neither read nor rewritten [S4]. */
export class NewerVersionError extends StoreError {
  readonly found: number;
  readonly supported: number;
  constructor(key: string, found: number, supported: number) {
    super(`${key} has version ${found}, this program reads up to ${supported}`, key);
    this.found = found;
    this.supported = supported;
  }
}

/**
 * Why a model call came to nothing. `rate-limited`, `overloaded`, `unavailable`, `broken` and `stalled` were retried inside
 * the time limit first; `busy` means the local queue was full; `over-limit`, that nothing was asked, since it might cost more than the day's limit [L2].
 */
export type ModelFailure =
  | 'rate-limited'
  | 'overloaded'
  | 'unavailable'
  | 'broken'
  | 'stalled'
  | 'timeout'
  | 'invalid'
  | 'rejected'
  | 'busy'
  | 'over-limit'
  | 'aborted';

/** A model call failed. `partialText` is what had been streamed until then, possibly empty. */
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

/**
 * A short reference to a failure, by the id of the message or interaction that met it: people quote it from the answer, and the log is
 * searched for it. The same id gives the same one.
 */
export function referenceTo(id: string): string {
  return createHash('sha256').update(id).digest('hex').slice(0, 6);
}

/** A line that people are told, with the reference at its end. */
export function withReference(line: string, reference: string): string {
  return `${line} (reference ${reference})`;
}
