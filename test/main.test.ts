import { describe, expect, it } from 'vitest';

import { openStage } from './e2e/stage.ts';

describe('the program', () => {
  it('ends within 10 seconds of the wish to stop, though Discord makes its reply wait for minutes', async () => {
    await using stage = await openStage({ model: () => ({ text: 'Here you are.' }) });
    await stage.sandbox.setFault({
      kind: '429',
      retryAfterSeconds: 300,
      scope: 'user',
      route: 'POST /channels/*/messages',
    });
    await stage.sandbox.say({ as: 'alice', in: 'dm', text: 'Are you there?' });
    await expect.poll(() => stage.bot().output()).toContain('Discord limits the rate');
    const began = Date.now();
    await stage.stopBot();
    expect(Date.now() - began).toBeLessThan(10_000);
  });
});
