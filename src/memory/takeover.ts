import type { Timer } from '../core/time.ts';

/** How often it is looked for what processes that are gone have left, in milliseconds. */
const takeoverMs = 60_000;

/** Now and again has finished what processes have left that are gone: nobody tells when one ends [X2]. `finish` must not reject. */
export function createTakeover({
  finish,
  timer,
}: {
  readonly finish: () => Promise<void>;
  readonly timer: Timer;
}) {
  let cancel: (() => void) | undefined;
  let isStopped = false;

  function start(): void {
    cancel = timer(() => void finish().then(() => isStopped || start()), takeoverMs);
  }

  return {
    start,
    stop(): void {
      isStopped = true;
      cancel?.();
    },
  };
}
