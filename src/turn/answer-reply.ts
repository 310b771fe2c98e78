import type { FinishedReply, PresentPlace, ReplyPort } from '../core/chat.ts';
import type { Logger } from '../core/logger.ts';
import { becamePublic } from '../core/place.ts';
import type { Place } from '../core/place.ts';
import type { ChannelJournal } from './channel-journal.ts';
import type { BegunReply } from './journal-state.ts';
import { createKeep } from './keep.ts';
import type { TurnControl } from './turn-control.ts';

export interface AnswerReplyOptions {
  readonly journal: ChannelJournal;
  readonly replies: ReplyPort;
  readonly presentPlace: PresentPlace;
  readonly logger: Logger;
}

/** The messages that are answered, who wrote them, and the place as it was then. */
export type Question = Omit<BegunReply, 'replyIds'>;

/** The reply to a turn, as far as people can see it. */
export interface AnswerReply {
  /** Whether people have seen anything of it. */
  readonly hasBegun: boolean;
  /** The text so far. Never throws. */
  show(text: string): void;
  /** Whether the place has no more readers than it was answered for; otherwise the turn is ended. Never rejects. */
  mayShow(): Promise<boolean>;
  /** The whole text, which is on disk already. Rejects as `ReplyPort.send` does. */
  finish(text: string): Promise<FinishedReply>;
  /** Takes away what was shown. Never rejects. */
  withdraw(): Promise<void>;
}

/**
 * Begins the reply to a turn. What people see of it is in the journal before its words enter history, so that a restart goes on in the same
 * messages; each message is posted and edited only if nobody reads along who did not when the turn began [V2]. Its messages end the turn when
 * they are deleted, and it vanishes when the turn says so. Never rejects.
 */
export async function beginAnswerReply(
  options: AnswerReplyOptions,
  question: Question,
  answeredFor: Place,
  control: TurnControl,
): Promise<AnswerReply> {
  const { journal, replies, presentPlace, logger } = options;
  const keep = createKeep(logger);
  const { channelId } = question.place;
  const standing = await standingIn(journal, question, logger);
  control.noteReply(standing);
  let isNoted = false;
  let isWhole = false;

  async function mayShow(): Promise<boolean> {
    if (becamePublic(answeredFor, await presentPlace(answeredFor))) control.end('became-public');
    return !control.takenAway.aborted;
  }

  const reply = replies.begin({
    channelId,
    nonceBase: newestOf(question),
    standing,
    mayShow,
    async onMessages(ids) {
      control.noteReply(ids);
      // A reply that is whole at once is protected by the answer in the journal and its nonce.
      if (isWhole && !isNoted) return;
      isNoted = true;
      await keep('what stands of a reply', () => journal.begin({ ...question, replyIds: [...ids] }));
    },
    onGone: () => control.end('reply-deleted'),
  });
  control.takenAway.addEventListener('abort', () => void reply.withdraw(), { once: true });

  return {
    get hasBegun() {
      return reply.hasBegun;
    },
    show: (text) => reply.show(text),
    mayShow,
    finish(text) {
      isWhole = true;
      return reply.finish(text);
    },
    withdraw: () => reply.withdraw(),
  };
}

/** The message that the reply points to. */
export function newestOf({ messageIds }: Pick<Question, 'messageIds'>): string {
  const newest = messageIds.at(-1);
  if (newest === undefined) throw new RangeError('A reply answers at least one message');
  return newest;
}

/** What stands there from before a restart of a reply to any of these messages. */
async function standingIn(
  journal: ChannelJournal,
  { messageIds, place }: Question,
  logger: Logger,
): Promise<readonly string[]> {
  try {
    const begun = await journal.begun(place.channelId);
    return begun.flatMap((reply) => (messageIds.includes(newestOf(reply)) ? reply.replyIds : []));
  } catch (error) {
    logger.error('the journal could not be read', { channelId: place.channelId, error });
    return [];
  }
}
