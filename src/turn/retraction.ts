import type { SessionKey } from '../core/place.ts';
import type { DurableMemory } from '../memory/durable/durable-memory.ts';
import { supports } from '../memory/durable/evidence.ts';
import type { RollingSummary } from '../memory/rolling/rolling-summary.ts';
import type { AffectedSession, SessionLog } from '../memory/log/session-log.ts';
import { saysAny, withdrawnTerms } from '../memory/log/withdrawal.ts';
import type { ShortTerm } from '../memory/short-term/short-term.ts';
import type { MessageEdit } from '../core/chat.ts';
import type { AfterTurn } from './after-turn.ts';
import type { ChannelJournal } from './journal.ts';

export interface RetractionOptions {
  readonly sessionLog: Pick<
    SessionLog,
    'edit' | 'remove' | 'since' | 'lastSequence' | 'message' | 'finishChanges'
  >;
  readonly durable: Pick<DurableMemory, 'retractSources'>;
  readonly rolling: Pick<RollingSummary, 'retract'>;
  readonly shortTerm: Pick<ShortTerm, 'retract'>;
  readonly journal: Pick<ChannelJournal, 'withdraw'>;
  /** What was made of the message is made anew: the summary at once, items from what an edited message says now. */
  readonly afterTurn: Pick<AfterTurn, 'schedule'>;
}

/** Log lines looked back over after a kill; whatever it interrupted is at the end, be it a bulk deletion. */
const lookBack = 256;

/** Takes an edit or deletion to the log first, which is the truth, then to every layer made from it [G5]. */
export function createRetraction({
  sessionLog,
  durable,
  rolling,
  shortTerm,
  journal,
  afterTurn,
}: RetractionOptions) {
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
        rolling.retract(
          session,
          messages.map(({ sequence }) => sequence),
        ),
      ]);
      afterTurn.schedule(session);
      const failed = results.find((result) => result.status === 'rejected');
      if (failed !== undefined) throw failed.reason;
    }
  }

  async function deleted(channelId: string, messageIds: readonly string[]): Promise<void> {
    const affected = await sessionLog.remove(channelId, messageIds);
    await journal.withdraw(channelId, messageIds, (reply) =>
      reply.messageIds.some((id) => messageIds.includes(id)),
    );
    await follow(affected, undefined);
  }

  async function edited({ channelId, messageId, authorId, text }: MessageEdit): Promise<void> {
    const affected = await sessionLog.edit(channelId, messageId, text, authorId);
    const before = affected
      .flatMap(({ messages }) => messages)
      .find(({ message }) => message.id === messageId);
    const withdrawn = withdrawnTerms(before?.message.text ?? '', text);
    await journal.withdraw(
      channelId,
      [messageId],
      (reply) => reply.messageIds.includes(messageId) && saysAny(reply.text, withdrawn),
    );
    await follow(affected, text);
  }

  return {
    edited: (edit: MessageEdit): Promise<void> =>
      edit.isCommand ? deleted(edit.channelId, [edit.messageId]) : edited(edit),
    deleted,
    /**
     * Takes what the end of a session's log says of edits and deletions to the extracted items once more, in case a kill or the disk came
     * in between; the other layers see it by their cursors.
     */
    finish: async (session: SessionKey): Promise<void> => {
      await sessionLog.finishChanges(session);
      const last = await sessionLog.lastSequence(session);
      const { withdrawals } = await sessionLog.since(session, Math.max(0, last - lookBack));
      const present = new Map<string, string | undefined>();
      for (const { id } of withdrawals) present.set(id, await sessionLog.message(session, id));
      if (present.size === 0) return;
      await durable.retractSources(session.userId, [...present.keys()], ({ text, source }) => {
        const said = present.get(source.messageId);
        return said !== undefined && supports(text, said);
      });
    },
  };
}
