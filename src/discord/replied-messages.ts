import type { ReadReplied, RepliedMessage } from '../core/chat.ts';
import type { Logger } from '../core/logger.ts';
import type { ChannelMessages } from './channel-messages.ts';
import { filesOf, forwardsOf } from './enclosures.ts';
import type { History } from './history.ts';
import { chatMessageOf, isSpoken } from './normalise.ts';
import { isGone } from './replies/reply-requests.ts';

export interface RepliedMessagesOptions {
  readonly history: Pick<History, 'messageOf' | 'isHidden'>;
  readonly messages: Pick<ChannelMessages, 'one'>;
  readonly botId: () => string | undefined;
  readonly logger: Logger;
}

/** From warm memory where that has all that is needed, else from Discord: addresses of files are kept nowhere. */
export function createReadReplied({ history, messages, botId, logger }: RepliedMessagesOptions): ReadReplied {
  async function fetched(channelId: string, id: string): Promise<RepliedMessage | 'hidden' | undefined> {
    try {
      const message = await messages.one(channelId, id);
      if (message === undefined) return undefined;
      const chat = chatMessageOf(message, botId() ?? '');
      // An answer of its own to a slash command.
      if (chat.author.kind === 'self' && !isSpoken(message)) return 'hidden';
      return { ...chat, files: filesOf(message), forwards: forwardsOf(message) };
    } catch (error) {
      // People delete messages all the time.
      if (!isGone(error))
        logger.info('a message that is replied to could not be fetched', { channelId, messageId: id, error });
      return undefined;
    }
  }

  return async ({ channelId, id }) => {
    const known = history.messageOf(channelId, id);
    const isComplete = known !== undefined && known.attachments.length === 0;
    const found = isComplete ? { ...known, files: [] } : await fetched(channelId, id);
    if (found === undefined) return 'gone';
    return found === 'hidden' || (await history.isHidden(found)) ? 'hidden' : found;
  };
}
