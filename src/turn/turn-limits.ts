import { conditionOf } from '../core/errors.ts';
import type { DirectMessagePort, ReplyPort } from '../core/reply.ts';
import type { IncomingMessage } from '../core/message.ts';
import { createMinuteBudget } from '../core/limits.ts';
import type { Logger } from '../core/logger.ts';
import type { OwnerNews } from '../core/model.ts';
import { counted } from '../core/text.ts';
import { discordTime, sleep, type Timer } from '../core/time.ts';
import { hideFromHistory, type Outbox } from './outbox.ts';

export interface TurnLimitPorts {
  /** 0: no limit. */
  readonly turnsPerMinute: number;
  /** When the day's limits on cost begin again. */
  readonly budgetResetsAt: () => Date;
  readonly replies: Pick<ReplyPort, 'send'>;
  readonly directMessages: Pick<DirectMessagePort, 'send'>;
  readonly outbox: Pick<Outbox, 'hide'>;
  readonly timer: Timer;
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number;
  readonly logger: Logger;
}

export type TurnLimits = ReturnType<typeof createTurnLimits>;

/** A person's limits, turns a minute in this process and cost a day [L2], each told at most once a minute. */
export function createTurnLimits(ports: TurnLimitPorts) {
  const { turnsPerMinute, budgetResetsAt, timer, now, logger } = ports;
  const turns = createMinuteBudget(turnsPerMinute, now);
  const waitLines = createMinuteBudget(1, now);
  const costLines = createMinuteBudget(1, now);

  const hide = (channelId: string, id: string): Promise<void> => hideFromHistory(ports, channelId, [id]);

  async function tellToWait({ id, channelId }: IncomingMessage, ms: number): Promise<void> {
    const seconds = counted(Math.ceil(ms / 1000), 'second');
    const line = `⏳ You have begun ${counted(turnsPerMinute, 'turn')} within a minute. It goes on in ${seconds}: I answer then what you wrote meanwhile. Commands still work.`;
    try {
      // Its own nonce: the message's is its answer's.
      await ports.replies.send(channelId, line, `${id}w`, (lineId) => hide(channelId, lineId));
    } catch (error) {
      logger.warn('a notice about waiting could not be sent', { channelId, error });
    }
  }

  return {
    /** Resolves when the author may begin a turn, which counts as begun, or on abort. Never rejects. */
    async mayBegin(this: void, message: IncomingMessage, signal: AbortSignal): Promise<void> {
      const userId = message.author.id;
      if (turnsPerMinute === 0) return;
      while (!signal.aborted && !turns.take(userId, 1)) {
        const ms = Math.max(1, turns.waitMs(userId));
        if (waitLines.take(userId, 1)) void tellToWait(message, ms);
        await sleep(Math.ceil(ms), signal, timer);
      }
    },
    /**
     * For somebody over a limit on cost; `undefined` where they were told within a minute and need not hear
     * it again.
     */
    costLine(userId: string, isNeeded: boolean): string | undefined {
      if (!costLines.take(userId, 1) && !isNeeded) return undefined;
      return `⏳ What my answers may cost today is used up. It goes on at ${timeAndWait(budgetResetsAt())}. Commands still work.`;
    },
    /**
     * Tells the owners by direct message that most of the day's limit is used, or that the account of a model has to be seen to [M16].
     * Rejects with what may pass, or without anybody to tell.
     */
    async tellOwners(this: void, ownerIds: readonly string[], news: OwnerNews): Promise<void> {
      if (ownerIds.length === 0) throw new Error('The owner is not known yet');
      const text =
        'model' in news
          ? `⚠️ ${news.model} is ${conditionOf(news.failure)}: its server refuses my calls. Please look into my account there: its credit and limits, or the key in \`ANTHROPIC_API_KEY\`. Until then it answers nobody and writes nothing into memory; commands still work, and \`/status\` tells more. I say this once a day.`
          : `⚠️ Of the $${news.limit.toFixed(2)} that my model calls may cost today, $${news.spent.toFixed(2)} is used. Once the rest is too little for a call, I answer nobody until ${timeAndWait(budgetResetsAt())}; commands still work, and background work is done then. The limit is \`DISCOCLAW_DAILY_COST_USD\`.`;
      for (const ownerId of ownerIds) {
        const nonceBase = `${news.day.replaceAll('-', '')}${ownerId.slice(-8)}${'limit' in news ? 'c' : 'a'}`;
        await ports.directMessages.send(ownerId, [{ text }], nonceBase, hide);
      }
    },
  };
}

export function timeAndWait(date: Date): string {
  return `${discordTime(date, 't')} (${discordTime(date, 'R')})`;
}
