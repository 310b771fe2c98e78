import { ModelError } from './errors.ts';

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

export type Deadline = ReturnType<typeof startDeadline>;

/** A time limit and the caller's signal as one signal. */
export function startDeadline(limitMs: number, callerSignal?: AbortSignal) {
  const controller = new AbortController();
  const endsAt = performance.now() + limitMs;
  const timer = setTimeout(
    () => controller.abort(new ModelError(`No answer within ${limitMs} ms`, 'timeout')),
    limitMs,
  );
  const abort = (): void => controller.abort(new ModelError('The call was given up', 'aborted'));
  if (callerSignal?.aborted === true) abort();
  else callerSignal?.addEventListener('abort', abort, { once: true });
  return {
    /** Aborted with a `ModelError`: `timeout` or `aborted`. */
    signal: controller.signal,
    /** Milliseconds left, never negative. */
    remainingMs: (): number => Math.max(0, endsAt - performance.now()),
    end(): void {
      clearTimeout(timer);
      callerSignal?.removeEventListener('abort', abort);
    },
  };
}
