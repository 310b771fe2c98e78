import type { ReplyPort } from '../core/chat.ts';
import type { Clock } from '../core/clock.ts';
import type { Logger } from '../core/logger.ts';
import type { SessionLog } from '../memory/session-log/session-log.ts';
import type { AfterTurn } from './after-turn.ts';
import type { ChannelJournal, PreparedReply } from './channel-journal.ts';
import { snowflakeTime } from '../core/snowflake.ts';

/** Messages older than this are not answered after a restart [G3a]: 5 minutes, in milliseconds. */
const catchUpWindowMs = 5 * 60_000;

export interface RecoveryOptions {
  readonly journal: ChannelJournal;
  readonly sessionLog: Pick<SessionLog, 'recordReply' | 'sessions'>;
  readonly afterTurn: Pick<AfterTurn, 'schedule'>;
  readonly replies: ReplyPort;
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
    for (const reply of await journal.unsent(channelId)) {
      try {
        await finishReply(options, reply);
      } catch (error) {
        logger.warn('an answer from before the restart could not be sent', { channelId, error });
      }
      await journal.markHandled(channelId, reply.messageIds);
    }
  }
  for (const session of await sessionLog.sessions()) afterTurn.schedule(session);
}

async function finishReply(options: RecoveryOptions, reply: PreparedReply): Promise<void> {
  const newest = reply.messageIds.at(-1);
  const now = options.clock();
  if (newest === undefined || now.getTime() - snowflakeTime(newest).getTime() > catchUpWindowMs) return;
  const ids = await options.replies.send(reply.place.channelId, reply.text, newest);
  await options.sessionLog.recordReply(
    {
      speaker: { id: reply.userId, name: reply.speakerName, isOwner: false },
      place: reply.place,
      messages: reply.messageIds.map((id) => ({ id, text: '', at: now.toISOString(), attachments: [] })),
      now,
      othersPresent: true,
    },
    { ids, text: reply.text, at: now.toISOString() },
  );
}
