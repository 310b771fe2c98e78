import type { UsedMemory } from '../core/memory-source.ts';
import type { AnswerSize } from '../core/section.ts';
import { hasSecret } from '../core/secrets.ts';
import type { Clock } from '../core/time.ts';
import type { TurnContext } from '../core/turn-context.ts';
import type { SessionLog } from '../memory/log/session-log.ts';
import type { Provenance } from '../memory/provenance.ts';
import type { OneTimeNotice, OneTimeNotices } from '../memory/settings/one-time-notices.ts';
import { saveBestEffort, type PreparedReply } from './outbox.ts';
import { secretNote, type ReplyPorts } from './reply.ts';
import type { TurnPolicy } from './turn-policy.ts';

export interface TurnMemoryPorts extends Pick<ReplyPorts, 'outbox' | 'logger'> {
  readonly oneTimeNotices: Pick<OneTimeNotices, 'begin'>;
  readonly log: Pick<SessionLog, 'recordUser' | 'recordReply'>;
  readonly provenance: Pick<Provenance, 'record' | 'sent'>;
  readonly clock: Clock;
}

export type TurnMemory = ReturnType<typeof openMemory>;

/**
 * What a turn writes to memory, the question first, while the prompt is being made; nothing where memory is
 * off or paused. Also holds the lines that tell the person about it.
 */
export function openMemory(turn: TurnContext, policy: TurnPolicy, bot: TurnMemoryPorts) {
  const { log, outbox, logger, provenance, clock } = bot;
  const { isStored, consent, mayStoreNow } = policy;
  const isBot = turn.speaker.isBot !== undefined;
  const hasSecrets = turn.messages.some(({ text }) => hasSecret(text));
  let oneTime: OneTimeNotice | undefined;
  let isRecorded = false;
  const record = async (): Promise<void> => {
    await log.recordUser(turn, consent.mode);
    isRecorded = true;
  };
  const recorded = isStored ? saveBestEffort(logger, 'the message', record) : Promise.resolve();
  return {
    /** Resolves when the words are on disk, or cannot be; never rejects. */
    recorded,
    policy,
    /** What the speaker is told that memory does not keep [K14]. */
    secretNotes(answer: string): readonly string[] {
      return isStored && !isBot && (hasSecrets || hasSecret(answer)) ? [secretNote] : [];
    },
    /** What the speaker is told once, under a whole answer [K12][S5]. Never rejects. */
    async oneTimeNotice(): Promise<OneTimeNotice | undefined> {
      oneTime = isBot ? undefined : await bot.oneTimeNotices.begin(turn.work);
      return oneTime;
    },
    /** Notes what the answer is made from, before it is sent [K7]. Never rejects. */
    async recordUsed(used: UsedMemory, size: AnswerSize | undefined): Promise<void> {
      if (isBot) return;
      await saveBestEffort(logger, 'what an answer is made from', async () =>
        provenance.record(turn, used, await mayStoreNow(), size),
      );
    },
    async recordReply(
      ids: readonly string[],
      { text, thirdPartyMark }: Pick<PreparedReply, 'text' | 'thirdPartyMark'>,
    ): Promise<void> {
      if (!isBot) provenance.sent(turn, ids);
      if (!(await mayStoreNow())) return;
      const at = clock().toISOString();
      await saveBestEffort(logger, 'the reply', async () => {
        // The disk may have refused the question.
        if (!isRecorded) await record();
        const isKept = await log.recordReply(turn, { ids, text, at, thirdPartyMark });
        // What it answers was forgotten while it was made [K4].
        if (!isKept) await outbox.hide(turn.place.channelId, ids);
      });
    },
    async close(): Promise<void> {
      await recorded;
      oneTime?.release();
    },
  };
}
