import type { Logger } from '../core/logger.ts';
import { sessionName } from '../core/place.ts';
import type { SessionKey } from '../core/place.ts';
import type { KeyedQueue } from '../core/keyed-queue.ts';

/**
 * One derived layer's work after a turn: folds what its cursor has not seen, for sessions of one user, oldest work first. It must be
 * safe to run when there is nothing to do. It may throw: the others still run, and its cursor says what is left [A1].
 */
export interface AfterTurnStep {
  readonly name: string;
  run(userId: string, sessions: readonly SessionKey[], signal: AbortSignal): Promise<void>;
}

/** The work after turns, queued per user, never delaying a reply [A1]. Sessions that wait together share one run. */
export class AfterTurn {
  readonly #steps: readonly AfterTurnStep[];
  readonly #queue: KeyedQueue;
  readonly #logger: Logger;
  readonly #isWanted: (session: SessionKey) => Promise<boolean>;
  readonly #waiting = new Map<string, Map<string, SessionKey>>();
  readonly #abort = new AbortController();

  constructor(options: {
    readonly steps: readonly AfterTurnStep[];
    readonly queue: KeyedQueue;
    readonly logger: Logger;
    /** Whether anything may be made of a session now; its cursors keep what is left for when it may. Must not reject. Default: always. */
    readonly isWanted?: (session: SessionKey) => Promise<boolean>;
  }) {
    this.#steps = options.steps;
    this.#queue = options.queue;
    this.#logger = options.logger;
    this.#isWanted = options.isWanted ?? (() => Promise.resolve(true));
  }

  schedule(session: SessionKey): void {
    const waiting = this.#waiting.get(session.userId);
    if (waiting !== undefined) {
      waiting.set(sessionName(session), session);
      return;
    }
    this.#waiting.set(session.userId, new Map([[sessionName(session), session]]));
    this.#queue
      .run(session.userId, () => this.#run(session.userId))
      .catch((error: unknown) =>
        this.#logger.error('after-turn work failed', { userId: session.userId, error }),
      );
  }

  /** Runs that run or wait. */
  get open(): number {
    return this.#queue.size;
  }

  /** Resolves when nothing runs or waits. */
  idle(): Promise<void> {
    return this.#queue.idle();
  }

  /** Ends model calls that run now; their cursors stay, so the work is done after the next start. */
  abort(): void {
    this.#abort.abort();
  }

  async #run(userId: string): Promise<void> {
    const waiting = [...(this.#waiting.get(userId)?.values() ?? [])];
    this.#waiting.delete(userId);
    const sessions: SessionKey[] = [];
    for (const session of waiting) if (await this.#isWanted(session)) sessions.push(session);
    if (sessions.length === 0) return;
    for (const step of this.#steps) {
      if (this.#abort.signal.aborted) return;
      try {
        await step.run(userId, sessions, this.#abort.signal);
      } catch (error) {
        this.#logger.warn('a step after the turn failed and is tried again after the next one', {
          step: step.name,
          userId,
          error,
        });
      }
    }
  }
}
