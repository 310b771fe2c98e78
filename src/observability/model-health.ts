import type { ModelError, ModelFailure } from '../core/errors.ts';
import type { ModelState } from '../core/model.ts';

/** Failures in a row, with no success between them, after which the model counts as out of reach. */
const failuresInARow = 2;

/** Failures that mean that nothing came from the model at all. */
const outOfReach: ReadonlySet<ModelFailure> = new Set([
  'overloaded',
  'unavailable',
  'rejected',
  'broken',
  'stalled',
  'timeout',
]);

/**
 * Follows how calls of one model end, as a pure fold: each step gives the next value. One failure alone says little, since it may be the
 * message's; a first success says that all is well again.
 */
export interface ModelHealth {
  readonly state: ModelState;
  /** Failures since the last success. */
  readonly failures: number;
}

export const unknownHealth: ModelHealth = { state: { kind: 'reachable' }, failures: 0 };

export function afterSuccess(): ModelHealth {
  return unknownHealth;
}

/** What is no sign of the model's health, such as a full local queue or an answer of which a part came, changes nothing. */
export function afterFailure(
  health: ModelHealth,
  { failure, partialText }: Pick<ModelError, 'failure' | 'partialText'>,
  now: Date,
): ModelHealth {
  if (!outOfReach.has(failure) || partialText !== '') return health;
  const failures = health.failures + 1;
  if (health.state.kind === 'unreachable' || failures < failuresInARow) return { ...health, failures };
  return { state: { kind: 'unreachable', since: now, failure }, failures };
}
