import type { Clock } from '../core/time.ts';
import type { Reflection } from '../memory/notebook/reflection.ts';
import type { AfterTurnStep, IdleSessions } from './after-turn.ts';

/** Milliseconds after which a dropped result is tried for again. */
const retryMs = 60_000;

export interface ReflectionStepOptions {
  readonly reflection: Reflection;
  readonly idleSessions: Pick<IdleSessions, 'wakeAt'>;
  readonly clock: Clock;
}

/**
 * Reflection as work after a turn [A3]: looks back on sessions that are due, and has the others looked at again when they will be if nothing more
 * is said. A result that was dropped is tried for again soon; one that failed, after the next turn or start.
 */
export function createReflectionStep({
  reflection,
  idleSessions,
  clock,
}: ReflectionStepOptions): AfterTurnStep {
  return {
    name: 'reflection',
    async run(_userId, sessions, signal) {
      for (const session of sessions) {
        const due = await reflection.dueAt(session);
        if (due === undefined) continue;
        if (due > clock()) {
          idleSessions.wakeAt(session, due);
          continue;
        }
        const outcome = await reflection.reflect(session, signal);
        if (outcome === 'dropped') idleSessions.wakeAt(session, new Date(clock().getTime() + retryMs));
      }
    },
  };
}
