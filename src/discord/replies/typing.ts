import type { Logger } from '../../core/logger.ts';
import type { DiscordApi } from '../discord-api.ts';

/** Discord shows "is typing…" for 10 seconds; milliseconds. */
const repeatEveryMs = 8000;

/** Shows "is typing…" until the returned function is called. Never throws: a failure is logged, and not tried again. */
export function keepTyping(
  api: Pick<DiscordApi, 'showTyping'>,
  channelId: string,
  logger: Logger,
): () => void {
  const show = () => {
    api.showTyping(channelId).catch((error: unknown) => {
      clearInterval(timer);
      logger.warn('typing could not be shown', { channelId, error });
    });
  };
  const timer = setInterval(show, repeatEveryMs);
  show();
  return () => clearInterval(timer);
}
