import { createAbortGroup } from '../core/abort-group.ts';
import type { Logger } from '../core/logger.ts';
import type { Place, SessionKey } from '../core/place.ts';
import type { KeyedQueue } from '../core/keyed-queue.ts';
import type { WorkLease, WorkQueue } from '../core/work-queue.ts';
import type { MemoryLayer } from '../memory/layer.ts';
import type { SessionLog } from '../memory/log/session-log.ts';
import type { SessionStates } from '../memory/log/session-state.ts';
import type { PersonSettingsStore } from '../memory/settings/person-settings.ts';

/** A layer with work after a turn. It may throw: the others still run, and its cursor says what is left [A1]. */
type FoldingLayer = Pick<MemoryLayer, 'fold'> & { readonly name: string };

interface AfterTurnOptions {
  /** In the order in which they fold. */
  readonly layers: readonly FoldingLayer[];
  readonly work: WorkQueue;
  readonly logger: Logger;
  /** Whether anything may be made of a session now; its cursors keep what is left for when it may. Must not reject. Default: always. */
  readonly isWanted?: (session: SessionKey) => Promise<boolean>;
  /** When what a limit on cost kept from being done can be, told once [L2]. Default: nothing is kept. */
  readonly heldUntil?: ((userId: string) => Date | undefined) | undefined;
  /** Runs each run, so that its writes can be refused once its person was erased. */
  readonly begin?: KeyedQueue['begin'];
  /** Sees to what of a person's may be over by now; where it rejects, it is called again in a while. Default: nothing is to be seen to. */
  readonly lapse?: (userId: string) => Promise<void>;
}

/** Stands in the work of a person for what may be over. */
export const lapseKey = 'lapse';

/** The work after turns, queued per user, never delaying a reply [A1]. Sessions that wait together share one run. */
export class AfterTurn {
  readonly #options: AfterTurnOptions;
  readonly #folds = createAbortGroup();

  constructor(options: AfterTurnOptions) {
    this.#options = options;
    const { work, begin = (run) => run() } = options;
    work.start((lease) => begin(() => this.#run(lease), lease.userId));
  }

  /**
   * Looks at a session, from a time on. What is due then, the work finds out from disk, so nothing is lost when the process ends: each session is looked at after the
   * next start.
   */
  schedule(session: SessionKey, time?: Date): void {
    const { work, logger } = this.#options;
    work.add(session.userId, session.channelId, time).catch((error: unknown) => {
      logger.warn('work after a turn could not be left for later, and is taken up after the next one', {
        ...session,
        error,
      });
    });
  }

  /** People whose work runs or waits to be taken now. */
  get open(): number {
    return this.#options.work.size;
  }

  /** Resolves when nothing runs or is to be taken now; what rests begins. */
  idle(): Promise<void> {
    return this.#options.work.idle();
  }

  /** Ends model calls that run now; their cursors stay, so the work is done after the next start. */
  abort(): void {
    this.#folds.end();
    this.stop();
  }

  /** Takes nothing more; what runs goes on. */
  stopTaking(): void {
    this.#options.work.stopTaking();
  }

  /** The same, and ends what it took. */
  stop(): void {
    this.#options.work.stop();
  }

  /** Ends the run of a person who is erased, and drops what waits for it; what waits for other processes too is dropped by the one that erases. */
  endOf(userId: string, erasedBy: 'here' | 'elsewhere'): void {
    const { work } = this.#options;
    if (erasedBy === 'here') void work.drop(userId);
    else work.end(userId);
  }

  async #run({ userId, keys, signal }: WorkLease): Promise<void> {
    const sessions = keys.flatMap((key) => (key === lapseKey ? [] : [{ channelId: key, userId }]));
    try {
      if (keys.includes(lapseKey)) await this.#options.lapse?.(userId);
    } finally {
      // Where the lease is taken again for what lapses, the cursors say that this is done.
      await this.#folds.run((end) => this.#fold(userId, sessions, AbortSignal.any([end, signal])));
    }
  }

  async #fold(userId: string, waiting: readonly SessionKey[], signal: AbortSignal): Promise<void> {
    const { layers, isWanted, heldUntil, logger } = this.#options;
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
    const until = heldUntil?.(userId);
    if (until !== undefined) for (const session of sessions) this.schedule(session, until);
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
    readonly goneChannels: () => Promise<ReadonlySet<string>>;
    readonly logger: Logger;
  },
): Promise<boolean> {
  const { states, sessionLog, settings, people, goneChannels, logger } = ports;
  try {
    if ((await goneChannels()).has(session.channelId)) return false;
    if (!(await people.mayFold(session))) return false;
    const { place } = await states.read(session);
    if (place !== undefined) return !(await settings.isMemoryOff(place));
    return (await sessionLog.lastSequence(session)) > 0;
  } catch (error) {
    logger.warn('a session could not be looked at after its turn', { ...session, error });
    return false;
  }
}
