import { ModelError } from './errors.ts';

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
