import { expect, it } from 'vitest';

import { openStage } from './stage.ts';

it('answers a message in a channel, a thread and a DM', async () => {
  await using stage = await openStage({ model: (_, index) => ({ text: `Answer ${index}.` }) });
  const reply = await stage.ask('alice', '#general', 'hello');
  expect(reply.text).toBe('Answer 0.');
  expect((await stage.ask('alice', 'dm', 'hello again')).text).toBe('Answer 1.');
});
