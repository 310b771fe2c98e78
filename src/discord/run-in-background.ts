import type { Logger } from '../core/logger.ts';

/** Failures are logged, since the gateway has nobody to tell. */
export type RunInBackground = (what: string, work: () => Promise<unknown>) => void;

export function createBackground(logger: Logger) {
  const running = new Set<Promise<void>>();

  async function logged(what: string, work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      logger.error('an event could not be handled', { what, error });
    }
  }

  const runInBackground: RunInBackground = (what, work) => {
    const done = logged(what, work).finally(() => running.delete(done));
    running.add(done);
  };

  return {
    runInBackground,
    idle: async (): Promise<void> => {
      while (running.size > 0) await Promise.all(running);
    },
  };
}
