import type { SessionKey } from './place.ts';
import type { LateNotice } from './tool.ts';

/**
 * What holds between processes that share a store [X2][X3]; where one process has the store alone, it has a small form in memory, `createOneProcess` [X5]. A channel
 * belongs to one process at a time, a person to all of them.
 */
export interface Processes {
  readonly locks: Locks;
  readonly notices: Notices;
}

/** Keys that one process has at a time; what it had is free as soon as it is gone, however it ended. */
export interface Locks {
  /**
   * Runs a short job while no other process runs one of the same key; those that wait come in any order. Never over a model call. The same process must not
   * ask for a key that it holds: its own jobs are in order already. Settles as the job does; rejects with `StoreError` where the key cannot be had. Where it is lost before
   * the job is over, as with a connection, what the job writes to the store from then on rejects with `StoreError`, also what was begun before and is tried again.
   */
  hold<T>(key: string, job: () => Promise<T>): Promise<T>;
  /**
   * Takes a key for as long as the process runs, or until it is released; `undefined` where it is taken already. Where it is lost, as with a connection, it is taken again
   * as soon as nobody else has it: another process may have had it meanwhile, so what hangs on it must be safe to do twice. Rejects with `StoreError`.
   */
  claim(key: string): Promise<{ release(): Promise<void> } | undefined>;
}

/** What one process tells the others at once. */
export type Notice =
  /** All that is held about a person is being erased [K11], or was; `at` is ISO 8601. */
  | { readonly kind: 'erased'; readonly userId: string; readonly at: string; readonly isDone: boolean }
  /** Messages came back into a session's history. */
  | { readonly kind: 'restored'; readonly session: SessionKey }
  /** Something was stored of what a person said; the process that answered them tells them [K6]. */
  | { readonly kind: 'stored'; readonly stored: LateNotice };

/** A notice may be lost, and never comes back to who told it: what decides who may see or keep something is looked up when it is used. */
export interface Notices {
  /** Never throws. */
  tell(notice: Notice): void;
  /** `listener` must not throw. */
  listen(listener: (notice: Notice) => void): void;
}

/** For a process that has the store alone: its jobs are in order already, and nobody else listens. */
export function createOneProcess(): Processes {
  const claims = new Set<string>();
  return {
    locks: {
      hold: (_key, job) => job(),
      claim(key) {
        if (claims.has(key)) return Promise.resolve(undefined);
        claims.add(key);
        return Promise.resolve({ release: () => Promise.resolve(void claims.delete(key)) });
      },
    },
    notices: { tell: () => {}, listen: () => {} },
  };
}
