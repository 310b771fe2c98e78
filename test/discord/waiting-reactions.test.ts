import { describe, expect, it } from 'vitest';

import { createWaitingReactions } from '../../src/discord/discord-ports.ts';
import { RecordingLogger } from '../support/recording-logger.ts';

/** Waiting reactions over an API that takes its time for the first request. */
function reactionsOver({ fails = false } = {}) {
  const requests: string[] = [];
  const logger = new RecordingLogger();
  const request = (what: string) => async (_: string, messageId: string, emoji: string) => {
    await new Promise((resolve) => setTimeout(resolve, requests.length === 0 ? 10 : 0));
    requests.push(`${what} ${emoji} ${messageId}`);
    if (fails) throw new Error('refused');
  };
  const reactions = createWaitingReactions({ react: request('put'), unreact: request('delete') }, logger);
  return { reactions, requests, logger };
}

describe('waiting reactions on messages', () => {
  it('come and go in order, however slow Discord is', async () => {
    const { reactions, requests } = reactionsOver();
    reactions.add('1', '7');
    reactions.remove('1', '7');
    await reactions.close();
    expect(requests).toEqual(['put 👀 7', 'delete 👀 7']);
  });

  it('say at once that somebody waits, though many messages of another are marked as not taken [L1]', async () => {
    const { reactions, requests } = reactionsOver();
    for (const id of ['1', '2', '3']) reactions.refuse('5', id);
    reactions.add('5', '7');
    await expect.poll(() => requests).toEqual(['put 👀 7', 'put 🚫 1']);
    // A stop does not wait for the rest.
    await reactions.close();
    expect(requests).toEqual(['put 👀 7', 'put 🚫 1']);
  });
});
