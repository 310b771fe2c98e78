import { setTimeout as delay } from 'node:timers/promises';

import type { WaitingReactionPort } from '../core/chat.ts';
import type { Logger } from '../core/logger.ts';
import type { DiscordApi } from './discord-api.ts';

const eyes = '👀';

export interface WaitingReactions extends WaitingReactionPort {
  /** Resolves when no request of these runs or waits. */
  idle(): Promise<void>;
}

/** Discord takes one reaction of a channel in a quarter of a second, and counts a quicker one as invalid; milliseconds. */
const pauseMs = 300;

/**
 * What happens in one channel goes to Discord in order, so that a reaction which is taken away at once
 * does not come after that, and no faster than Discord takes it; a refusal is no more than a line in the log.
 */
export function createWaitingReactions({
  api,
  logger,
}: {
  /** Sends no request that Discord is known to refuse. */
  readonly api: Pick<DiscordApi, 'react' | 'unreact'>;
  readonly logger: Logger;
}): WaitingReactions {
  const last = new Map<string, Promise<void>>();

  function then(channelId: string, messageId: string, request: () => Promise<void>): void {
    const done = (last.get(channelId) ?? Promise.resolve())
      .then(request)
      .catch((error: unknown) =>
        logger.debug('a waiting reaction could not be changed', { channelId, messageId, error }),
      )
      .then(() => delay(pauseMs))
      .finally(() => {
        if (last.get(channelId) === done) last.delete(channelId);
      });
    last.set(channelId, done);
  }

  return {
    add: (channelId, messageId) => then(channelId, messageId, () => api.react(channelId, messageId, eyes)),
    remove: (channelId, messageId) =>
      then(channelId, messageId, () => api.unreact(channelId, messageId, eyes)),
    async idle() {
      while (last.size > 0) await Promise.all(last.values());
    },
  };
}
