import { z } from 'zod';

import type { DirectMessagePort, IncomingMessage, ReplyPort } from '../core/chat.ts';
import { createMinuteBudget } from '../core/limits.ts';
import type { Logger } from '../core/logger.ts';
import { counted } from '../core/text.ts';
import { assertSnowflake } from '../core/snowflake.ts';
import type { DocumentKind, Store } from '../core/store.ts';
import type { Clock, Timer } from '../core/time.ts';
import { saveBestEffort, type Outbox } from './outbox.ts';

export interface TurnLimitPorts {
  /** 0: no limit. */
  readonly turnsPerMinute: number;
  /** When the day's limits on cost begin again. */
  readonly budgetResetsAt: () => Date;
  readonly replies: Pick<ReplyPort, 'send'>;
  readonly directMessages: Pick<DirectMessagePort, 'send'>;
  readonly outbox: Pick<Outbox, 'hide'>;
  readonly store: Pick<Store, 'update'>;
  readonly clock: Clock;
  readonly timer: Timer;
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number;
  readonly logger: Logger;
}

const minuteMs = 60_000;

/** Starts of the last minute, in milliseconds since the epoch, oldest first. */
const turnsSchema = z.object({ version: z.literal(1), begunAt: z.array(z.number()).readonly() });
export const turnsKind: DocumentKind<z.infer<typeof turnsSchema>> = { version: 1, schema: turnsSchema };

export type TurnLimits = ReturnType<typeof createTurnLimits>;

/** A person's limits, turns a minute and cost a day [L2], each told at most once a minute. */
export function createTurnLimits(ports: TurnLimitPorts) {
  const { turnsPerMinute, budgetResetsAt, outbox, store, clock, timer, now, logger } = ports;
  const begun = createMinuteBudget(turnsPerMinute, now);
  const waitLines = createMinuteBudget(1, now);
  const costLines = createMinuteBudget(1, now);

  /**
   * Milliseconds until a person may begin a turn; 0 counts it as begun. Never rejects: without the store,
   * this process's count applies.
   */
  async function begin(userId: string): Promise<number> {
    try {
      let ms = 0;
      const at = clock().getTime();
      await store.update(`users/${assertSnowflake(userId)}/turns.json`, turnsKind, (stored) => {
        const recent = (stored?.begunAt ?? []).filter((each) => at - each < minuteMs);
        const oldest = recent.at(-turnsPerMinute);
        ms = oldest === undefined ? 0 : Math.max(1, oldest + minuteMs - at);
        return ms === 0 ? { version: 1 as const, begunAt: [...recent, at] } : stored;
      });
      return ms;
    } catch (error) {
      logger.warn('turns of the last minute could not be read', { userId, error });
      return begun.take(userId, 1) ? 0 : begun.waitMs(userId, 1);
    }
  }

  const hide = (channelId: string, id: string): Promise<void> =>
    saveBestEffort(logger, 'messages hidden from history', () => outbox.hide(channelId, [id]));

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
      for (;;) {
        const ms = signal.aborted ? 0 : await begin(userId);
        if (ms === 0) return;
        if (waitLines.take(userId, 1)) void tellToWait(message, ms);
        await wait(Math.ceil(ms), signal, timer);
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
     * Tells the owners by direct message that most of the day's limit is used. Rejects with what may pass, or
     * without anybody to tell.
     */
    async tellOwners(
      this: void,
      ownerIds: readonly string[],
      { day, spent, limit }: { readonly day: string; readonly spent: number; readonly limit: number },
    ): Promise<void> {
      if (ownerIds.length === 0) throw new Error('The owner is not known yet');
      const text = `⚠️ Of the $${limit.toFixed(2)} that my model calls may cost today, $${spent.toFixed(2)} is used. Once the rest is too little for a call, I answer nobody until ${timeAndWait(budgetResetsAt())}; commands still work, and background work is done then. The limit is \`DISCOCLAW_DAILY_COST_USD\`.`;
      for (const ownerId of ownerIds) {
        const nonceBase = `${day.replaceAll('-', '')}${ownerId.slice(-8)}c`;
        await ports.directMessages.send(ownerId, [{ text }], nonceBase, hide);
      }
    },
  };
}

/** Discord shows it in each reader's time zone. */
function timeAndWait(date: Date): string {
  const seconds = Math.floor(date.getTime() / 1000);
  return `<t:${seconds}:t> (<t:${seconds}:R>)`;
}

function wait(ms: number, signal: AbortSignal, timer: Timer): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const end = (): void => {
      cancel();
      signal.removeEventListener('abort', end);
      resolve();
    };
    const cancel = timer(end, ms);
    signal.addEventListener('abort', end, { once: true });
  });
}
