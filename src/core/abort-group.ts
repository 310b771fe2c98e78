/**
 * Aborts many pieces of work at once. Each has a signal of its own, so that no signal collects the listeners of all that runs: Node warns of more than ten,
 * and `AbortSignal.any` over a signal that lives as long as the process keeps a reference for each call.
 */
export function createAbortGroup() {
  const running = new Set<AbortController>();
  let hasEnded = false;

  function abort(): void {
    for (const controller of running) controller.abort();
  }

  return {
    /** Does the work with a signal that is aborted by this group, which forgets it when the work is over. Settles as the work does. */
    async run<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
      const controller = new AbortController();
      if (hasEnded) controller.abort();
      running.add(controller);
      try {
        return await work(controller.signal);
      } finally {
        running.delete(controller);
      }
    },
    /** Aborts what runs now. */
    abort,
    /** Aborts what runs now, and whatever is begun from now on. */
    end(): void {
      hasEnded = true;
      abort();
    },
    hasEnded: (): boolean => hasEnded,
  };
}
