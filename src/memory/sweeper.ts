import type { Logger } from '../core/logger.ts';
import type { SessionKey } from '../core/place.ts';
import type { Locks } from '../core/processes.ts';
import { isSnowflake } from '../core/snowflake.ts';
import type { Store } from '../core/store.ts';
import type { Timer } from '../core/time.ts';
import type { Writes } from '../core/writes.ts';
import type { SessionLog } from './log/session-log.ts';

const sweepEveryMs = 60 * 60_000;
/** Until it is tried again where another process sweeps, or where the disk does not tell whom there is to ask. */
const againMs = 60_000;

/** Works on each of all, whatever becomes of the others; resolves with whether all is done. */
type ForEach<T> = (work: (each: T) => Promise<unknown>) => Promise<boolean>;

/** All conversations, and all people, of which there is anything. */
export interface Everybody {
  readonly sessions: ForEach<SessionKey>;
  readonly people: ForEach<string>;
  /** Aborted when the rest may be left to the next sweep. */
  readonly signal: AbortSignal;
}

/** Deletes what goes for one reason. To be repeated: the next sweep finishes what a kill, a stop or a failure left. */
export type SweepRow = (everybody: Everybody) => Promise<unknown>;

/** What most rows need. */
export interface SweepPorts {
  readonly store: Store;
  /** The users' write queue [S3]. */
  readonly writes: Pick<Writes, 'run'>;
  readonly log: Pick<SessionLog, 'channels' | 'guildOf' | 'threadsOf' | 'sessionsOfPerson' | 'dropLines'>;
  readonly logger: Logger;
}

/** By the reasons for which something goes. */
type Rows = Readonly<Record<string, SweepRow>>;

/** Runs each row at the start and every hour, in one process at a time. */
export function createSweeper(options: {
  readonly store: Pick<Store, 'folders'>;
  readonly log: Pick<SessionLog, 'allSessions'>;
  readonly locks: Pick<Locks, 'claim'>;
  readonly timer: Timer;
  readonly logger: Logger;
}) {
  const { store, log, locks, timer, logger } = options;
  const stopping = new AbortController();
  const { signal } = stopping;
  let running: Promise<void> = Promise.resolve();
  let cancel: (() => void) | undefined;

  async function forEach<T>(
    all: readonly T[],
    about: (each: T) => object,
    work: (each: T) => Promise<unknown>,
  ): Promise<boolean> {
    let failures = 0;
    for (const each of all) {
      if (signal.aborted) return false;
      try {
        await work(each);
      } catch (error) {
        failures += 1;
        logger.error('what is over could not be deleted; trying again in an hour', { ...about(each), error });
      }
    }
    return failures === 0;
  }

  async function sweep(rows: Rows): Promise<void> {
    const sessions = await log.allSessions();
    const people = (await store.folders('users')).map(({ name }) => name).filter(isSnowflake);
    await forEach(
      Object.entries(rows),
      ([row]) => ({ row }),
      ([row, deleteOver]) =>
        deleteOver({
          sessions: (work) => forEach(sessions, (session) => ({ row, ...session }), work),
          people: (work) => forEach(people, (userId) => ({ row, userId }), work),
          signal,
        }),
    );
  }

  /** Resolves with whether it was this process's turn. If it dies midway, the next one starts over. */
  async function sweepAlone(rows: Rows): Promise<boolean> {
    const own = await locks.claim('sweep');
    if (own === undefined) return false;
    try {
      await sweep(rows);
      return true;
    } finally {
      await own.release();
    }
  }

  async function sweepAgainAndAgain(rows: Rows): Promise<void> {
    const isDone = await sweepAlone(rows).catch((error: unknown) => {
      logger.error('what is over could not be looked for; trying again in a minute', { error });
      return false;
    });
    if (!signal.aborted) cancel = timer(() => start(rows), isDone ? sweepEveryMs : againMs);
  }

  function start(rows: Rows): void {
    if (!signal.aborted) running = sweepAgainAndAgain(rows);
  }

  return {
    /** Sweeps now, and every hour. Never throws. */
    start,
    /** Ends the sweep that runs where it can be left to the next one. */
    stop(this: void): void {
      stopping.abort();
      cancel?.();
    },
    /** Resolves when no sweep runs. */
    idle: (): Promise<void> => running,
  };
}
