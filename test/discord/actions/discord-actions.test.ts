import { describe, expect, it } from 'vitest';

import { openActionStage } from '../support/action-harness.ts';

describe('the section of Discord actions', () => {
  it('names what speaker and bot may both do in the place, and public channels to send to', async () => {
    const stage = await openActionStage();
    const context = await stage.ask('bob', '#general', 'hello');
    expect(await stage.lines(context)).toEqual([
      '- discord_react: react to a message here',
      '- discord_start_thread: start a thread here (public or private)',
      '- discord_send: send a message to #dev',
    ]);
    await stage.server.setRole({
      name: 'keepers',
      people: ['Discoclaw', 'bob'],
      permissions: ['PinMessages', 'SendPolls'],
    });
    await stage.server.setOverwrite({
      channel: '#general',
      for: 'bob',
      deny: ['CreatePrivateThreads', 'AddReactions'],
    });
    expect(await stage.lines(await stage.ask('bob', '#general', 'hello'))).toEqual([
      '- discord_pin, discord_unpin: pin or unpin a message here',
      '- discord_poll: make a poll here',
      '- discord_start_thread: start a thread here (public)',
      '- discord_send: send a message to #dev',
    ]);
  });
});
