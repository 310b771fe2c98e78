import type { Clock } from '../core/time.ts';
import { ModelError } from '../core/errors.ts';
import type { ModelState, OpenCalls, ModelClient, ModelUsage } from '../core/model.ts';
import { afterFailure, afterSuccess, unknownHealth } from './model-health.ts';
import type { ModelHealth } from './model-health.ts';

export interface WatchedModelOptions {
  /** The model that answers people; the others' failures are seen by nobody, and say nothing of it. */
  readonly mainModel: string;
  readonly clock: Clock;
  /** Called when the main model's state has changed. Must not throw. */
  readonly onState: (state: ModelState) => void;
  /** Called with each answer's usage. Must not throw. */
  readonly onUsage: (model: string, usage: ModelUsage) => void;
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
        options.onUsage(request.model, response.usage);
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
