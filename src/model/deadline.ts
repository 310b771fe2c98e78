import { ModelError } from '../core/errors.ts';

/** The time that a piece of work has, and its caller's wish to end it, as one signal. */
export type Deadline = ReturnType<typeof startDeadline>;

/** Starts the clock: `limitMs` milliseconds from now, less if the caller's signal is aborted before. */
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
    /** Frees the timer and the caller's signal. */
    end(): void {
      clearTimeout(timer);
      callerSignal?.removeEventListener('abort', abort);
    },
  };
}
