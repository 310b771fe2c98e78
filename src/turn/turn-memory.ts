import { usesNotes, type UsedMemory } from '../core/memory-source.ts';
import type { AnswerSize } from '../core/section.ts';
import { hasSecret } from '../core/secrets.ts';
import type { Clock } from '../core/time.ts';
import { sessionOf, sessionWorkOf, type TurnContext } from '../core/turn-context.ts';
import type { ChannelNotes } from '../memory/channel/channel-notes.ts';
import type { SessionLog } from '../memory/log/session-log.ts';
import type { Provenance } from '../memory/provenance.ts';
import type { FirstWords, Greeting } from '../memory/settings/greeting.ts';
import type { SetAsideLines } from '../memory/settings/set-aside.ts';
import { saveBestEffort } from './outbox.ts';
import { secretNote, type ReplyPorts } from './reply.ts';
import type { TurnPolicy } from './turn-policy.ts';

export interface TurnMemoryPorts extends Pick<ReplyPorts, 'outbox' | 'logger'> {
  readonly greeting: Pick<Greeting, 'begin'>;
  readonly setAside: Pick<SetAsideLines, 'under'>;
  readonly log: Pick<SessionLog, 'recordUser' | 'recordReply'>;
  readonly provenance: Pick<Provenance, 'record' | 'sent'>;
  /**
   * What a channel's first answer says of its memory [B1], and what may be told of it [B2]; neither rejects.
   */
  readonly channelNotes: Pick<ChannelNotes, 'firstLine' | 'canDisclose'>;
  readonly clock: Clock;
}

export type TurnMemory = ReturnType<typeof openMemory>;

interface AnswerToKeep {
  readonly text: string;
  readonly hasThirdPartyText: boolean;
  readonly thirdPartyTextAt?: string | undefined;
  readonly retells?: true;
  readonly used: UsedMemory;
}

/** Logged instead of an answer that may repeat others' notes [B2]. */
const unkeptAnswer = '(Answered from notes of a channel; the answer is not kept.)';

/**
 * What a turn writes to memory, the question first, while the prompt is being made; nothing where memory is
 * off or paused. Also holds the lines that tell the person about it.
 */
export function openMemory(turn: TurnContext, policy: TurnPolicy, bot: TurnMemoryPorts) {
  const { log, outbox, logger, provenance, clock } = bot;
  const { isMemoryOff, isStored, consent, mayStoreNow } = policy;
  const session = sessionOf(turn);
  const isBot = turn.speaker.isBot !== undefined;
  const hasSecrets = turn.messages.some(({ text }) => hasSecret(text));
  const messageIds = turn.messages.map(({ id }) => id);
  const firstWords = isBot
    ? Promise.resolve(undefined)
    : bot.greeting.begin({ ...sessionWorkOf(turn), messageIds });
  let told: FirstWords | undefined;
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
    notes({ text }: Pick<AnswerToKeep, 'text'>): readonly string[] {
      return isStored && !isBot && (hasSecrets || hasSecret(text)) ? [secretNote] : [];
    },
    /** What people in the channel are told once of its memory [B1]. Never rejects. */
    async channelLines(): Promise<readonly string[]> {
      const line = isMemoryOff ? undefined : await bot.channelNotes.firstLine(turn.place);
      return line === undefined ? [] : [line];
    },
    /** What the speaker is told once, under a whole answer [K12][S5]. Never rejects. */
    async toldOnce(): Promise<FirstWords | undefined> {
      if (isBot) return undefined;
      told = await bot.setAside.under(session.userId, await firstWords);
      return told;
    },
    /** Notes what the answer is made from, before it is sent [K7]. Never rejects. */
    async recordUsed(used: UsedMemory, size: AnswerSize | undefined): Promise<void> {
      if (isBot) return;
      await saveBestEffort(logger, 'what an answer is made from', async () =>
        provenance.record(turn, used, await mayStoreNow(), size),
      );
    },
    async recordReply(ids: readonly string[], answer: AnswerToKeep): Promise<void> {
      if (!isBot) provenance.sent(turn, ids);
      const { hasThirdPartyText, thirdPartyTextAt, retells, used } = answer;
      const text = usesNotes(used) ? unkeptAnswer : answer.text;
      // Nor does this way lead back to it: what a note said goes with the note.
      if (usesNotes(used))
        await saveBestEffort(logger, 'messages hidden from history', () =>
          outbox.hide(turn.place.channelId, ids),
        );
      if (!(await mayStoreNow())) return;
      const at = clock().toISOString();
      await saveBestEffort(logger, 'the reply', async () => {
        // The disk may have refused the question.
        if (!isRecorded) await record();
        const reply = { ids, text, at, thirdPartyTextAt, ...(retells === true && { retells }) };
        const isKept = await log.recordReply({ ...turn, hasThirdPartyText }, reply);
        // What it answers was forgotten while it was made [K4].
        if (!isKept) await outbox.hide(turn.place.channelId, ids);
      });
    },
    async close(): Promise<void> {
      await recorded;
      (told ?? (await firstWords))?.release();
    },
  };
}
