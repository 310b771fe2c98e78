import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { onMeasured } from '../../src/core/logger.ts';
import { ModelError, type ModelFailure } from '../../src/core/errors.ts';
import type { ModelCallOptions, ModelClient, ModelRequest } from '../../src/core/model.ts';
import {
  afterFailure,
  goodHealth,
  watchModel,
  type ModelHealth,
} from '../../src/observability/watched-model.ts';

const usage = {
  inputTokens: 1,
  outputTokens: 2,
  cacheReadTokens: 3,
  cacheWriteTokens: 4,
  cacheHourTokens: 0,
};

function request(model: string): ModelRequest {
  return { purpose: 'chat', userId: '100000000000000001', model, system: [], messages: [], maxTokens: 10 };
}

/** A watched model whose calls end when the test says so. */
function watchedModel() {
  const calls: { end: (error?: ModelError) => void; options: ModelCallOptions }[] = [];
  const seen: string[] = [];
  const client: ModelClient = {
    isOffline: false,
    complete: (_, options = {}) =>
      new Promise((resolve, reject) => {
        calls.push({
          options,
          end: (error) =>
            error === undefined ? resolve({ content: [], stop: 'end', usage }) : reject(error),
        });
      }),
  };
  const model = watchModel(client, {
    clock: () => new Date(0),
    onState: ({ kind }) => seen.push(kind),
    onUsage: ({ model: name, purpose }, { usage: { inputTokens } }) =>
      seen.push(`${name} used ${inputTokens} for ${purpose}`),
  });
  const fail = async (changes: Partial<ModelRequest>): Promise<void> => {
    const asked = model.complete({ ...request('sonnet'), ...changes });
    calls.at(-1)?.end(new ModelError('no', 'unavailable'));
    await expect(asked).rejects.toThrow(ModelError);
  };
  return { model, calls, seen, fail };
}

describe('a watched model', () => {
  it('tells once that it is lost and once that it is back, by the model that answers people', async () => {
    const { model, calls, seen, fail } = watchedModel();
    for (const changes of [{ purpose: 'summary' }, { isFallback: true }] as const) {
      await fail(changes);
      await fail(changes);
    }
    expect(model.state.kind).toBe('reachable');
    for (const name of ['sonnet', 'opus', 'opus']) await fail({ model: name });
    expect(model.state).toEqual({ kind: 'unreachable', since: new Date(0), failure: 'unavailable' });
    const asked = model.complete(request('sonnet'));
    calls.at(-1)?.end();
    await asked;
    expect(seen).toEqual(['unreachable', 'sonnet used 1 for chat', 'reachable']);
  });

  it('counts the calls that run and that wait, and passes on who waits', async () => {
    const { model, calls } = watchedModel();
    const told: boolean[] = [];
    const first = model.complete(request('sonnet'));
    const second = model.complete(request('sonnet'), { onQueue: (isWaiting) => told.push(isWaiting) });
    calls[1]?.options.onQueue?.(true);
    expect(model.openCalls).toEqual({ running: 1, waiting: 1 });
    calls[1]?.options.onQueue?.(false);
    expect(model.openCalls).toEqual({ running: 2, waiting: 0 });
    expect(told).toEqual([true, false]);
    for (const { end } of calls) end();
    await Promise.all([first, second]);
    expect(model.openCalls).toEqual({ running: 0, waiting: 0 });
  });

  it('counts a call no longer that was given up while it waited', async () => {
    const { model, calls } = watchedModel();
    const asked = model.complete(request('sonnet'));
    calls[0]?.options.onQueue?.(true);
    calls[0]?.end(new ModelError('no', 'aborted'));
    await expect(asked).rejects.toThrow(ModelError);
    expect(model.openCalls).toEqual({ running: 0, waiting: 0 });
  });

  it('measures what had to wait and what failed, but nothing that somebody stopped [Y4]', async () => {
    const measured: unknown[] = [];
    const ends = [
      onMeasured('waited', (value) => measured.push(value)),
      onMeasured('modelError', (value) => measured.push(value)),
    ];
    const { model, calls } = watchedModel();
    for (const [index, failure] of (['overloaded', 'aborted'] as const).entries()) {
      const asked = model.complete(request('sonnet'));
      if (index === 0) calls[0]?.options.onQueue?.(true);
      calls[index]?.end(new ModelError('no', failure));
      await expect(asked).rejects.toThrow(ModelError);
    }
    for (const end of ends) end();
    expect(measured).toEqual([{ queue: 'model calls' }, { failure: 'overloaded' }]);
  });
});

const failures = [
  'rate-limited',
  'overloaded',
  'unavailable',
  'broken',
  'stalled',
  'timeout',
  'invalid',
  'rejected',
  'busy',
  'aborted',
] as const satisfies readonly ModelFailure[];

const at = (minute: number): Date => new Date(Date.UTC(2026, 0, 15, 10, minute));
const failed = (health: ModelHealth, failure: ModelFailure, minute = 0, partialText = ''): ModelHealth =>
  afterFailure(health, { failure, partialText }, at(minute));

describe("a model's health", () => {
  it('is lost with the second failure in a row, since that moment, and found with a success', () => {
    const once = failed(goodHealth, 'unavailable', 1);
    expect(once.state.kind).toBe('reachable');
    const twice = failed(once, 'rejected', 2);
    expect(twice.state).toEqual({ kind: 'unreachable', since: at(2), failure: 'rejected' });
    expect(failed(twice, 'overloaded', 3).state).toEqual(twice.state);
    expect(goodHealth.state.kind).toBe('reachable');
    expect(failed(goodHealth, 'unavailable').state.kind).toBe('reachable');
  });

  it.each(['rate-limited', 'busy', 'aborted', 'invalid'] as const)(
    'is not judged by what is %s',
    (failure) => {
      const once = failed(goodHealth, 'unavailable');
      expect(failed(failed(once, failure), failure)).toEqual(once);
    },
  );

  it('is not lost by answers of which a part came', () => {
    const once = failed(goodHealth, 'broken', 0, 'Half of');
    expect(failed(once, 'broken', 1, 'Half of')).toEqual(goodHealth);
  });

  it('is never lost without two failures since the last success', () => {
    const ending = fc.oneof(fc.constant('success' as const), fc.constantFrom(...failures));
    fc.assert(
      fc.property(fc.array(ending, { maxLength: 12 }), (endings) => {
        let health = goodHealth;
        for (const each of endings) health = each === 'success' ? goodHealth : failed(health, each);
        const since = endings.slice(endings.lastIndexOf('success') + 1);
        expect(health.state.kind === 'reachable' || since.length >= 2).toBe(true);
      }),
    );
  });
});
