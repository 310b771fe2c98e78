import { setTimeout as delay } from 'node:timers/promises';

import { createKeyedQueue } from '../core/keyed-queue.ts';
import type { Logger } from '../core/logger.ts';
import type { DiscordApi } from './discord-api.ts';

const eyes = '👀';

/** Discord takes one reaction of a channel in a quarter of a second, and counts a quicker one as invalid; milliseconds. */
const pauseMs = 300;

/**
 * The `WaitingReactionPort` of a client. What happens in one channel goes to Discord in order, so that a reaction which is taken away at once
 * does not come after that, and no faster than Discord takes it; a refusal is no more than a line in the log.
 */
export function createWaitingReactions(api: Pick<DiscordApi, 'react' | 'unreact'>, logger: Logger) {
  const requests = createKeyedQueue();

  function send(channelId: string, messageId: string, request: () => Promise<void>): void {
    void requests.run(channelId, async () => {
      await request().catch((error: unknown) =>
        logger.debug('a waiting reaction could not be changed', { channelId, messageId, error }),
      );
      await delay(pauseMs);
    });
  }

  return {
    add: (channelId: string, messageId: string): void =>
      send(channelId, messageId, () => api.react(channelId, messageId, eyes)),
    remove: (channelId: string, messageId: string): void =>
      send(channelId, messageId, () => api.unreact(channelId, messageId, eyes)),
    /** Resolves when no request of these runs or waits. */
    idle: (): Promise<void> => requests.idle(),
  };
}
