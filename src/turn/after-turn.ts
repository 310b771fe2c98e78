import { createAbortGroup } from '../core/abort-group.ts';
import { pauseFor, type Clock, type Timer } from '../core/time.ts';
import type { Logger } from '../core/logger.ts';
import { sessionName, type Place, type SessionKey } from '../core/place.ts';
import type { KeyedQueue } from '../core/keyed-queue.ts';
import type { WorkLease, WorkQueue } from '../core/work-queue.ts';
import type { GonePlaces } from '../memory/gone-places.ts';
import type { MemoryLayer } from '../memory/layer.ts';
import type { SessionLog } from '../memory/log/session-log.ts';
import type { SessionStates } from '../memory/log/session-state.ts';
import type { PersonSettingsStore } from '../memory/settings/person-settings.ts';

/** A layer with work after a turn. It may throw: the others still run, and its cursor says what is left [A1]. */
type FoldingLayer = Pick<MemoryLayer, 'fold'> & { readonly name: string };

/** Milliseconds that the work rests behind its person's last turn, and behind the first one at most: turns that follow at once are answered first, and share the run. */
const restMs = 100;
const longestRestMs = 1000;

interface AfterTurnOptions {
  /** In the order in which they fold. */
  readonly layers: readonly FoldingLayer[];
  readonly queue: KeyedQueue;
  readonly logger: Logger;
  /** Whether anything may be made of a session now; its cursors keep what is left for when it may. Must not reject. Default: always. */
  readonly isWanted?: (session: SessionKey) => Promise<boolean>;
  /** When what a limit on cost kept from being done can be, told once [L2]; and has a session looked at then. Default: nothing is kept. */
  readonly held?: {
    readonly until: (userId: string) => Date | undefined;
    readonly wakeAt: (session: SessionKey, time: Date) => void;
  };
  /** Runs each run, so that its writes can be refused once its person was erased. */
  readonly begin?: KeyedQueue['begin'];
  /** Where work waits that other processes may do as well [X2]. Default: it waits in this one. */
  readonly work?: WorkQueue | undefined;
  /** Sees to what of a person's may be over by now; where it rejects, it is called again in a while. Default: nothing is to be seen to. */
  readonly lapse?: (userId: string) => Promise<void>;
  /** Resolves after so many milliseconds, or when the signal is aborted. */
  readonly sleep?: (milliseconds: number, signal: AbortSignal) => Promise<void>;
}

/** Stands in the work of a person for what may be over. */
export const lapseKey = 'lapse';

/** The work after turns, queued per user, never delaying a reply [A1]. Sessions that wait together share one run. */
export class AfterTurn {
  readonly #options: AfterTurnOptions;
  /** By person. */
  readonly #waiting = new Map<string, { readonly sessions: Map<string, SessionKey>; turns: number }>();
  readonly #folds = createAbortGroup();
  readonly #rests = createAbortGroup();
  /** By person, what ends their run. */
  readonly #running = new Map<string, AbortController>();

  constructor(options: AfterTurnOptions) {
    this.#options = options;
    const { work, begin = (run) => run() } = options;
    work?.start((lease) => begin(() => this.#runLease(lease), lease.userId));
  }

  /** Looks at a session from a time on, where work waits for other processes too. Never rejects. */
  async scheduleAt(session: SessionKey, time?: Date): Promise<void> {
    const { work, logger } = this.#options;
    try {
      await work?.add(session.userId, session.channelId, time);
    } catch (error) {
      logger.warn('work after a turn could not be left for later, and is taken up after the next one', {
        ...session,
        error,
      });
    }
  }

  /** Has `lapse` called from a time on; likewise. Rejects with `StoreError`. */
  async lapseAt(userId: string, time: Date): Promise<void> {
    await this.#options.work?.add(userId, lapseKey, time);
  }

  schedule(session: SessionKey): void {
    if (this.#options.work !== undefined) return void this.scheduleAt(session);
    const waiting = this.#waiting.get(session.userId);
    if (waiting !== undefined) {
      waiting.sessions.set(sessionName(session), session);
      waiting.turns += 1;
      return;
    }
    this.#waiting.set(session.userId, { sessions: new Map([[sessionName(session), session]]), turns: 1 });
    const { queue, logger, begin = (work) => work() } = this.#options;
    queue
      .run(session.userId, () => begin(() => this.#run(session.userId), session.userId))
      .catch((error: unknown) => logger.error('after-turn work failed', { userId: session.userId, error }));
  }

  /** Runs that run or wait. */
  get open(): number {
    return this.#options.work?.size ?? this.#options.queue.size;
  }

  /** Resolves when nothing runs or waits here; what rests begins. */
  idle(): Promise<void> {
    this.#rests.abort();
    return (this.#options.work ?? this.#options.queue).idle();
  }

  /** Ends model calls that run now; their cursors stay, so the work is done after the next start. */
  abort(): void {
    this.#folds.end();
    this.stop();
  }

  /** Takes nothing more that waits for other processes too; what runs goes on. */
  stopTaking(): void {
    this.#options.work?.stopTaking();
  }

  /** The same, and ends what it took. */
  stop(): void {
    this.#options.work?.stop();
  }

  /** Ends the run of a person who is erased, and drops what waits for it; what waits for other processes too is dropped by the one that erases. */
  endOf(userId: string, erasedBy: 'here' | 'elsewhere'): void {
    const { work } = this.#options;
    this.#waiting.delete(userId);
    this.#running.get(userId)?.abort();
    if (erasedBy === 'here') void work?.drop(userId);
    else work?.end(userId);
  }

  async #runLease({ userId, keys, signal }: WorkLease): Promise<void> {
    const sessions = keys.flatMap((key) => (key === lapseKey ? [] : [{ channelId: key, userId }]));
    try {
      if (keys.includes(lapseKey)) await this.#options.lapse?.(userId);
    } finally {
      // Where the lease is taken again for what lapses, the cursors say that this is done.
      await this.#folds.run((end) => this.#fold(userId, sessions, AbortSignal.any([end, signal])));
    }
  }

  async #run(userId: string): Promise<void> {
    const own = new AbortController();
    this.#running.set(userId, own);
    try {
      await this.#rest(userId);
      const sessions = [...(this.#waiting.get(userId)?.sessions.values() ?? [])];
      this.#waiting.delete(userId);
      await this.#folds.run((end) => this.#fold(userId, sessions, AbortSignal.any([end, own.signal])));
    } finally {
      this.#running.delete(userId);
    }
  }

  async #rest(userId: string): Promise<void> {
    const { sleep = pauseFor } = this.#options;
    const turns = (): number | undefined => this.#waiting.get(userId)?.turns;
    let known: number | undefined;
    for (let restedMs = 0; restedMs < longestRestMs && known !== turns(); restedMs += restMs) {
      known = turns();
      await this.#rests.run((signal) => sleep(restMs, signal));
    }
  }

  async #fold(userId: string, waiting: readonly SessionKey[], signal: AbortSignal): Promise<void> {
    const { layers, isWanted, held, logger } = this.#options;
    const sessions: SessionKey[] = [];
    for (const session of waiting) if ((await isWanted?.(session)) ?? true) sessions.push(session);
    if (sessions.length === 0) return;
    for (const layer of layers) {
      if (signal.aborted) return;
      try {
        await layer.fold?.(userId, sessions, signal);
      } catch (error) {
        logger.warn('a layer could not fold a turn and tries again after the next one', {
          layer: layer.name,
          userId,
          error,
        });
      }
    }
    const until = held?.until(userId);
    if (until !== undefined) for (const session of sessions) held?.wakeAt(session, until);
  }
}

/** What a timer can wait at most, in milliseconds; longer waits are taken up again then. */
const longestWaitMs = 2 ** 31 - 1;

interface IdleOptions {
  /** Hands the session to the work after turns. Must not throw. */
  readonly schedule: (session: SessionKey) => void;
  readonly clock: Clock;
  readonly timer: Timer;
}

/**
 * The alarm clock of sessions in which nothing is said: each is scheduled for after-turn work when its time has come. What is due and
 * whether it still is, the work finds out from disk, so nothing is lost when the process ends.
 */
export class IdleSessions {
  readonly #options: IdleOptions;
  readonly #waiting = new Map<string, { readonly session: SessionKey; readonly time: number }>();
  #armed: { readonly time: number; readonly cancel: () => void } | undefined;
  #isStopped = false;

  constructor(options: IdleOptions) {
    this.#options = options;
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
    const ms = Math.min(longestWaitMs, Math.max(0, earliest - this.#options.clock().getTime()));
    const cancel = this.#options.timer(() => this.#ring(), ms);
    this.#armed = { time: earliest, cancel };
  }

  #ring(): void {
    this.#armed = undefined;
    const now = this.#options.clock().getTime();
    const due = [...this.#waiting].filter(([, { time }]) => time <= now);
    for (const [name, { session }] of due) {
      this.#waiting.delete(name);
      this.#options.schedule(session);
    }
    this.#arm();
  }
}

/** Whether anything may be made of a session: not where memory is off or paused, nor where there is no log. Never rejects. */
export async function mayFold(
  session: SessionKey,
  ports: {
    readonly states: Pick<SessionStates, 'read'>;
    readonly sessionLog: Pick<SessionLog, 'lastSequence'>;
    /** Must not reject. */
    readonly settings: { isMemoryOff(place: Place): Promise<boolean> };
    /** What each person lets the bot keep [K9]. */
    readonly people: Pick<PersonSettingsStore, 'mayFold'>;
    /** Nothing more is made of what was said in a channel that is deleted [K15]. */
    readonly gonePlaces: Pick<GonePlaces, 'channels'>;
    readonly logger: Logger;
  },
): Promise<boolean> {
  const { states, sessionLog, settings, people, gonePlaces, logger } = ports;
  try {
    if ((await gonePlaces.channels()).has(session.channelId)) return false;
    if (!(await people.mayFold(session))) return false;
    const { place } = await states.read(session);
    if (place !== undefined) return !(await settings.isMemoryOff(place));
    return (await sessionLog.lastSequence(session)) > 0;
  } catch (error) {
    logger.warn('a session could not be looked at after its turn', { ...session, error });
    return false;
  }
}
