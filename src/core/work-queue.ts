import type { Logger } from './logger.ts';
import type { Clock, Timer } from './time.ts';

/** What waits of one person, taken by one process at a time. */
export interface WorkLease {
  readonly userId: string;
  /** What was added, each once. */
  readonly keys: readonly string[];
  /** Aborted where the work is to end: the queue stops, the person's work is ended or dropped, or the lease is lost. From then on it stores nothing. */
  readonly signal: AbortSignal;
}

/**
 * Work that waits by person [X2]: one person's in order and in one process at a time, different people's side by side. What came in a burst is one lease. Work that was
 * taken and not finished, since its process is gone or lost the lease, is taken again, so it must be safe to repeat.
 */
export interface WorkQueue {
  /**
   * Adds a key of a person, from `at` on; by default now, which means a moment later, so that what follows at once comes with it. A key that waits already is taken
   * at the earlier of both times; one that is being worked on is taken once more afterwards. Resolves when it would outlive the process, as far as this queue
   * does at all; rejects with `StoreError`.
   */
  add(userId: string, key: string, at?: Date): Promise<void>;
  /** Takes work from now on, which is over when it resolves; where it rejects, it is taken again in a while. To be called once. */
  start(work: (lease: WorkLease) => Promise<void>): void;
  /** Ends what runs of a person in this process; it is taken again, by whichever process. */
  end(userId: string): void;
  /** The same, and drops what was added of the person until now, for all processes. Never rejects. */
  drop(userId: string): Promise<void>;
  /** People whose work runs here, or waits to be taken now as far as this process knows. */
  readonly size: number;
  /** Resolves when nothing runs here and, as long as it takes work, nothing is to be taken now, no matter who added it. What rests begins. */
  idle(): Promise<void>;
  /**
   * Takes nothing more; what runs goes on. What waits, or is added yet, is taken by another process, or after the next start; where there is no other process, `idle` still
   * does what is due.
   */
  stopTaking(): void;
  /** Takes nothing more, and ends what runs; what is left is taken after the next start, or by another process. */
  stop(): void;
}

/** Milliseconds that work rests behind what added it: what follows at once is answered first, and shares the run. */
const restMs = 100;
/** Milliseconds until work is taken again that could not be done. */
const againMs = 30_000;
/** What a timer can wait at most, in milliseconds; longer waits are taken up again then. */
const longestWaitMs = 2 ** 31 - 1;

interface Person {
  /** By key, from when on it may be taken, in milliseconds since the epoch; 0 is now. */
  readonly waiting: Map<string, number>;
  /** For the earliest key. */
  armed?: { readonly at: number; readonly cancel: () => void } | undefined;
  running?: Running | undefined;
}

interface Running {
  readonly end: AbortController;
  readonly done: Promise<void>;
  /** What is taken again where it is not done. */
  keys: readonly string[];
}

/** For a process that has the store alone [X5]: pending work is in memory, and its owners look for it again at each start. */
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

  /** Looks at a person again when their earliest key may be taken. */
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
      logger.warn('work after turns could not be done, and is taken again later', { userId, error });
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
