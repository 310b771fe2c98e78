import type { WaitingReactionPort } from '../core/chat.ts';
import type { Clock, Timer } from '../core/time.ts';
import { snowflakeTime } from '../core/snowflake.ts';

/** Who waits no longer than this is shown no reaction; milliseconds. */
const patienceMs = 300;

/** A message that a reaction can be put on. */
interface Waiting {
  readonly id: string;
  readonly channelId: string;
}

export interface WaitingReactionsOptions {
  readonly reactions: WaitingReactionPort;
  readonly timer: Timer;
  readonly clock: Clock;
}

/**
 * Shows people that their message waits: behind the turn that runs in its session, or for a free place at the model. A reaction comes only
 * after a moment, and goes when the waiting ends, however it ends. Nothing here throws or takes time.
 */
export class WaitingReactions {
  readonly #reactions: WaitingReactionPort;
  readonly #timer: Timer;
  readonly #startedAt: number;
  /** Of messages that wait without a reaction yet, how to stop it from coming. */
  readonly #coming = new Map<string, () => void>();
  readonly #shown = new Set<string>();

  constructor({ reactions, timer, clock }: WaitingReactionsOptions) {
    this.#reactions = reactions;
    this.#timer = timer;
    this.#startedAt = clock().getTime();
  }

  /** The message waits from the beginning of the work until its turn begins, or, where none comes, until the work is over. */
  async while(message: Waiting, work: () => Promise<void>): Promise<void> {
    this.begin(message);
    try {
      await work();
    } finally {
      this.end(message);
    }
  }

  /** From now on the message waits. */
  begin({ id, channelId }: Waiting): void {
    if (this.#coming.has(id) || this.#shown.has(id)) return;
    const show = (): void => {
      this.#coming.delete(id);
      this.#shown.add(id);
      this.#reactions.add(channelId, id);
    };
    this.#coming.set(id, this.#timer(show, patienceMs));
  }

  /** The message waits no longer. */
  end({ id, channelId }: Waiting): void {
    this.#coming.get(id)?.();
    this.#coming.delete(id);
    if (this.#shown.delete(id)) this.#reactions.remove(channelId, id);
  }

  /** The turn that answers these messages begins. */
  endForTurn(messages: readonly Waiting[]): void {
    for (const message of messages) {
      // A process that was killed may have left its reaction on what it did not come to answer.
      if (this.#isFromBefore(message)) this.#shown.add(message.id);
      this.end(message);
    }
  }

  #isFromBefore({ id }: Waiting): boolean {
    return snowflakeTime(id).getTime() < this.#startedAt;
  }
}
