import type { Clock, Timer } from '../core/time.ts';
import { sessionName } from '../core/place.ts';
import type { SessionKey } from '../core/place.ts';

/** The process's own timer, unref'd. */
export const processTimer: Timer = (callback, ms) => {
  const timeout = setTimeout(callback, ms);
  timeout.unref();
  return () => clearTimeout(timeout);
};

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
