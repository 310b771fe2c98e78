import { setTimeout as delay } from 'node:timers/promises';

import type { SignsPort } from '../core/chat.ts';
import type { Logger } from '../core/logger.ts';
import type { DiscordApi } from './discord-api.ts';

const eyes = '👀';

export interface Signs extends SignsPort {
  /** Resolves when no request of a sign runs or waits. */
  idle(): Promise<void>;
}

/** Discord takes one reaction of a channel in a quarter of a second, and counts a quicker one as invalid; milliseconds. */
const pauseMs = 300;

/**
 * Signs as reactions of the bot's own. What happens in one channel goes to Discord in order, so that a sign which is taken away at once
 * does not come after that, and no faster than Discord takes it; a refusal is no more than a line in the log.
 */
export function createSigns({
  api,
  logger,
}: {
  /** Sends no request that Discord is known to refuse. */
  readonly api: Pick<DiscordApi, 'react' | 'unreact'>;
  readonly logger: Logger;
}): Signs {
  const last = new Map<string, Promise<void>>();

  function then(channelId: string, messageId: string, request: () => Promise<void>): void {
    const done = (last.get(channelId) ?? Promise.resolve())
      .then(request)
      .catch((error: unknown) => logger.debug('a sign could not be set', { channelId, messageId, error }))
      .then(() => delay(pauseMs))
      .finally(() => {
        if (last.get(channelId) === done) last.delete(channelId);
      });
    last.set(channelId, done);
  }

  return {
    waiting: (channelId, messageId) =>
      then(channelId, messageId, () => api.react(channelId, messageId, eyes)),
    taken: (channelId, messageId) =>
      then(channelId, messageId, () => api.unreact(channelId, messageId, eyes)),
    async idle() {
      while (last.size > 0) await Promise.all(last.values());
    },
  };
}
