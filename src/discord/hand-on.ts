import type { Logger } from '../core/logger.ts';

/** Starts what an event leads to without waiting for it; its failure is logged, since the gateway has nobody to tell. */
export type HandOn = (what: string, work: () => Promise<unknown>) => void;

export interface HandingOn {
  readonly handOn: HandOn;
  /** Resolves when everything handed on is over, also what came meanwhile. */
  readonly idle: () => Promise<void>;
}

export function createHandOn(logger: Logger): HandingOn {
  const running = new Set<Promise<void>>();

  async function logged(what: string, work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      logger.error('an event could not be handled', { what, error });
    }
  }

  return {
    handOn(what, work) {
      const done = logged(what, work).finally(() => running.delete(done));
      running.add(done);
    },
    async idle() {
      while (running.size > 0) await Promise.all(running);
    },
  };
}
