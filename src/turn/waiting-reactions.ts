import type { WaitingReactionPort } from '../core/reply.ts';
import type { Clock, Timer } from '../core/time.ts';
import { snowflakeTime } from '../core/snowflake.ts';

/** Shorter waits get no reaction. */
const patienceMs = 300;

interface Waiting {
  readonly id: string;
  readonly channelId: string;
}

/**
 * Shows people that their message waits, for its session's turn or a place at the model. The reaction comes
 * after a moment and goes when the waiting ends. Nothing here throws or takes time.
 */
export class WaitingReactions {
  readonly #reactions: WaitingReactionPort;
  readonly #timer: Timer;
  readonly #startedAt: number;
  /** Cancels reactions that are still to come. */
  readonly #coming = new Map<string, () => void>();
  readonly #shown = new Set<string>();

  constructor({
    reactions,
    timer,
    clock,
  }: {
    readonly reactions: WaitingReactionPort;
    readonly timer: Timer;
    readonly clock: Clock;
  }) {
    this.#reactions = reactions;
    this.#timer = timer;
    this.#startedAt = clock().getTime();
  }

  /** Shows it waiting from the start of the work until its turn begins, or the work is over. */
  async while(message: Waiting, work: () => Promise<void>): Promise<void> {
    this.begin(message);
    try {
      await work();
    } finally {
      this.end(message);
    }
  }

  begin({ id, channelId }: Waiting): void {
    if (this.#coming.has(id) || this.#shown.has(id)) return;
    const show = (): void => {
      this.#coming.delete(id);
      this.#shown.add(id);
      this.#reactions.add(channelId, id);
    };
    this.#coming.set(id, this.#timer(show, patienceMs));
  }

  end({ id, channelId }: Waiting): void {
    this.#coming.get(id)?.();
    this.#coming.delete(id);
    if (this.#shown.delete(id)) this.#reactions.remove(channelId, id);
  }

  endForTurn(messages: readonly Waiting[]): void {
    for (const message of messages) {
      // A killed process may have left its reaction.
      if (snowflakeTime(message.id).getTime() < this.#startedAt) this.#shown.add(message.id);
      this.end(message);
    }
  }
}
