import type { WorldEvent } from '../world/world-event.ts';
import type { World } from '../world/world.ts';
import { SandboxError } from './sandbox-error.ts';

export interface Waiting<T> {
  /** What is waited for, or `undefined` while it is not so; asked at once and after every event. */
  check(): T | undefined;
  /** Whether an event starts the quiet time anew. */
  disturbs?(event: WorldEvent): boolean;
  /** How long it must have been quiet, in milliseconds. */
  readonly settleMs?: number;
  readonly timeoutMs: number;
  /** Ends the sentence "Waited 100 ms in vain for …". */
  readonly what: () => string;
}

/** Resolves with what `check` finds, once it has been quiet for `settleMs`. @throws {SandboxError} after `timeoutMs`. */
export async function waitUntil<T>(world: World, waiting: Waiting<T>): Promise<T> {
  const settleMs = waiting.settleMs ?? 0;
  return await new Promise<T>((resolve, reject) => {
    let quiet: NodeJS.Timeout | undefined;
    const look = (): void => {
      const found = waiting.check();
      if (found === undefined) return;
      if (settleMs > 0 && quiet === undefined) {
        quiet = setTimeout(() => {
          quiet = undefined;
          const settled = waiting.check();
          if (settled !== undefined) finish(() => resolve(settled));
        }, settleMs);
      } else if (settleMs === 0) {
        finish(() => resolve(found));
      }
    };
    const unsubscribe = world.subscribe((event) => {
      if (quiet !== undefined && (waiting.disturbs?.(event) ?? false)) {
        clearTimeout(quiet);
        quiet = undefined;
      }
      look();
    });
    const timer = setTimeout(() => {
      finish(() => reject(new SandboxError(`Waited ${waiting.timeoutMs} ms in vain for ${waiting.what()}`)));
    }, waiting.timeoutMs);
    const finish = (settle: () => void): void => {
      clearTimeout(timer);
      clearTimeout(quiet);
      unsubscribe();
      settle();
    };
    look();
  });
}
