import type { DurableMemory } from '../memory/durable/durable-memory.ts';
import { supports } from '../memory/durable/evidence.ts';
import type { RollingSummary } from '../memory/rolling/rolling-summary.ts';
import type { AffectedSession, SessionLog } from '../memory/session-log/session-log.ts';
import type { ShortTerm } from '../memory/short-term/short-term.ts';
import type { ChannelJournal } from './channel-journal.ts';

export interface RetractionOptions {
  readonly sessionLog: Pick<SessionLog, 'edit' | 'remove'>;
  readonly durable: Pick<DurableMemory, 'retractSources'>;
  readonly rolling: Pick<RollingSummary, 'retract'>;
  readonly shortTerm: Pick<ShortTerm, 'retract'>;
  readonly journal: Pick<ChannelJournal, 'dropSentTexts'>;
}

/** Takes an edit or deletion to the log first, which is the truth, then to every layer made from it [G5]. */
export function createRetraction({ sessionLog, durable, rolling, shortTerm, journal }: RetractionOptions) {
  async function follow(affected: readonly AffectedSession[], present: string | undefined): Promise<void> {
    for (const { session, messages } of affected) {
      const ids = messages.flatMap(({ message }) =>
        message.role === 'user' ? [message.id] : message.replyTo,
      );
      const own = messages.flatMap(({ message }) => (message.role === 'user' ? [message.id] : []));
      const results = await Promise.allSettled([
        durable.retractSources(
          session.userId,
          own,
          (item) => present !== undefined && supports(item.text, present),
        ),
        shortTerm.retract(session.userId, ids),
        ...messages.map(({ sequence }) => rolling.retract(session, sequence)),
      ]);
      const failed = results.find((result) => result.status === 'rejected');
      if (failed !== undefined) throw failed.reason;
    }
  }

  return {
    edited: async (channelId: string, messageId: string, text: string): Promise<void> =>
      follow(await sessionLog.edit(channelId, messageId, text), text),
    deleted: async (channelId: string, messageIds: readonly string[]): Promise<void> => {
      const affected = await sessionLog.remove(channelId, messageIds);
      if (affected.length > 0) await journal.dropSentTexts(channelId);
      await follow(affected, undefined);
    },
  };
}
