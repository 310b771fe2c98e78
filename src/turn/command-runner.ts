import type { CommandCall, IncomingMessage, PresentPlace, ReplyPort } from '../core/chat.ts';
import type { CommandReply, CommandRequest } from '../core/commands.ts';
import type { Logger } from '../core/logger.ts';
import { becamePublic } from '../core/place.ts';
import type { ChannelJournal } from './channel-journal.ts';
import { keptBackLine } from './failure-line.ts';
import { createKeep } from './keep.ts';

export interface CommandRunnerOptions {
  readonly handle: (request: CommandRequest) => Promise<CommandReply>;
  readonly journal: ChannelJournal;
  readonly replies: ReplyPort;
  readonly presentPlace: PresentPlace;
  readonly logger: Logger;
}

/**
 * Answers a `!memory` message at once, without any model and without waiting for turns that run or queue [F2]. Neither the
 * command nor the answer enters history or log. An answer that was made for fewer readers than it would have by now is kept back [V2].
 */
export function createCommandRunner({
  handle,
  journal,
  replies,
  presentPlace,
  logger,
}: CommandRunnerOptions) {
  const keep = createKeep(logger);

  return async (message: IncomingMessage, command: CommandCall): Promise<void> => {
    const { channelId, author, place } = message;
    const hide = (id: string): Promise<void> =>
      keep('what is no part of history', () => journal.hide(channelId, [id]));
    try {
      await hide(message.id);
      const { text } = await handle({
        id: message.id,
        command,
        speaker: { id: author.id, name: author.name, isOwner: message.isOwner },
        place,
        ephemeral: false,
        at: message.at,
      });
      await keep('the answer', () =>
        journal.prepare({
          messageIds: [message.id],
          userId: author.id,
          speakerName: author.name,
          isCommand: true,
          place,
          text,
        }),
      );
      try {
        const isPublicNow = becamePublic(place, await presentPlace(place));
        await replies.send(channelId, isPublicNow ? keptBackLine : text, message.id, hide);
      } finally {
        // What it asked for is done, and done again later it could undo what came after it.
        await journal.markHandled(channelId, [message.id]);
        // The answer may name what is forgotten by the next command, also where it could not be sent.
        await journal.dropSentTexts(channelId);
      }
    } catch (error) {
      logger.error('a command could not be finished', { channelId, userId: author.id, error });
    }
  };
}
