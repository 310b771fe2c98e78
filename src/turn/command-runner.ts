import type { CommandRequest, IncomingMessage, ReplyPort } from '../core/chat.ts';
import type { Logger } from '../core/logger.ts';
import type { ChannelJournal } from './channel-journal.ts';

export interface CommandRunnerOptions {
  readonly handle: (request: CommandRequest) => Promise<string>;
  readonly journal: ChannelJournal;
  readonly replies: ReplyPort;
  readonly logger: Logger;
}

/**
 * Answers a `!memory` message at once, without any model and without waiting for turns that run or queue [F2]. Neither the
 * command nor the answer enters history or log.
 */
export function createCommandRunner({ handle, journal, replies, logger }: CommandRunnerOptions) {
  return async (message: IncomingMessage, words: string): Promise<void> => {
    const { channelId } = message;
    try {
      await journal.hide(channelId, [message.id]).catch((error: unknown) => {
        logger.error('could not be saved', { what: 'what is no part of history', error });
      });
      const text = await handle({
        id: message.id,
        words,
        speaker: { id: message.author.id, name: message.author.name, isOwner: message.isOwner },
        place: message.place,
        ephemeral: false,
        at: message.at,
      });
      try {
        await journal.hide(channelId, await replies.send(channelId, text, message.id));
      } finally {
        // What it asked for is done, and done again later it could undo what came after it.
        await journal.markHandled(channelId, [message.id]);
      }
    } catch (error) {
      logger.error('a command could not be finished', { channelId, userId: message.author.id, error });
    }
  };
}
