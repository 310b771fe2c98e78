import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import type { ModelFailure } from '../../src/core/errors.ts';
import { afterFailure, afterSuccess, unknownHealth } from '../../src/observability/model-health.ts';
import type { ModelHealth } from '../../src/observability/model-health.ts';

const failures = [
  'rate-limited',
  'overloaded',
  'unavailable',
  'broken',
  'stalled',
  'timeout',
  'invalid',
  'rejected',
  'busy',
  'aborted',
] as const satisfies readonly ModelFailure[];

const at = (minute: number): Date => new Date(Date.UTC(2026, 0, 15, 10, minute));
const failed = (health: ModelHealth, failure: ModelFailure, minute = 0, partialText = ''): ModelHealth =>
  afterFailure(health, { failure, partialText }, at(minute));

describe("a model's health", () => {
  it('is lost with the second failure in a row, since that moment, and found with a success', () => {
    const once = failed(unknownHealth, 'unavailable', 1);
    expect(once.state.kind).toBe('reachable');
    const twice = failed(once, 'rejected', 2);
    expect(twice.state).toEqual({ kind: 'unreachable', since: at(2), failure: 'rejected' });
    expect(failed(twice, 'overloaded', 3).state).toEqual(twice.state);
    expect(afterSuccess().state.kind).toBe('reachable');
    expect(failed(afterSuccess(), 'unavailable').state.kind).toBe('reachable');
  });

  it.each(['rate-limited', 'busy', 'aborted', 'invalid'] as const)(
    'is not judged by what is %s',
    (failure) => {
      const once = failed(unknownHealth, 'unavailable');
      expect(failed(failed(once, failure), failure)).toEqual(once);
    },
  );

  it('is not lost by answers of which a part came', () => {
    const once = failed(unknownHealth, 'broken', 0, 'Half of');
    expect(failed(once, 'broken', 1, 'Half of')).toEqual(unknownHealth);
  });

  it('is never lost without two failures since the last success', () => {
    const ending = fc.oneof(fc.constant('success' as const), fc.constantFrom(...failures));
    fc.assert(
      fc.property(fc.array(ending, { maxLength: 12 }), (endings) => {
        let health = unknownHealth;
        for (const each of endings) health = each === 'success' ? afterSuccess() : failed(health, each);
        const since = endings.slice(endings.lastIndexOf('success') + 1);
        expect(health.state.kind === 'reachable' || since.length >= 2).toBe(true);
      }),
    );
  });
});
