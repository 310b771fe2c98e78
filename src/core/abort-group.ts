/** Aborts many pieces of work at once. Each has its own signal: with a shared one, listeners would pile up. */
export function createAbortGroup() {
  const running = new Set<AbortController>();
  let hasEnded = false;

  function abort(): void {
    for (const controller of running) controller.abort();
  }

  return {
    /** Runs the work with a signal that this group aborts. Settles as the work does. */
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
    abort,
    /** Aborts what runs now and whatever starts later. */
    end(): void {
      hasEnded = true;
      abort();
    },
    hasEnded: (): boolean => hasEnded,
  };
}
