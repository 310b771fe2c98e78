import type { SignsPort } from '../core/chat.ts';
import type { Logger } from '../core/logger.ts';
import type { DiscordApi } from './discord-api.ts';

const eyes = '👀';

export interface Signs extends SignsPort {
  /** Resolves when no request of a sign runs or waits. */
  idle(): Promise<void>;
}

/**
 * Signs as reactions of the bot's own. What happens to one message goes to Discord in order, so that a sign which is taken away at once
 * does not come after that; a refusal is no more than a line in the log.
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
    const done = (last.get(messageId) ?? Promise.resolve())
      .then(request)
      .catch((error: unknown) => logger.debug('a sign could not be set', { channelId, messageId, error }))
      .finally(() => {
        if (last.get(messageId) === done) last.delete(messageId);
      });
    last.set(messageId, done);
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
