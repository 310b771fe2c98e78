import type { Logger } from './logger.ts';
import type { Clock, Timer } from './time.ts';

/** One person's waiting work, taken by one process at a time. */
export interface WorkLease {
  readonly userId: string;
  readonly keys: readonly string[];
  /** Aborted when the queue stops, the work is dropped, or the lease is lost: then nothing may be stored. */
  readonly signal: AbortSignal;
}

/**
 * Work that waits by person [X2]: one person's in order and in one process at a time, different people's side
 * by side. A burst is one lease. Unfinished work is taken again, so it must be safe to repeat.
 */
export interface WorkQueue {
  /**
   * Adds a key from `at` on; by default after a moment, so that a burst is one lease. A waiting key keeps the
   * earlier time; one being worked on is taken again afterwards. Resolves once it is as durable as this queue
   * can make it; rejects with `StoreError`.
   */
  add(userId: string, key: string, at?: Date): Promise<void>;
  /** Takes work from now on; after a rejection it is taken again later. To be called once. */
  start(work: (lease: WorkLease) => Promise<void>): void;
  /** Ends a person's work here; any process takes it again. */
  end(userId: string): void;
  /** The same, and drops what was added before, for all processes. Never rejects. */
  drop(userId: string): Promise<void>;
  /** People whose work runs, or is to be taken now, in this process. */
  readonly size: number;
  /** Resolves when nothing runs here and nothing is due in any process. Delayed work is due at once. */
  idle(): Promise<void>;
  /**
   * Takes nothing more; what runs goes on. What waits is taken elsewhere or after a restart; a single process
   * still does what is due on `idle`.
   */
  stopTaking(): void;
  /** Takes nothing more and ends what runs; the rest is taken elsewhere or after a restart. */
  stop(): void;
}

/** So that what follows at once shares the run and is answered first. */
const restMs = 100;
/** Until failed work is taken again. */
const againMs = 30_000;
/** Timers know nothing of a clock that is set, nor of a machine that sleeps: it is looked at so often; milliseconds. */
const longestWaitMs = 60_000;

interface Person {
  /** When each key may be taken, in milliseconds since the epoch; 0 is now. */
  readonly waiting: Map<string, number>;
  armed?: { readonly at: number; readonly cancel: () => void } | undefined;
  running?: Running | undefined;
}

interface Running {
  readonly end: AbortController;
  readonly done: Promise<void>;
  /** What is taken again where it is not done. */
  keys: readonly string[];
}

/** For a single process [X5]: kept in memory; owners look for their work at each start. */
export function createWorkQueue({
  clock,
  timer,
  logger,
}: {
  readonly clock: Clock;
  readonly timer: Timer;
  readonly logger: Logger;
}): WorkQueue {
  const people = new Map<string, Person>();
  let work: ((lease: WorkLease) => Promise<void>) | undefined;
  let isTaking = true;

  /** Waits for a person's earliest key. */
  function arm(userId: string, person: Person): void {
    if (person.running !== undefined || work === undefined || !isTaking) return;
    const at = Math.min(...person.waiting.values());
    if (person.armed !== undefined && person.armed.at <= at) return;
    disarm(person);
    const ms = Math.min(longestWaitMs, Math.max(restMs, at - clock().getTime()));
    if (at === Infinity) people.delete(userId);
    else person.armed = { at, cancel: timer(() => take(userId, person), ms) };
  }

  function disarm(person: Person): void {
    person.armed?.cancel();
    person.armed = undefined;
  }

  function dueOf({ waiting }: Person): readonly string[] {
    const now = clock().getTime();
    return [...waiting].flatMap(([key, at]) => (at <= now ? key : []));
  }

  function take(userId: string, person: Person): void {
    if (person.running !== undefined || work === undefined) return;
    disarm(person);
    const keys = dueOf(person);
    if (keys.length === 0) return arm(userId, person);
    for (const key of keys) person.waiting.delete(key);
    const end = new AbortController();
    const working = work({ userId, keys, signal: end.signal });
    person.running = { end, keys, done: finished(userId, person, working, end.signal) };
  }

  /** Never rejects. */
  async function finished(
    userId: string,
    person: Person,
    working: Promise<void>,
    signal: AbortSignal,
  ): Promise<void> {
    let again: number | undefined;
    try {
      await working;
      if (signal.aborted) again = 0;
    } catch (error) {
      logger.warn('work after turns failed; it is retried later', { userId, error });
      again = clock().getTime() + againMs;
    }
    const keys = person.running?.keys ?? [];
    person.running = undefined;
    if (again !== undefined) for (const key of keys) wait(person, key, again);
    arm(userId, person);
  }

  function wait({ waiting }: Person, key: string, at: number): void {
    waiting.set(key, Math.min(at, waiting.get(key) ?? at));
  }

  function stopTaking(): void {
    isTaking = false;
    for (const person of people.values()) disarm(person);
  }

  return {
    add(userId, key, at) {
      const person = people.get(userId) ?? { waiting: new Map<string, number>() };
      people.set(userId, person);
      wait(person, key, at?.getTime() ?? 0);
      arm(userId, person);
      return Promise.resolve();
    },
    start(run) {
      work = run;
      for (const [userId, person] of people) arm(userId, person);
    },
    end: (userId) => people.get(userId)?.running?.end.abort(),
    drop(userId) {
      const person = people.get(userId);
      person?.waiting.clear();
      if (person?.running !== undefined) {
        person.running.keys = [];
        person.running.end.abort();
      }
      return Promise.resolve();
    },
    get size() {
      return [...people.values()].filter((person) => person.running !== undefined || dueOf(person).length > 0)
        .length;
    },
    async idle() {
      for (;;) {
        for (const [userId, person] of people) if (dueOf(person).length > 0) take(userId, person);
        const running = [...people.values()].flatMap((person) => person.running?.done ?? []);
        if (running.length === 0) return;
        await Promise.all(running);
      }
    },
    stopTaking,
    stop() {
      stopTaking();
      work = undefined;
      for (const { running } of people.values()) running?.end.abort();
    },
  };
}
