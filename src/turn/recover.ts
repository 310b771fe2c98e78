import { z } from 'zod';

import { catchUpWindowMs } from '../core/chat.ts';
import type { Clock } from '../core/time.ts';
import type { Logger } from '../core/logger.ts';
import { becamePublic } from '../core/place.ts';
import { isSnowflake, snowflakeTime } from '../core/snowflake.ts';
import type { DocumentKind, Store } from '../core/store.ts';
import type { SessionLog } from '../memory/log/session-log.ts';
import type { AfterTurn } from './after-turn.ts';
import { saveBestEffort, type BegunReply, type PreparedReply } from './journal.ts';
import {
  beginReply,
  interruptedLine,
  keptBackLine,
  newestOf,
  sendLine,
  type Question,
  type ReplyPorts,
} from './reply.ts';
import type { TurnPorts } from './run-turn.ts';
import { TurnControl } from './sessions.ts';

export interface RecoveryPorts extends ReplyPorts {
  readonly sessionLog: Pick<SessionLog, 'recordReply' | 'sessions' | 'message'>;
  readonly settings: Pick<TurnPorts['settings'], 'isMemoryOff'>;
  readonly afterTurn: Pick<AfterTurn, 'schedule'>;
  /** Takes changes to whom they had not reached. Must not reject. */
  readonly finishChanges: () => Promise<void>;
  readonly clock: Clock;
}

/**
 * What a kill left undone, done at start: changes are taken to whom they had not reached; answers that were ready are sent under their old nonce, or finished in the messages that stand there, so
 * that Discord recognises what had arrived; derived layers go on from their cursors [F4].
 */
export async function recover(options: RecoveryPorts): Promise<void> {
  const { journal, sessionLog, afterTurn, logger } = options;
  await options.finishChanges();
  for (const channelId of await journal.channels()) {
    try {
      for (const reply of await journal.unsent(channelId)) await trying(options, reply, finishReply);
      for (const reply of await journal.begun(channelId)) await trying(options, reply, settleBegun);
      // What a kill kept from being taken out of the file.
      await journal.eraseSentTexts(channelId);
    } catch (error) {
      logger.warn('a channel could not be recovered', { channelId, error });
    }
  }
  for (const session of await sessionLog.sessions()) afterTurn.schedule(session);
}

/** What cannot be done now stays unhandled, so that it is asked again when the bot catches up. */
async function trying<Reply extends Question>(
  options: RecoveryPorts,
  reply: Reply,
  work: (options: RecoveryPorts, reply: Reply) => Promise<'handled' | 'unhandled'>,
): Promise<void> {
  const { channelId } = reply.place;
  try {
    if ((await work(options, reply)) === 'handled')
      await options.journal.markHandled(channelId, reply.messageIds);
  } catch (error) {
    options.logger.warn('an answer from before the restart could not be sent', { channelId, error });
  }
}

async function finishReply(
  options: RecoveryPorts,
  prepared: PreparedReply,
): Promise<'handled' | 'unhandled'> {
  const { text, isCommand, ...question } = prepared;
  const now = options.clock();
  if (isOld(question, now)) {
    const isBegun = await options.journal.isUnfinished(question.place.channelId, newestOf(question));
    return isBegun ? 'unhandled' : 'handled';
  }
  if (isCommand === true) {
    const present = await options.presentPlace(question.place);
    await sendLine(options, question, becamePublic(question.place, present) ? keptBackLine : text, false);
    return 'handled';
  }
  const control = new TurnControl();
  const reply = await beginReply(options, question, question.place, control);
  const finished = await reply.finish(text);
  if (finished.kind === 'sent') {
    await logReply(options, prepared, finished.ids, now);
    return 'handled';
  }
  const wasSeen = reply.hasBegun;
  await reply.takeAway();
  if (control.ending === 'became-public') await sendLine(options, question, keptBackLine, wasSeen);
  return 'handled';
}

/**
 * A reply that was only begun: the message is asked again if it is young enough, and what stands of the reply is no part of history till then; else
 * the beginning stays, marked as such. If the message itself is gone, so is the beginning; others that it answered are asked again.
 */
async function settleBegun(options: RecoveryPorts, begun: BegunReply): Promise<'handled' | 'unhandled'> {
  const { journal, replies, presentPlace } = options;
  const { replyIds: known, ...question } = begun;
  const { place } = question;
  const newest = newestOf(question);
  const found = await replies.find(place.channelId, newest);
  // The kill may have come right after the first message was posted.
  const replyIds = known.length > 0 ? known : found.ids;
  if (known.length < replyIds.length) await journal.begin({ ...question, replyIds: [...replyIds] });
  if (await isTakenBack(options, question)) {
    const reply = await beginReply(options, question, place, new TurnControl());
    await reply.takeAway();
    return 'handled';
  }
  if (!found.isAsked) {
    await takeAwayReply(options, question);
    await journal.markHandled(place.channelId, [newest]);
    return 'unhandled';
  }
  if (!isOld(question, options.clock())) return 'unhandled';
  if (replyIds.length === 0) return 'handled';
  const isPublicNow = becamePublic(place, await presentPlace(place));
  if (isPublicNow) await takeAwayReply(options, question);
  await sendLine(options, question, isPublicNow ? keptBackLine : interruptedLine, true);
  return 'handled';
}

/** Takes away what stands there from before the restart. */
async function takeAwayReply(options: RecoveryPorts, question: Question): Promise<void> {
  const reply = await beginReply(options, question, question.place, new TurnControl());
  await reply.takeAway();
}

/** Whether all that was asked was deleted since: the question is logged before the model hears of it. Of another bot nothing is. */
async function isTakenBack(
  { sessionLog }: RecoveryPorts,
  { messageIds, userId, place: { channelId }, isBot }: Question,
): Promise<boolean> {
  if (isBot !== undefined) return false;
  const texts = await Promise.all(messageIds.map((id) => sessionLog.message({ channelId, userId }, id)));
  return texts.every((text) => text === undefined);
}

function isOld(question: Question, now: Date): boolean {
  return now.getTime() - snowflakeTime(newestOf(question)).getTime() > catchUpWindowMs;
}

/** The reply enters the log as it would have without the kill. */
async function logReply(
  { sessionLog, settings, logger }: RecoveryPorts,
  { messageIds, userId, speakerName, isBot, place, text }: PreparedReply,
  ids: readonly string[],
  now: Date,
): Promise<void> {
  if (await settings.isMemoryOff(place)) return;
  const at = now.toISOString();
  const speaker = {
    id: userId,
    name: speakerName,
    isOwner: false,
    ...(isBot === undefined ? {} : { isBot }),
  };
  const messages = messageIds.map((id) => ({ id, text: '', at, attachments: [] }));
  await saveBestEffort(logger, 'the reply', () =>
    sessionLog.recordReply({ speaker, place, messages, now, hasThirdPartyText: true }, { ids, text, at }),
  );
}

const ignoredKey = 'ignored.json';
const ignoredSchema = z.object({ version: z.literal(1), messageIds: z.array(z.string()) });
const ignoredKind: DocumentKind<z.infer<typeof ignoredSchema>> = { version: 1, schema: ignoredSchema };

/** The messages that the process before this one ignored and that could be caught up with. Never rejects: unknown, they are judged anew. */
export async function readIgnored(store: Store, logger: Logger): Promise<readonly string[]> {
  try {
    return (await store.read(ignoredKey, ignoredKind))?.messageIds ?? [];
  } catch (error) {
    logger.warn('what was ignored before the start is not known', { error });
    return [];
  }
}

/** Keeps, when the bot stops, what is young enough to be caught up with. Never rejects. */
export async function writeIgnored(
  store: Store,
  messageIds: readonly string[],
  { now, logger }: { readonly now: Date; readonly logger: Logger },
): Promise<void> {
  const young = messageIds.filter(
    (id) => isSnowflake(id) && now.getTime() - snowflakeTime(id).getTime() <= catchUpWindowMs,
  );
  try {
    await store.update(ignoredKey, ignoredKind, (current) =>
      current === undefined && young.length === 0
        ? undefined
        : { version: 1 as const, messageIds: [...young] },
    );
  } catch (error) {
    logger.warn('what was ignored could not be kept', { error });
  }
}
