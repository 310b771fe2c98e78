import type { Logger } from '../core/logger.ts';

/** Does a write that the conversation can go on without. */
export type Keep = (what: string, write: () => Promise<void>) => Promise<void>;

/** A disk that refuses costs memory, not the conversation [§12]: what could not be saved is logged by kind. */
export function createKeep(logger: Logger): Keep {
  return async (what, write) => {
    try {
      await write();
    } catch (error) {
      logger.error('could not be saved', { what, error });
    }
  };
}
