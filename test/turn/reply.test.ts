import { expect, it } from 'vitest';

import { ModelError, type ModelFailure } from '../../src/core/errors.ts';
import { failureLine } from '../../src/turn/reply.ts';

const now = new Date('2026-01-15T10:00:00Z');

function lineOf(failure: ModelFailure, retryAfterMs = 0): string {
  return failureLine(new ModelError('secret reason', failure, { retryAfterMs }), 'ab12cd', now);
}

it('refers people to the operator if asking again does not help, and never gives the reason', () => {
  expect(lineOf('rejected')).toBe(
    '⚠️ My language model refused this. If it happens again, the person who runs me can find the reason in my log. (reference ab12cd)',
  );
  expect(lineOf('unknown-model')).toContain('can correct DISCOCLAW_MODEL');
  expect(lineOf('unavailable')).toMatch(/Please ask again in a moment\. \(reference ab12cd\)$/u);
  expect(failureLine(new Error('secret reason'), 'ab12cd', now)).toMatch(
    /^⚠️ Something went wrong on my side/u,
  );
});

it('says that an account has to be seen to, and when a limit ends that lasts [M16]', () => {
  for (const failure of ['out-of-credit', 'unauthorized'] as const)
    expect(lineOf(failure)).toContain('has to look into my account with the provider of my language model');
  expect(lineOf('rate-limited', 60_000)).toContain('Please ask again in a minute');
  expect(lineOf('rate-limited', 7_200_000)).toBe(
    '⚠️ My language model takes no questions until <t:1768478400:t> (<t:1768478400:R>). Please ask again then; commands still work. (reference ab12cd)',
  );
});
