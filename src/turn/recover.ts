import type { PresentPlace, ReplyPort } from '../core/chat.ts';
import type { Clock } from '../core/clock.ts';
import type { Logger } from '../core/logger.ts';
import { becamePublic } from '../core/place.ts';
import type { SessionKey } from '../core/place.ts';
import type { SessionLog } from '../memory/session-log/session-log.ts';
import type { AfterTurn } from './after-turn.ts';
import type { ChannelJournal, PreparedReply } from './channel-journal.ts';
import { keptBackLine } from './failure-line.ts';
import { createKeep } from './keep.ts';
import { snowflakeTime } from '../core/snowflake.ts';

/** Messages older than this are not answered after a restart [G3a]: 5 minutes, in milliseconds. */
const catchUpWindowMs = 5 * 60_000;

export interface RecoveryOptions {
  readonly journal: ChannelJournal;
  readonly sessionLog: Pick<SessionLog, 'recordReply' | 'sessions'>;
  readonly afterTurn: Pick<AfterTurn, 'schedule'>;
  /** Takes edits and deletions to the layers that they had not reached. */
  readonly finishRetractions: (session: SessionKey) => Promise<void>;
  readonly replies: ReplyPort;
  readonly presentPlace: PresentPlace;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * What a kill left undone, done at start: answers that were ready are sent under their old nonce, so that Discord recognises one that
 * had arrived; derived layers go on from their cursors [F4].
 */
export async function recover(options: RecoveryOptions): Promise<void> {
  const { journal, sessionLog, afterTurn, logger } = options;
  for (const channelId of await journal.channels()) {
    try {
      for (const reply of await journal.unsent(channelId)) await finishReply(options, reply);
    } catch (error) {
      logger.warn('a channel could not be recovered', { channelId, error });
    }
  }
  for (const session of await sessionLog.sessions()) {
    await options.finishRetractions(session).catch((error: unknown) => {
      logger.error('memory could not follow', { what: 'a retraction from before the restart', error });
    });
    afterTurn.schedule(session);
  }
}

/** What cannot be sent now stays unhandled, so that it is asked again when the bot catches up. */
async function finishReply(options: RecoveryOptions, reply: PreparedReply): Promise<void> {
  const { journal, replies, logger } = options;
  const keep = createKeep(logger);
  const { messageIds, place, text } = reply;
  const newest = messageIds.at(-1);
  const now = options.clock();
  if (newest !== undefined && now.getTime() - snowflakeTime(newest).getTime() <= catchUpWindowMs) {
    try {
      const isKeptBack = becamePublic(place, await options.presentPlace(place));
      if (reply.isCommand === true || isKeptBack) {
        await replies.send(place.channelId, isKeptBack ? keptBackLine : text, newest, (id) =>
          keep('what is no part of history', () => journal.hide(place.channelId, [id])),
        );
      } else {
        await logReply(options, reply, await replies.send(place.channelId, text, newest), now);
      }
    } catch (error) {
      logger.warn('an answer from before the restart could not be sent', {
        channelId: place.channelId,
        error,
      });
      return;
    }
  }
  await journal.markHandled(place.channelId, messageIds);
}

async function logReply(
  { sessionLog, logger }: RecoveryOptions,
  { messageIds, userId, speakerName, isBot, place, text }: PreparedReply,
  ids: readonly string[],
  now: Date,
): Promise<void> {
  const at = now.toISOString();
  const speaker = {
    id: userId,
    name: speakerName,
    isOwner: false,
    ...(isBot === undefined ? {} : { isBot }),
  };
  const messages = messageIds.map((id) => ({ id, text: '', at, attachments: [] }));
  try {
    await sessionLog.recordReply({ speaker, place, messages, now, othersPresent: true }, { ids, text, at });
  } catch (error) {
    logger.error('could not be saved', { what: 'the reply', error });
  }
}
