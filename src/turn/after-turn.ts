import type { Logger } from '../core/logger.ts';
import type { Place, SessionKey } from '../core/place.ts';
import type { WorkLease, WorkQueue } from '../core/work-queue.ts';
import type { SessionWork, Writes } from '../core/writes.ts';
import type { MemoryLayer } from '../memory/layer.ts';
import type { SessionLog } from '../memory/log/session-log.ts';
import type { SessionStates } from '../memory/log/session-state.ts';
import type { PersonSettingsStore } from '../memory/settings/person-settings.ts';

export interface AfterTurnPorts {
  /** In the order in which they fold. One may throw: the others still run, and its cursor tells what is left [A1]. */
  readonly layers: readonly Pick<MemoryLayer, 'name' | 'fold'>[];
  readonly work: WorkQueue;
  readonly states: Pick<SessionStates, 'read'>;
  readonly log: Pick<SessionLog, 'lastSequence'>;
  /** Must not reject. */
  readonly settings: { isMemoryOff(place: Place): Promise<boolean> };
  readonly people: Pick<PersonSettingsStore, 'mayStore'>;
  /** Nothing more is made of talk in a deleted channel [K15]. */
  readonly goneChannels: () => Promise<ReadonlySet<string>>;
  /** When what held a person's work back ends: a limit on cost, told once [L2], and a pause after a failure [M16]. */
  readonly heldUntil?: readonly ((userId: string) => Date | undefined)[];
  readonly begin: Writes['begin'];
  /** Whether work on a session waits: what was forgotten there can be taken back. Rejects with `StoreError`. */
  readonly isHeld?: (session: SessionKey) => Promise<boolean>;
  /** Deletes what has expired of a person; retried later where it rejects. */
  readonly expire: (userId: string) => Promise<void>;
  readonly logger: Logger;
}

/** The work item for what may have expired. */
export const expiryKey = 'expire';

export type AfterTurn = ReturnType<typeof createAfterTurn>;

/** The work after turns, queued per user, never delaying a reply [A1]. Waiting sessions share one run. */
export function createAfterTurn(ports: AfterTurnPorts) {
  const { layers, work, states, log, settings, people, goneChannels, begin, expire, logger } = ports;
  const { heldUntil = [] } = ports;
  work.start(run);

  /**
   * Looks at a session, from a time on. Nothing is lost with the process: disk tells what is due, and each
   * session is looked at after a start.
   */
  function schedule(session: SessionKey, time?: Date): void {
    work.add(session.userId, session.channelId, time).catch((error: unknown) => {
      logger.warn('work after a turn could not be queued; it runs after the next turn', {
        ...session,
        error,
      });
    });
  }

  async function run({ userId, keys, signal }: WorkLease): Promise<void> {
    const own = await begin(userId);
    const sessions = keys.flatMap((key) => (key === expiryKey ? [] : [{ channelId: key, ...own }]));
    try {
      if (keys.includes(expiryKey)) await expire(userId);
    } finally {
      // If the lease is taken again only for what expires, the cursors show that the folding is done.
      await fold(userId, sessions, signal);
    }
  }

  async function fold(userId: string, waiting: readonly SessionWork[], signal: AbortSignal): Promise<void> {
    const sessions: SessionWork[] = [];
    for (const session of waiting) if (await mayFold(session)) sessions.push(session);
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
    const times = heldUntil.flatMap((until) => until(userId)?.getTime() ?? []);
    if (times.length === 0) return;
    for (const session of sessions) schedule(session, new Date(Math.max(...times)));
  }

  /** Not where memory is off or paused, nor where there is no log; cursors keep what is left. Never rejects. */
  async function mayFold(session: SessionKey): Promise<boolean> {
    try {
      if ((await goneChannels()).has(session.channelId)) return false;
      if (!(await people.mayStore(session))) return false;
      if ((await ports.isHeld?.(session)) === true) return false;
      const { place } = await states.read(session);
      if (place !== undefined) return !(await settings.isMemoryOff(place));
      return (await log.lastSequence(session)) > 0;
    } catch (error) {
      logger.warn('a session could not be looked at after its turn', { ...session, error });
      return false;
    }
  }

  return { schedule };
}
