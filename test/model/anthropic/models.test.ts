import { expect, it } from 'vitest';

import { cachePrice, callCost } from '../../../src/model/anthropic/models.ts';

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

it('prices what is written for an hour higher than what is written for five minutes', () => {
  const short = { ...million, cacheWriteTokens: 3000 };
  expect(callCost('opus', { ...short, cacheHourTokens: 1000 })).toBeCloseTo(0.01 + 0.008, 10);
  expect(callCost('opus', short)).toBeCloseTo(0.015, 10);
});

it('tells what reading and writing the cache costs beside plain input', () => {
  expect(cachePrice('sonnet')).toEqual({ read: 0.05, write: { '5m': 1.25, '1h': 2 } });
  expect(cachePrice('claude-haiku-5-5')?.read).toBe(0.1);
  expect(cachePrice('some-other-model')).toBeUndefined();
});

it('prices a long prompt of the smallest model higher, as its vendor does', () => {
  const long = { ...million, inputTokens: 60_000, cacheReadTokens: 40_001 };
  const short = { ...million, inputTokens: 60_000, cacheReadTokens: 40_000 };
  expect(callCost('haiku', short)).toBeCloseTo(0.0064, 10);
  expect(callCost('haiku', long)).toBeCloseTo(5 * 0.00640001, 10);
  expect(callCost('opus', { ...million, inputTokens: 200_000 })).toBeCloseTo(0.8, 10);
});
