import { describe, expect, it } from 'vitest';

import { tallyTalk } from './ordinary-talk.ts';

describe('what extraction keeps of ordinary talk, where the model takes every sentence [A2]', () => {
  it('is a quarter less of what should not be kept, and all of what should', async () => {
    const { before, after } = await tallyTalk();
    expect([before.good, before.lost, after.lost]).toEqual([20, 0, 0]);
    expect(after.junk).toBeLessThanOrEqual(0.75 * before.junk);
  });
});
