import type { CommandCall, IncomingMessage, PresentPlace, ReplyPort } from '../core/chat.ts';
import type { CommandReply, CommandRequest } from '../core/commands.ts';
import { createKeyedQueue } from '../core/keyed-queue.ts';
import type { Logger } from '../core/logger.ts';
import { hasMoreReaders, sessionName, type SessionKey } from '../core/place.ts';
import type { Writes } from '../core/writes.ts';
import { saveBestEffort, type PersonalOutbox } from './outbox.ts';
import { endRefused, keptBackLine } from './reply.ts';

export type CommandOrder = ReturnType<typeof createCommandOrder>;

/**
 * Keeps a session's commands in order, and its turns behind the commands before them, so that a question
 * after `!memory remember …` finds it [F3]. Commands do not wait for turns [F2].
 */
export function createCommandOrder() {
  const queue = createKeyedQueue();
  return {
    /** Runs a command after the session's earlier ones; settles as it does. */
    run: <T>(session: SessionKey, command: () => Promise<T>): Promise<T> =>
      queue.run(sessionName(session), command),
    /** Resolves when the session's present commands are answered. */
    settled: (session: SessionKey): Promise<void> => queue.run(sessionName(session), () => Promise.resolve()),
  };
}

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
  { handle, begin, outbox, replies, presentPlace, logger }: CommandPorts,
): Promise<void> {
  const { channelId, author, place } = message;
  const hide = (id: string): Promise<void> =>
    saveBestEffort(logger, 'messages hidden from history', () => outbox.hide(channelId, [id]));
  try {
    await hide(message.id);
    const work = await begin(author.id);
    const {
      text,
      buttons,
      onReplied: settle,
    } = await handle({
      id: message.id,
      command,
      proxiedText: message.isProxied && message.text,
      speaker: { id: author.id, name: author.name, isOwner: message.isOwner },
      place,
      ephemeral: false,
      at: message.at,
      files: message.files,
      repliesTo: message.repliesTo,
      mentions: message.mentions,
      startedAfter: work.startedAfter,
    });
    const question = { ...work, messageIds: [message.id], speakerName: author.name, place };
    await saveBestEffort(logger, 'the answer', () => outbox.prepare({ ...question, isCommand: true, text }));
    let wasSent = false;
    try {
      const hasOthersNow = hasMoreReaders(place, await presentPlace(place));
      const sent = await (hasOthersNow
        ? replies.send(channelId, keptBackLine, message.id, hide)
        : replies.send(channelId, text, message.id, hide, buttons && { personId: author.id, buttons }));
      wasSent = sent.kind === 'sent' && !hasOthersNow;
      if (sent.kind === 'refused') await endRefused({ outbox, replies, logger }, question, sent);
    } finally {
      await settle?.(wasSent);
      // It is done; doing it again later could undo what came after it.
      await outbox.markHandled(channelId, [message.id]);
    }
  } catch (error) {
    logger.error('a command could not be finished', { channelId, userId: author.id, error });
  }
}
