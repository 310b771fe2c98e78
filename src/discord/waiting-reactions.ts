import { setTimeout as delay } from 'node:timers/promises';

import { createKeyedQueue } from '../core/keyed-queue.ts';
import type { Logger } from '../core/logger.ts';
import type { DiscordApi } from './discord-api.ts';

const eyes = '👀';

/** Discord takes one reaction per channel in a quarter of a second. */
const pauseMs = 300;

/** A `WaitingReactionPort`, in order within a channel. A refusal is only logged. */
export function createWaitingReactions(api: Pick<DiscordApi, 'react' | 'unreact'>, logger: Logger) {
  const requests = createKeyedQueue();
  /** One at a time per channel, so that a flood does not hold up the others. */
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
    /** Resolves when all requests are done; further refusals are dropped. */
    async close(): Promise<void> {
      isClosing = true;
      await requests.idle();
    },
  };
}
