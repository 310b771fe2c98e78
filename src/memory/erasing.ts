import type { RecentChanges } from '../core/changes.ts';
import type { Logger } from '../core/logger.ts';
import type { SessionKey } from '../core/place.ts';
import type { Processes } from '../core/processes.ts';
import type { Store } from '../core/store.ts';
import { unconditional, type Writes } from '../core/writes.ts';
import type { MemoryLayer } from './layer.ts';
import type { SessionLog } from './log/session-log.ts';
import type { AnswerKeeper } from './message-changes.ts';

/** The layers that could not follow a change yet, with the reason; it stays withheld for them. */
export type Failures = ReadonlyMap<string, unknown>;
export type FailuresSoFar = Map<string, unknown>;

/** For steps of which one that fails holds up no other. */
export function attempting(failures: FailuresSoFar, about: object, logger: Logger) {
  return async (layer: string, work: () => Promise<unknown>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      failures.set(layer, error);
      logger.error('a change could not be applied to a layer of memory', { ...about, layer, error });
    }
  };
}

export interface ErasingPorts {
  readonly store: Pick<Store, 'removeAll'>;
  readonly recent: Pick<RecentChanges, 'dropTextsOf'>;
  readonly writes: Pick<Writes, 'run'>;
  readonly log: Pick<SessionLog, 'everyOfPerson'>;
  readonly layers: readonly MemoryLayer[];
  readonly answers: Pick<AnswerKeeper, 'erase'>;
  /**
   * Ends what runs and waits here for an erased person, and evicts what is kept of them in memory. What waits for
   * other processes too is dropped only by the one that erases. Must not throw.
   */
  readonly endWork: (userId: string, erasedBy: 'here' | 'elsewhere') => void;
  /** Keeps the moment of an erasing. As part of a job of the person's queue. Rejects with `StoreError`. */
  readonly noteErased: (userId: string, at: string) => Promise<void>;
  readonly processes: Pick<Processes, 'notices'>;
  readonly logger: Logger;
}

/** Erases everything of a person [K11], as a job of their queue that it enters by itself. */
export function createErasing(ports: ErasingPorts) {
  const { store, recent, writes, log, layers, answers, processes, logger } = ports;

  /** The person's own folder tells where the rest is, so it goes last: what a kill came before is found again. */
  async function eraseEverywhere(userId: string, at: string, failures: FailuresSoFar): Promise<void> {
    const attempt = attempting(failures, { kind: 'erased', userId }, logger);
    const sessions: SessionKey[] = [];
    await attempt('log', async () => sessions.push(...(await log.everyOfPerson(userId))));
    const channelIds = sessions.map(({ channelId }) => channelId);
    await attempt('answers', () => answers.erase(userId, at, channelIds));
    for (const layer of layers)
      await attempt(layer.name, () => layer.delete({ kind: 'person', userId, sessions }));
    // What no layer knows of, such as damaged copies and what was put there by hand.
    for (const channelId of channelIds)
      await attempt('log', () => store.removeAll(`sessions/${channelId}/${userId}`));
    if (failures.size === 0) await attempt('settings', () => store.removeAll(`users/${userId}`));
    await attempt('settings', () => ports.noteErased(userId, at));
  }

  return async function erasePerson(userId: string, at: string, failures: FailuresSoFar): Promise<void> {
    processes.notices.tell({ kind: 'erased', userId, isDone: false });
    ports.endWork(userId, 'here');
    recent.dropTextsOf(userId);
    await writes.run(unconditional(userId), () => eraseEverywhere(userId, at, failures));
    // Something may have been read by others since the first notice.
    processes.notices.tell({ kind: 'erased', userId, isDone: true });
    logger.info('all that was held about a person was erased', { userId, isDone: failures.size === 0 });
  };
}
