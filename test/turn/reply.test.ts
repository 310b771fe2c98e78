import { expect, it } from 'vitest';

import { ModelError, type ModelFailure } from '../../src/core/errors.ts';
import { failureLine } from '../../src/turn/reply.ts';

function lineOf(failure: ModelFailure): string {
  return failureLine(new ModelError('secret reason', failure), 'ab12cd');
}

it('refers people to the operator if asking again does not help, and never gives the reason', () => {
  expect(lineOf('rejected')).toBe(
    '⚠️ My language model refused this. If it happens again, the person who runs me can find the reason in my log. (reference ab12cd)',
  );
  expect(lineOf('unknown-model')).toContain('can choose another with DISCOCLAW_MODEL');
  expect(lineOf('unavailable')).toMatch(/Please ask again in a moment\. \(reference ab12cd\)$/u);
  expect(failureLine(new Error('secret reason'), 'ab12cd')).toMatch(/^⚠️ Something went wrong on my side/u);
});
