import { describe, expect, it } from 'vitest';

import { openStage } from './e2e/stage.ts';

/** What write-file-atomic does for as long as it replaces a file: it listens for the end of the process too, by `signal-exit`. */
const asIfReplacing = `data:text/javascript,${encodeURIComponent(
  `import { createRequire } from 'node:module';
   const { onExit } = createRequire(${JSON.stringify(import.meta.url)})('signal-exit');
   process.once('newListener', () => setImmediate(() => onExit(() => {})));`,
)}`;

describe('the program', () => {
  it('ends within 10 seconds of the wish to stop, though Discord makes its reply wait for minutes [G4]', async () => {
    await using stage = await openStage({ model: () => ({ text: 'Here you are.' }) });
    await stage.sandbox.setFault({
      kind: '429',
      retryAfterSeconds: 300,
      scope: 'user',
      route: 'POST /channels/*/messages',
    });
    await stage.sandbox.say({ as: 'alice', in: 'dm', text: 'Are you there?' });
    await expect.poll(() => stage.bot().output()).toContain('rate limited by Discord');
    const began = Date.now();
    await stage.stopBot();
    expect(Date.now() - began).toBeLessThan(10_000);
  });

  it('stops in order although a file is being replaced at that moment [G4]', async () => {
    await using stage = await openStage({ environment: { NODE_OPTIONS: `--import=${asIfReplacing}` } });
    expect(await stage.stopBot()).toBe(0);
    expect(stage.bot().output()).toContain('the bot has stopped');
  });
});
