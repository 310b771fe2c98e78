import { describe, expect, it } from 'vitest';

import type { Place } from '../../src/core/place.ts';
import { unconditional } from '../../src/core/writes.ts';
import { aliceId, bobId, publicPlace } from '../support/incoming.ts';
import { createHarness, dmPlace, privatePlace } from './harness.ts';

const thread: Place = {
  ...privatePlace,
  channelId: '200000000000000013',
  channelName: 'plans',
  parentName: 'hideout',
};

/** What a bot holds that Alice has talked with in a channel, a private thread and her DM, each with a summary. */
async function withConversations() {
  const harness = createHarness();
  const { states, rolling, store } = harness;
  for (const [place, visibility] of [
    [publicPlace, 'server'],
    [thread, 'here'],
    [dmPlace, 'dm'],
  ] as const) {
    const session = { channelId: place.channelId, userId: aliceId };
    await states.update({ ...session, ...unconditional(aliceId) }, (state) => ({ ...state, place }));
    rolling.put(session, { text: `Summary of ${visibility}`, visibility, homeId: place.homeId });
  }
  await store.writeText(
    `sessions/${dmPlace.channelId}/${aliceId}/overview.md`,
    '## Current Task\n\nA parser\n',
  );
  return harness;
}

describe('conversations [K3]', () => {
  it('are listed with title, server and summary', async () => {
    const { say } = await withConversations();
    const server = `server ${publicPlace.guildId}`;
    expect((await say('conversations', dmPlace)).split('\n')).toEqual([
      '3 conversations:',
      `- **#${publicPlace.channelName}, ${server}** · id ${publicPlace.channelId}: Summary of server`,
      `- **#plans in #hideout, ${server}** · id ${thread.channelId}: Summary of here`,
      `- **Our direct messages** · id ${dmPlace.channelId}: Summary of dm`,
      expect.stringMatching(/^-# /u),
    ]);
  });

  it('are each shown whole, with the notes on them', async () => {
    const { say } = await withConversations();
    const direct = await say(`conversations ${dmPlace.channelId}`, dmPlace);
    expect(direct).toContain('Summary: Summary of dm');
    expect(direct).toContain('`overview.md`: ## Current Task\n\nA parser');
    const channel = await say(`conversations ${publicPlace.channelId}`, dmPlace);
    expect(channel).toContain('Summary: Summary of server');
    expect(channel).not.toContain('parser');
  });

  it('of others, and unknown ones, are not there', async () => {
    const { say } = await withConversations();
    const answer = await say(
      `conversations ${dmPlace.channelId}`,
      { ...dmPlace, channelId: '200000000000000019' },
      { speakerId: bobId },
    );
    expect(answer).toMatch(/^We have had no conversation with the id/u);
    expect(await say('conversations x', dmPlace)).toMatch(/^We have had no conversation with the id "x"/u);
  });

  it('are told where the asker alone reads, and nowhere else [V2]', async () => {
    const { say } = await withConversations();
    for (const words of ['conversations', `conversations ${dmPlace.channelId}`]) {
      expect(await say(words)).toBe(
        'That is for you alone: use `/memory conversations`, or ask me in our DM.',
      );
      expect(await say(words, publicPlace, { ephemeral: true })).toContain('Summary of dm');
    }
  });

  it("have their summary cleared from elsewhere, if they are one's own [R4]", async () => {
    const { say } = await withConversations();
    const reset = `reset rolling ${publicPlace.channelId}`;
    expect(await say(reset, dmPlace, { speakerId: bobId })).toMatch(/^We have had no conversation/u);
    expect(await say(reset, dmPlace)).toBe('Rolling summary of that conversation cleared.');
    const left = await say('conversations', dmPlace);
    expect(left).not.toContain('Summary of server');
    expect(left).toContain('Summary of dm');
  });
});
