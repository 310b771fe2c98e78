import { accountFailures, longestRetryMs, ModelError, outages, type ModelFailure } from '../core/errors.ts';
import { measure } from '../core/logger.ts';
import type { Clock } from '../core/time.ts';
import type { ModelClient, ModelRequest, ModelResponse, ModelState, OpenCalls } from '../core/model.ts';

/** After so many, the model counts as out of reach. */
const failuresInARow = 2;

/** Not by the message, nor for a moment. */
function lasts({ failure, retryAfterMs }: ModelError): boolean {
  return accountFailures.has(failure) || retryAfterMs > longestRetryMs;
}

/** Nothing came from the model at all. */
function isLost(error: ModelError): boolean {
  const { failure } = error;
  return failure === 'rejected' || (failure === 'rate-limited' ? lasts(error) : outages.has(failure));
}

export interface WatchedModelOptions {
  readonly clock: Clock;
  /** Of the model that answers people: nobody sees the others' failures. Must not throw. */
  readonly onState: (state: ModelState, model: string) => void;
  /** Called for each answer, with the name of the model in the request. Must not throw. */
  readonly onUsage: (request: ModelRequest, response: Pick<ModelResponse, 'usage'>) => void;
  /** Called for each failure, of any model, that somebody has to see to [M16]. Must not throw. */
  readonly onAccount: (failure: ModelFailure, model: string) => void;
}

export interface WatchedModel extends ModelClient {
  readonly state: ModelState;
  readonly openCalls: OpenCalls;
}

export function watchModel(model: ModelClient, options: WatchedModelOptions): WatchedModel {
  let state: ModelState = { kind: 'reachable' };
  /** Since the last success. One alone says little, since it may be the message's. */
  let failures = 0;
  let open = 0;
  let waiting = 0;

  /** A full local queue or a partial answer says nothing about the model's health. */
  function follow({ purpose, isFallback, model: name }: ModelRequest, error?: ModelError): void {
    if (purpose !== 'chat' || isFallback === true) return;
    if (error !== undefined && (!isLost(error) || error.partialText !== '')) return;
    failures = error === undefined ? 0 : failures + 1;
    if (error !== undefined && failures < failuresInARow && !lasts(error)) return;
    const known = state.kind === 'unreachable' ? state : undefined;
    const { failure, retryAfterMs = 0 } = error ?? {};
    const now = options.clock();
    const until = new Date(now.getTime() + retryAfterMs);
    state =
      failure === undefined
        ? { kind: 'reachable' }
        : { kind: 'unreachable', since: known?.since ?? now, until, failure };
    if (known?.failure !== failure) options.onState(state, name);
  }

  return {
    isOffline: model.isOffline,
    get refused() {
      return model.refused ?? [];
    },
    limitsOf: (name) => model.limitsOf?.(name) ?? {},
    get state() {
      return state;
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
        follow(request);
        return response;
      } catch (error) {
        if (error instanceof ModelError) {
          follow(request, error);
          // Somebody stopped it.
          if (error.failure !== 'aborted') measure('modelError', { failure: error.failure });
          if (accountFailures.has(error.failure)) options.onAccount(error.failure, request.model);
        }
        throw error;
      } finally {
        queue(false);
        open -= 1;
      }
    },
  };
}
