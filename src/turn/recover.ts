import { catchUpWindowMs, type IncomingMessage } from '../core/message.ts';
import type { AskedMessage } from '../core/reply.ts';
import { sleep, type Clock } from '../core/time.ts';
import { hasMoreReaders } from '../core/place.ts';
import { snowflakeTime } from '../core/snowflake.ts';
import { unconditional } from '../core/writes.ts';
import type { SessionLog } from '../memory/log/session-log.ts';
import type { AfterTurn } from './after-turn.ts';
import {
  hideFromHistory,
  newestOf,
  saveBestEffort,
  type PreparedReply,
  type UnfinishedReply,
} from './outbox.ts';
import {
  askAgainLine,
  questionTime,
  beginReply,
  endRefused,
  interruptedLine,
  keptBackLine,
  lateLine,
  sendLine,
  takeAwayPosted,
  type Question,
  type ReplyPorts,
} from './reply.ts';
import type { TurnPorts } from './run-turn.ts';
import { TurnControl } from './sessions.ts';

/** How many sessions of a channel resume together, and the pause in milliseconds before the next. */
const resumedAtOnce = 4;
const resumePauseMs = 100;

export interface RecoveryPorts extends ReplyPorts {
  readonly sessionLog: Pick<SessionLog, 'recordReply' | 'sessionsIn' | 'message' | 'logged' | 'isUnanswered'>;
  readonly settings: Pick<TurnPorts['settings'], 'isMemoryOff'>;
  readonly people: Pick<TurnPorts['people'], 'mayStore' | 'erasedBy'>;
  readonly afterTurn: AfterTurn;
  /** Must not reject. */
  readonly finishChanges: () => Promise<void>;
  /** What this process is answering of `/ask` needs no recovery. */
  readonly asking: ReadonlySet<string>;
  /** An `/ask` that a kill came between is a turn again [EW2]. Must not throw. */
  readonly askAgain: (message: Omit<IncomingMessage, 'isOwner'>) => void;
  /** As Discord dates messages, to tell how young a question is [O7]. */
  readonly clock: Clock;
}

/**
 * Finishes what a kill left undone, each thing once a process and when it is needed [G3b]: changes reach
 * everybody before any answer; ready answers are sent under their old nonce, or finished in their messages,
 * before anything else happens in their channel; derived layers go on from their cursors [F4]. Nothing here
 * rejects.
 */
export function createRecovery(options: RecoveryPorts) {
  const { outbox, sessionLog, afterTurn, logger } = options;
  let changesFinished: Promise<void> | undefined;
  const channels = new Map<string, Promise<void>>();

  const finishChanges = (): Promise<void> => (changesFinished ??= options.finishChanges());

  async function recoverChannel(channelId: string): Promise<void> {
    await finishChanges();
    try {
      for (const reply of await outbox.unsent(channelId)) await trying(options, reply, finishReply);
      for (const reply of await outbox.unfinished(channelId))
        await trying(options, reply, reply.isAsked === true ? settleAsked : settleUnfinished);
    } catch (error) {
      logger.warn('a channel could not be recovered', { channelId, error });
    }
  }

  return {
    finishChanges,
    /** Call it before anything is answered in the channel, with its deletions known. */
    channel(channelId: string): Promise<void> {
      const work = channels.get(channelId) ?? recoverChannel(channelId);
      channels.set(channelId, work);
      return work;
    },
    /**
     * Whether a message's standing reply is to be made again in place: it is incomplete, or a kill took it
     * from the log. Rejects with `StoreError`.
     */
    async isUnfinished({ id, channelId, userId }: AskedMessage): Promise<boolean> {
      if (await outbox.isHandled(channelId, id)) return false;
      return (await outbox.isUnfinished(channelId, id)) || sessionLog.isUnanswered({ channelId, userId }, id);
    },
    /**
     * Resumes the after-turn work of a channel's sessions, a few at a time: the disk is for those who wait
     * for an answer [G3b]. Ends early with the signal.
     */
    async sessions(channelId: string, signal: AbortSignal): Promise<void> {
      try {
        for (const [index, session] of (await sessionLog.sessionsIn(channelId)).entries()) {
          if (index > 0 && index % resumedAtOnce === 0) await sleep(resumePauseMs, signal);
          if (signal.aborted) return;
          afterTurn.schedule(session);
        }
      } catch (error) {
        logger.warn('the sessions of a channel could not be listed', { channelId, error });
      }
    },
  };
}

/** What fails stays unhandled, so that catching up asks it again. */
async function trying<Reply extends Omit<Question, 'work'>>(
  options: RecoveryPorts,
  reply: Reply,
  work: (options: RecoveryPorts, reply: Reply & Question) => Promise<'handled' | 'unhandled'>,
): Promise<void> {
  const { channelId } = reply.place;
  if (options.asking.has(newestOf(reply))) return;
  try {
    // Each of its jobs looks for the question on disk.
    if ((await work(options, { ...reply, work: unconditional(reply.userId) })) === 'handled')
      await options.outbox.markHandled(channelId, reply.messageIds);
  } catch (error) {
    options.logger.warn('an answer from before the restart could not be sent', { channelId, error });
  }
}

async function finishReply(
  options: RecoveryPorts,
  prepared: PreparedReply & Question,
): Promise<'handled' | 'unhandled'> {
  const { text, footer, isCommand, thirdPartyMark: _, ...question } = prepared;
  const now = options.clock();
  if (question.isAsked === true && (await isAnswered(options, question))) return 'handled';
  if (isOld(question, now)) {
    const isUnfinished = await options.outbox.isUnfinished(question.place.channelId, newestOf(question));
    if (isUnfinished) return 'unhandled';
    await sendLine(options, question, lateLine);
    return 'handled';
  }
  if (isCommand === true) {
    if ((await options.people.erasedBy(question.userId))(questionTime(question))) return 'handled';
    const present = await options.presentPlace(question.place);
    await sendLine(options, question, hasMoreReaders(question.place, present) ? keptBackLine : text, false);
    return 'handled';
  }
  const control = new TurnControl();
  const reply = await beginReply(options, question, question.place, control);
  // What was forgotten meanwhile gets no answer, which could repeat it [K4].
  if (question.messageIds.some(await options.outbox.hiddenIn(question.place.channelId))) {
    await reply.takeAway();
    return 'handled';
  }
  const finished = await reply.finish(text, footer);
  if (finished.kind === 'sent') {
    await logReply(options, prepared, finished.ids, now);
    return 'handled';
  }
  if (finished.kind === 'refused') {
    await endRefused(options, question, finished);
    return 'handled';
  }
  const wasSeen = reply.hasStarted();
  await reply.takeAway();
  if (control.ending === 'more-readers') await sendLine(options, question, keptBackLine, wasSeen);
  return 'handled';
}

/**
 * A reply that was only begun: if the message is young enough it is asked again, and history leaves the
 * beginning out till then; else the beginning stays, marked. If the message is gone, so is the beginning;
 * others that it answered are asked again.
 */
async function settleUnfinished(
  options: RecoveryPorts,
  unfinished: UnfinishedReply & Question,
): Promise<'handled' | 'unhandled'> {
  const { outbox, replies, presentPlace } = options;
  const { replyIds: known, ...question } = unfinished;
  const { place } = question;
  const newest = newestOf(question);
  const found = await replies.find(place.channelId, newest);
  if (found.isRefused === true) {
    options.logger.warn('an answer from before the restart is given up where Discord refuses it', {
      channelId: place.channelId,
    });
    return 'handled';
  }
  // The kill may have come right after the first message was posted.
  const replyIds = known.length > 0 ? known : found.ids;
  if (known.length < replyIds.length) await outbox.begin({ ...question, replyIds: [...replyIds] });
  const takeAway = () => takeAwayPosted(replies, place.channelId, newest, replyIds);
  if (await isTakenBack(options, question)) {
    await takeAway();
    return 'handled';
  }
  if (!found.questionExists) {
    await takeAway();
    await outbox.markHandled(place.channelId, [newest]);
    return 'unhandled';
  }
  if (!isOld(question, options.clock())) return 'unhandled';
  const lastId = replyIds.at(-1);
  if (lastId === undefined) return 'handled';
  if (hasMoreReaders(place, await presentPlace(place))) {
    await takeAway();
    await sendLine(options, question, keptBackLine, true);
  } else {
    await replies.amend(place.channelId, lastId, () => Promise.resolve({ lines: [interruptedLine] }));
  }
  return 'handled';
}

/** What was shown of it went with the interaction: it is asked again in the DM while it is young, else a line says so [EW2]. */
async function settleAsked(
  options: RecoveryPorts,
  question: UnfinishedReply & Question,
): Promise<'handled' | 'unhandled'> {
  const { userId, speakerName, place } = question;
  const { channelId } = place;
  const id = newestOf(question);
  const wasErased = (await options.people.erasedBy(userId))(questionTime(question));
  if (wasErased || (await isAnswered(options, question))) return 'handled';
  const logged = await options.sessionLog.logged({ channelId, userId }, id);
  if (logged === undefined || isOld(question, options.clock())) {
    await sendLine(options, question, askAgainLine);
    return 'handled';
  }
  const { text, at, attachments } = logged;
  const author = { id: userId, name: speakerName, kind: 'human' } as const;
  // The model is told that they can no longer be opened.
  const files = attachments.map((name) => ({ name, size: 0, url: '' }));
  options.askAgain({ id, channelId, author, text, at, attachments, files, place, askedIn: place });
  return 'unhandled';
}

/** Whether the log has its answer, which was sent before that. */
async function isAnswered({ sessionLog }: RecoveryPorts, { place, userId, ...question }: Question) {
  const session = { channelId: place.channelId, userId };
  const id = newestOf(question);
  return (
    (await sessionLog.logged(session, id)) !== undefined && !(await sessionLog.isUnanswered(session, id))
  );
}

/**
 * Removes what stands of a reply to an erased person; history leaves it out till then [K11]. Never rejects.
 */
export async function takeAwayErased(
  bot: Pick<ReplyPorts, 'outbox' | 'replies' | 'logger'>,
  { place: { channelId }, replyIds, ...question }: Pick<UnfinishedReply, 'messageIds' | 'place' | 'replyIds'>,
): Promise<void> {
  if (replyIds.length === 0) return;
  await hideFromHistory(bot, channelId, replyIds);
  await takeAwayPosted(bot.replies, channelId, newestOf(question), replyIds);
}

/** Not where memory is off or paused, nor of another bot. Never rejects. */
async function isLogged({ settings, people }: RecoveryPorts, question: Question): Promise<boolean> {
  const { place, userId, isBot } = question;
  if (isBot !== undefined || (await settings.isMemoryOff(place))) return false;
  return people.mayStore({ channelId: place.channelId, userId }, snowflakeTime(newestOf(question)));
}

/**
 * Whether the whole question was deleted since. It is logged before the model hears of it; without a log
 * nobody can tell.
 */
async function isTakenBack(options: RecoveryPorts, question: Question): Promise<boolean> {
  if (!(await isLogged(options, question))) return false;
  const { sessionLog } = options;
  const { messageIds, userId, place } = question;
  const { channelId } = place;
  const texts = await Promise.all(messageIds.map((id) => sessionLog.message({ channelId, userId }, id)));
  return texts.every((text) => text === undefined);
}

function isOld(question: Question, now: Date): boolean {
  return now.getTime() - snowflakeTime(newestOf(question)).getTime() > catchUpWindowMs;
}

async function logReply(
  options: RecoveryPorts,
  prepared: PreparedReply & Question,
  ids: readonly string[],
  now: Date,
): Promise<void> {
  if (!(await isLogged(options, prepared))) return;
  const { sessionLog, logger } = options;
  const { messageIds, userId, work, speakerName, place, text, thirdPartyMark } = prepared;
  const at = now.toISOString();
  const speaker = { id: userId, name: speakerName, isOwner: false };
  const messages = messageIds.map((id) => ({ id, text: '', at, attachments: [] }));
  await saveBestEffort(logger, 'the reply', async () => {
    const turn = { speaker, place, messages, now, work, hasThirdPartyText: true };
    await sessionLog.recordReply(turn, { ids, text, at, thirdPartyMark });
  });
}
