import { expect, it } from 'vitest';

import { callCost } from '../../../src/model/anthropic/models.ts';

const million = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  cacheHourTokens: 0,
};

it('prices a call by alias or id, each kind of token for itself, and nothing that it does not know', () => {
  const usage = {
    inputTokens: 10_000,
    outputTokens: 1000,
    cacheReadTokens: 50_000,
    cacheWriteTokens: 2000,
    cacheHourTokens: 0,
  };
  expect(callCost('sonnet', usage)).toBeCloseTo(0.02 + 0.01 + 0.005 + 0.005, 10);
  expect(callCost('claude-sonnet-5-5', usage)).toBe(callCost('sonnet', usage));
  expect(callCost('some-other-model', usage)).toBeUndefined();
});

it('prices a long prompt of the smallest model higher, as its vendor does', () => {
  const long = { ...million, inputTokens: 60_000, cacheReadTokens: 40_001 };
  const short = { ...million, inputTokens: 60_000, cacheReadTokens: 40_000 };
  expect(callCost('haiku', short)).toBeCloseTo(0.0064, 10);
  expect(callCost('haiku', long)).toBeCloseTo(5 * 0.00640001, 10);
  expect(callCost('opus', { ...million, inputTokens: 200_000 })).toBeCloseTo(0.8, 10);
});

it('prices a model as the operator says, by alias or id, before the list [L2]', () => {
  const usage = { ...million, inputTokens: 1_000_000, outputTokens: 1_000_000 };
  const own = { local: { input: 1, output: 2 }, 'claude-sonnet-5-5': { input: 3, output: 4 } };
  expect(callCost('local', usage, own)).toBe(3);
  expect(callCost('sonnet', usage, own)).toBe(7);
  expect(callCost('claude-sonnet-5-5', usage, { sonnet: { input: 5, output: 6 } })).toBe(11);
  expect(callCost('opus', usage, own)).toBe(24);
  expect(callCost('local', { ...million, cacheReadTokens: 1_000_000 }, own)).toBe(1);
});
