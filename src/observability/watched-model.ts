import { ModelError, type ModelFailure } from '../core/errors.ts';
import type { ModelClient, ModelRequest, ModelResponse, ModelState, OpenCalls } from '../core/model.ts';
import type { Clock } from '../core/time.ts';

/** Failures in a row, with no success between them, after which the model counts as out of reach. */
const failuresInARow = 2;

/** Failures that mean that nothing came from the model at all. */
const outOfReach: ReadonlySet<ModelFailure> = new Set([
  'overloaded',
  'unavailable',
  'rejected',
  'broken',
  'stalled',
  'timeout',
]);

export interface WatchedModelOptions {
  /** The model that answers people; the others' failures are seen by nobody, and say nothing of it. */
  readonly mainModel: string;
  readonly clock: Clock;
  /** Called when the main model's state has changed. Must not throw. */
  readonly onState: (state: ModelState) => void;
  /** Called with each answer to a request, for what it used; the request's model is the name that was asked for. Must not throw. */
  readonly onUsage: (request: ModelRequest, response: Pick<ModelResponse, 'usage' | 'cacheMiss'>) => void;
}

/** The same model, watched: how its calls end, how many there are, and what they use. */
export interface WatchedModel extends ModelClient {
  readonly state: ModelState;
  readonly openCalls: OpenCalls;
}

export function watchModel(model: ModelClient, options: WatchedModelOptions): WatchedModel {
  let health = unknownHealth;
  let open = 0;
  let waiting = 0;

  function follow(next: ModelHealth): void {
    const hasChanged = next.state.kind !== health.state.kind;
    health = next;
    if (hasChanged) options.onState(health.state);
  }

  return {
    isOffline: model.isOffline,
    get refused() {
      return model.refused ?? [];
    },
    get state() {
      return health.state;
    },
    get openCalls() {
      return { running: open - waiting, waiting };
    },
    async complete(request, callOptions = {}) {
      let isWaiting = false;
      const queue = (waits: boolean): void => {
        if (waits === isWaiting) return;
        isWaiting = waits;
        waiting += waits ? 1 : -1;
      };
      open += 1;
      try {
        const response = await model.complete(request, {
          ...callOptions,
          onQueue(waits) {
            queue(waits);
            callOptions.onQueue?.(waits);
          },
        });
        options.onUsage(request, response);
        if (request.model === options.mainModel) follow(afterSuccess());
        return response;
      } catch (error) {
        if (error instanceof ModelError && request.model === options.mainModel)
          follow(afterFailure(health, error, options.clock()));
        throw error;
      } finally {
        queue(false);
        open -= 1;
      }
    },
  };
}

/**
 * Follows how calls of one model end, as a pure fold: each step gives the next value. One failure alone says little, since it may be the
 * message's; a first success says that all is well again.
 */
export interface ModelHealth {
  readonly state: ModelState;
  /** Failures since the last success. */
  readonly failures: number;
}

export const unknownHealth: ModelHealth = { state: { kind: 'reachable' }, failures: 0 };

export function afterSuccess(): ModelHealth {
  return unknownHealth;
}

/** What says nothing about the model's health, such as a full local queue or a partial answer, changes nothing. */
export function afterFailure(
  health: ModelHealth,
  { failure, partialText }: Pick<ModelError, 'failure' | 'partialText'>,
  now: Date,
): ModelHealth {
  if (!outOfReach.has(failure) || partialText !== '') return health;
  const failures = health.failures + 1;
  if (health.state.kind === 'unreachable' || failures < failuresInARow) return { ...health, failures };
  return { state: { kind: 'unreachable', since: now, failure }, failures };
}
