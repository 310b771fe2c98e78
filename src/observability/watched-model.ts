import { ModelError, type ModelFailure } from '../core/errors.ts';
import { measure } from '../core/logger.ts';
import type { Clock } from '../core/time.ts';
import type { ModelClient, ModelRequest, ModelResponse, ModelState, OpenCalls } from '../core/model.ts';

/** After so many, the model counts as out of reach. */
const failuresInARow = 2;

/** Nothing came from the model at all. */
const outOfReach: ReadonlySet<ModelFailure> = new Set([
  'overloaded',
  'unavailable',
  'rejected',
  'unknown-model',
  'broken',
  'stalled',
  'timeout',
]);

export interface WatchedModelOptions {
  readonly clock: Clock;
  /** Of the model that answers people: nobody sees the others' failures. Must not throw. */
  readonly onState: (state: ModelState, model: string) => void;
  /** Called for each answer, with the name of the model in the request. Must not throw. */
  readonly onUsage: (request: ModelRequest, response: Pick<ModelResponse, 'usage' | 'cacheMiss'>) => void;
}

export interface WatchedModel extends ModelClient {
  readonly state: ModelState;
  readonly openCalls: OpenCalls;
}

export function watchModel(model: ModelClient, options: WatchedModelOptions): WatchedModel {
  let health = goodHealth;
  let open = 0;
  let waiting = 0;

  function follow({ purpose, isFallback, model: name }: ModelRequest, next: ModelHealth): void {
    if (purpose !== 'chat' || isFallback === true) return;
    const hasChanged = next.state.kind !== health.state.kind;
    health = next;
    if (hasChanged) options.onState(health.state, name);
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
        if (waits) measure('waited', { queue: 'model calls' });
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
        follow(request, goodHealth);
        return response;
      } catch (error) {
        if (error instanceof ModelError) {
          follow(request, afterFailure(health, error, options.clock()));
          // Somebody stopped it.
          if (error.failure !== 'aborted') measure('modelError', { failure: error.failure });
        }
        throw error;
      } finally {
        queue(false);
        open -= 1;
      }
    },
  };
}

export interface ModelHealth {
  readonly state: ModelState;
  /** Since the last success. One alone says little, since it may be the message's. */
  readonly failures: number;
}

export const goodHealth: ModelHealth = { state: { kind: 'reachable' }, failures: 0 };

/** A full local queue or a partial answer says nothing about the model's health. */
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
