import { setTimeout as delay } from 'node:timers/promises';

import { createKeyedQueue } from '../core/keyed-queue.ts';
import type { Logger } from '../core/logger.ts';
import type { DiscordApi } from './discord-api.ts';

const eyes = '👀';

/** Discord takes one reaction of a channel in a quarter of a second, and counts a quicker one as invalid; milliseconds. */
const pauseMs = 300;

/** The `WaitingReactionPort` of a client: in order within a channel, no faster than Discord takes them. A refusal is only logged. */
export function createWaitingReactions(api: Pick<DiscordApi, 'react' | 'unreact'>, logger: Logger) {
  const requests = createKeyedQueue();
  /** One of them a channel stands among the requests at a time, so that a flood keeps nobody from seeing that they wait. */
  const refusals = createKeyedQueue();
  let isClosing = false;

  function send(channelId: string, messageId: string, request: () => Promise<void>): Promise<void> {
    return requests.run(channelId, async () => {
      await request().catch((error: unknown) =>
        logger.debug('a waiting reaction could not be changed', { channelId, messageId, error }),
      );
      await delay(pauseMs);
    });
  }

  return {
    add: (channelId: string, messageId: string): void =>
      void send(channelId, messageId, () => api.react(channelId, messageId, eyes)),
    remove: (channelId: string, messageId: string): void =>
      void send(channelId, messageId, () => api.unreact(channelId, messageId, eyes)),
    refuse: (channelId: string, messageId: string, sign = '🚫'): void =>
      void refusals.run(channelId, async () => {
        if (!isClosing) await send(channelId, messageId, () => api.react(channelId, messageId, sign));
      }),
    /** Resolves when no request of these runs or waits. What was not marked as refused by then will not be. */
    async close(): Promise<void> {
      isClosing = true;
      await requests.idle();
    },
  };
}
