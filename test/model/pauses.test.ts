import { expect, it } from 'vitest';

import { ModelError, type ModelFailure } from '../../src/core/errors.ts';
import type { BackgroundCall } from '../../src/core/model.ts';
import { createPauses } from '../../src/model/pauses.ts';

const minuteMs = 60_000;
const summary: BackgroundCall = { purpose: 'summary', userId: 'alice', conversation: 'dev', model: 'haiku' };
const others: readonly BackgroundCall[] = [
  { ...summary, conversation: 'general' },
  { ...summary, purpose: 'extraction' },
  { ...summary, userId: 'bob' },
];
const elsewhere: BackgroundCall = { ...summary, userId: 'bob', model: 'sonnet' };

function setUp() {
  const time = { minutes: 0 };
  const pauses = createPauses(() => new Date(time.minutes * minuteMs));
  /** What becomes of work that would end so: it is done, refused, or fails. */
  async function outcome(
    call: BackgroundCall,
    failure?: ModelFailure,
    retryAfterMs = 0,
  ): Promise<ModelFailure | 'done'> {
    try {
      await pauses.withPauses(call, async () => {
        if (failure !== undefined) throw new ModelError('no', failure, { retryAfterMs });
      });
      return 'done';
    } catch (error) {
      return error instanceof ModelError ? error.failure : 'done';
    }
  }
  return { ...pauses, time, outcome };
}

/** The minutes of a day at which the server was asked, where the work is tried whenever that is proposed. */
async function triesInADay(failure: ModelFailure): Promise<readonly number[]> {
  const { time, outcome, heldUntil } = setUp();
  const tries: number[] = [];
  while (time.minutes < 1440) {
    if ((await outcome(summary, failure)) !== 'paused') tries.push(time.minutes);
    time.minutes = (heldUntil(summary.userId)?.getTime() ?? Infinity) / minuteMs;
  }
  return tries;
}

it('background work that fails is tried again after pauses that double, by itself, at most ten times a day more [M16]', async () => {
  expect(await triesInADay('invalid')).toEqual([0, 1, 3, 7, 15, 31, 63, 127, 255, 511, 1023]);
  // A minute later where it may be the server: others go first.
  expect(await triesInADay('unavailable')).toEqual([0, 2, 5, 10, 19, 36, 69, 134, 263, 520, 1033]);
});

it.each<readonly [ModelFailure, isOfModel: boolean]>([
  ['unavailable', true],
  ['rejected', true],
  ['invalid', false],
])('%s pauses all work of the model: %s, and other models never [M16]', async (failure, isOfModel) => {
  const { outcome, time, heldUntil } = setUp();
  expect(await outcome(summary, failure)).toBe(failure);
  expect(await outcome(summary)).toBe('paused');
  for (const call of others) expect(await outcome(call)).toBe(isOfModel ? 'paused' : 'done');
  expect(await outcome(elsewhere)).toBe('done');
  time.minutes = 1;
  // Also where this one's words were at fault, the others are done.
  for (const call of others) expect(await outcome(call)).toBe('done');
  expect(heldUntil('bob')).toBeUndefined();
});

it.each<ModelFailure>(['aborted', 'over-limit', 'busy'])('%s pauses nothing', async (failure) => {
  const { outcome, unwritten } = setUp();
  expect(await outcome(summary, failure)).toBe(failure);
  expect(await outcome(summary)).toBe('done');
  expect(unwritten()).toEqual([]);
});

it('waits as long as the server asks; then one tries, the others wait for it, and its success ends all', async () => {
  const { outcome, time, heldUntil } = setUp();
  await outcome(summary, 'rate-limited', 120 * minuteMs);
  expect(heldUntil('alice')).toEqual(new Date(120 * minuteMs));
  time.minutes = 120;
  const tries = [summary, ...others].map((call) => outcome(call, 'unavailable'));
  expect(await Promise.all(tries)).toEqual(['unavailable', 'paused', 'paused', 'paused']);
  time.minutes = 122;
  expect(await outcome(elsewhere)).toBe('done');
  expect(await outcome({ ...summary, userId: 'carol' })).toBe('done');
  await outcome({ ...summary, userId: 'carol' }, 'unavailable');
  time.minutes = 123;
  expect(await outcome({ ...summary, userId: 'dave' })).toBe('done');
});

it('tells what is not written, since when and why, until it is, nobody wants it any more, or its person is erased', async () => {
  const { outcome, time, unwritten, evict } = setUp();
  const facts = () =>
    unwritten().map(({ purpose, userId, failure, since }) => [purpose, userId, failure, +since]);
  await outcome(summary, 'unknown-model');
  time.minutes = 0.5;
  // Refused, and so not written either.
  await outcome({ ...summary, userId: 'bob', purpose: 'extraction' });
  const ofBob = ['extraction', 'bob', 'unknown-model', 30_000];
  expect(facts()).toEqual([ofBob, ['summary', 'alice', 'unknown-model', 0]]);
  evict('alice');
  expect(facts()).toEqual([ofBob]);
  time.minutes = 11;
  expect(facts()).toEqual([]);
});
