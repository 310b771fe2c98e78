import type { Clock, Timer } from '../core/time.ts';
import type { Logger } from '../core/logger.ts';
import { sessionName, type Place, type SessionKey } from '../core/place.ts';
import type { KeyedQueue } from '../core/keyed-queue.ts';
import type { MemoryLayer } from '../memory/layer.ts';
import type { SessionLog } from '../memory/log/session-log.ts';
import type { SessionStates } from '../memory/log/session-state.ts';

/** A layer with work after a turn. It may throw: the others still run, and its cursor says what is left [A1]. */
type FoldingLayer = Pick<MemoryLayer, 'fold'> & { readonly name: string };

/** The work after turns, queued per user, never delaying a reply [A1]. Sessions that wait together share one run. */
export class AfterTurn {
  readonly #layers: readonly FoldingLayer[];
  readonly #queue: KeyedQueue;
  readonly #logger: Logger;
  readonly #isWanted: (session: SessionKey) => Promise<boolean>;
  readonly #waiting = new Map<string, Map<string, SessionKey>>();
  readonly #abort = new AbortController();

  constructor(options: {
    /** In the order in which they fold. */
    readonly layers: readonly FoldingLayer[];
    readonly queue: KeyedQueue;
    readonly logger: Logger;
    /** Whether anything may be made of a session now; its cursors keep what is left for when it may. Must not reject. Default: always. */
    readonly isWanted?: (session: SessionKey) => Promise<boolean>;
  }) {
    this.#layers = options.layers;
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
    for (const layer of this.#layers) {
      if (this.#abort.signal.aborted) return;
      try {
        await layer.fold?.(userId, sessions, this.#abort.signal);
      } catch (error) {
        this.#logger.warn('a layer could not fold a turn and tries again after the next one', {
          layer: layer.name,
          userId,
          error,
        });
      }
    }
  }
}

/** What a timer can wait at most, in milliseconds; longer waits are taken up again then. */
const longestWaitMs = 2 ** 31 - 1;

/**
 * The alarm clock of sessions in which nothing is said: each is scheduled for after-turn work when its time has come. What is due and
 * whether it still is, the work finds out from disk, so nothing is lost when the process ends.
 */
export class IdleSessions {
  readonly #schedule: (session: SessionKey) => void;
  readonly #clock: Clock;
  readonly #timer: Timer;
  readonly #waiting = new Map<string, { readonly session: SessionKey; readonly time: number }>();
  #armed: { readonly time: number; readonly cancel: () => void } | undefined;
  #isStopped = false;

  constructor(options: {
    /** Hands the session to the work after turns. Must not throw. */
    readonly schedule: (session: SessionKey) => void;
    readonly clock: Clock;
    readonly timer: Timer;
  }) {
    this.#schedule = options.schedule;
    this.#clock = options.clock;
    this.#timer = options.timer;
  }

  /** Schedules the session once at `time`, instead of any time given before. */
  wakeAt(session: SessionKey, time: Date): void {
    if (this.#isStopped) return;
    this.#waiting.set(sessionName(session), { session, time: time.getTime() });
    // A timer that is set for an earlier time looks at everything again then.
    if (this.#armed === undefined || this.#armed.time > time.getTime()) this.#arm();
  }

  /** Wakes nothing any more; at the next start each session is looked at. */
  stop(): void {
    this.#isStopped = true;
    this.#waiting.clear();
    this.#arm();
  }

  #arm(): void {
    this.#armed?.cancel();
    this.#armed = undefined;
    let earliest = Infinity;
    for (const { time } of this.#waiting.values()) earliest = Math.min(earliest, time);
    if (earliest === Infinity) return;
    const ms = Math.min(longestWaitMs, Math.max(0, earliest - this.#clock().getTime()));
    const cancel = this.#timer(() => this.#ring(), ms);
    this.#armed = { time: earliest, cancel };
  }

  #ring(): void {
    this.#armed = undefined;
    const now = this.#clock().getTime();
    const due = [...this.#waiting].filter(([, { time }]) => time <= now);
    for (const [name, { session }] of due) {
      this.#waiting.delete(name);
      this.#schedule(session);
    }
    this.#arm();
  }
}

/** Whether anything may be made of a session: not where memory is off, nor where there is no log. Never rejects. */
export async function mayFold(
  session: SessionKey,
  {
    states,
    sessionLog,
    settings,
    logger,
  }: {
    readonly states: Pick<SessionStates, 'read'>;
    readonly sessionLog: Pick<SessionLog, 'lastSequence'>;
    /** Must not reject. */
    readonly settings: { isMemoryOff(place: Place): Promise<boolean> };
    readonly logger: Logger;
  },
): Promise<boolean> {
  try {
    const { place } = await states.read(session);
    if (place !== undefined) return !(await settings.isMemoryOff(place));
    return (await sessionLog.lastSequence(session)) > 0;
  } catch (error) {
    logger.warn('a session could not be looked at after its turn', { ...session, error });
    return false;
  }
}
