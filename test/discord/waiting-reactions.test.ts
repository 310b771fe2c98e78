import { describe, expect, it } from 'vitest';

import { createDiscordApi } from '../../src/discord/discord-api.ts';
import { createWaitingReactions } from '../../src/discord/discord-ports.ts';
import { RecordingLogger } from '../support/recording-logger.ts';
import { runGateway } from './support/gateway-harness.ts';

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
  it('come no faster than Discord takes them from one channel', async () => {
    const { server, client } = await runGateway({ sandbox: { rateLimits: true } });
    const reactions = createWaitingReactions(createDiscordApi(client), new RecordingLogger());
    const said = [
      await server.say({ as: 'alice', in: '#general', text: 'one' }),
      await server.say({ as: 'bob', in: '#general', text: 'two' }),
    ];
    for (const { channelId, id } of said) reactions.add(channelId, id);
    for (const { channelId, id } of said) reactions.remove(channelId, id);
    await reactions.close();
    expect(await server.requests({ path: '/channels/*/messages/*/reactions/*/@me' })).toHaveLength(4);
    expect(await server.invalidRequests()).toMatchObject({ count: 0 });
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
