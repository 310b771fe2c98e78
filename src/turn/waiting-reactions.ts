import type { IncomingMessage } from '../core/message.ts';
import type { WaitingReactionPort } from '../core/reply.ts';
import type { Clock, Timer } from '../core/time.ts';
import { snowflakeTime } from '../core/snowflake.ts';

/** Shorter waits get no reaction. */
const patienceMs = 300;

type Waiting = Pick<IncomingMessage, 'id' | 'channelId' | 'askedIn'>;

export type WaitingReactions = ReturnType<typeof createWaitingReactions>;

/**
 * Shows people that their message waits, for its session's turn or a place at the model. The reaction comes
 * after a moment and goes when the waiting ends. Nothing here throws or takes time.
 */
export function createWaitingReactions(ports: {
  readonly reactions: WaitingReactionPort;
  readonly timer: Timer;
  readonly clock: Clock;
}) {
  const { reactions, timer, clock } = ports;
  const startedAt = clock().getTime();
  /** Cancels reactions that are still to come. */
  const coming = new Map<string, () => void>();
  const shown = new Set<string>();

  function begin({ id, channelId, askedIn }: Waiting): void {
    // An `/ask` cannot have a reaction [EW2].
    if (askedIn !== undefined || coming.has(id) || shown.has(id)) return;
    const show = (): void => {
      coming.delete(id);
      shown.add(id);
      reactions.add(channelId, id);
    };
    coming.set(id, timer(show, patienceMs));
  }

  function end({ id, channelId }: Waiting): void {
    coming.get(id)?.();
    coming.delete(id);
    if (shown.delete(id)) reactions.remove(channelId, id);
  }

  return {
    begin,
    end,

    /** Shows it waiting from the start of the work until its turn begins, or the work is over. */
    async while(message: Waiting, work: () => Promise<void>): Promise<void> {
      begin(message);
      try {
        await work();
      } finally {
        end(message);
      }
    },

    endForTurn(messages: readonly Waiting[]): void {
      for (const message of messages) {
        // A killed process may have left its reaction.
        const isOlder = snowflakeTime(message.id).getTime() < startedAt;
        if (isOlder && message.askedIn === undefined) shown.add(message.id);
        end(message);
      }
    },
  };
}
