import type { CommandCall, IncomingMessage } from '../core/message.ts';
import type { PresentPlace } from '../core/channels.ts';
import type { ReplyPort } from '../core/reply.ts';
import type { CommandReply, CommandRequest } from '../core/commands.ts';
import type { Logger } from '../core/logger.ts';
import { hasMoreReaders } from '../core/place.ts';
import type { Writes } from '../core/writes.ts';
import { hideFromHistory, saveBestEffort, type PersonalOutbox } from './outbox.ts';
import { endRefused, keptBackLine, lateLine, sendLine } from './reply.ts';

export interface CommandPorts {
  readonly handle: (request: CommandRequest) => Promise<CommandReply>;
  readonly begin: Writes['begin'];
  readonly outbox: PersonalOutbox;
  readonly replies: ReplyPort;
  readonly presentPlace: PresentPlace;
  readonly logger: Logger;
}

/**
 * Answers a `!memory` message without any model and without waiting for turns [F2]; neither it nor the answer
 * enters history or log. The answer is kept back if it gained readers [V2]. Changes are on disk before the
 * answer. Never rejects.
 */
export async function runCommand(
  message: IncomingMessage,
  command: CommandCall,
  ports: CommandPorts,
): Promise<void> {
  const { handle, begin, outbox, replies, presentPlace, logger } = ports;
  const { channelId, author, place } = message;
  const hide = (id: string): Promise<void> => hideFromHistory(ports, channelId, [id]);
  try {
    await hide(message.id);
    const work = await begin(author.id);
    const { text, buttons, onReplied } = await handle({
      id: message.id,
      command,
      isProxied: message.isProxied,
      speaker: { id: author.id, name: author.name, isOwner: message.isOwner },
      place,
      ephemeral: false,
      at: message.at,
      files: message.files,
      repliesTo: message.repliesTo,
      mentions: message.mentions,
      work,
    });
    const question = { userId: author.id, work, messageIds: [message.id], speakerName: author.name, place };
    await saveBestEffort(logger, 'the answer', () => outbox.prepare({ ...question, isCommand: true, text }));
    let wasSent = false;
    try {
      const mayShow = async () => !hasMoreReaders(place, await presentPlace(place));
      const under = buttons && { personId: author.id, buttons };
      const sent = await replies
        .send(channelId, text, message.id, hide, under, mayShow)
        .catch(() => sendLine(ports, question, lateLine));
      wasSent = sent?.kind === 'sent';
      if (sent?.kind === 'withheld') await sendLine(ports, question, keptBackLine);
      if (sent?.kind === 'refused') await endRefused(ports, question, sent);
    } finally {
      await onReplied?.(wasSent);
      // It is done; doing it again later could undo what came after it.
      await outbox.markHandled(channelId, [message.id]);
    }
  } catch (error) {
    logger.error('a command could not be finished', { channelId, userId: author.id, error });
  }
}
