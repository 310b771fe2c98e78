import { describe, expect, it } from 'vitest';

import { ModelError } from '../../src/core/errors.ts';
import type { ModelCallOptions, ModelClient, ModelRequest } from '../../src/core/model.ts';
import { watchModel } from '../../src/observability/watched-model.ts';

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
    onAccount: (failure, name) => seen.push(`${name} is ${failure}`),
  });
  const fail = async (
    changes: Partial<ModelRequest>,
    error = new ModelError('no', 'unavailable'),
  ): Promise<void> => {
    const asked = model.complete({ ...request('sonnet'), ...changes });
    calls.at(-1)?.end(error);
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
    expect(model.state).toMatchObject({ since: new Date(0), failure: 'unavailable' });
    const asked = model.complete(request('sonnet'));
    calls.at(-1)?.end();
    await asked;
    expect(seen).toEqual(['unreachable', 'sonnet used 1 for chat', 'reachable']);
  });

  it('is not lost by what says nothing of it: a limit, a full queue, a stop, and an answer of which a part came', async () => {
    const { model, fail } = watchedModel();
    for (const failure of ['rate-limited', 'busy', 'aborted', 'invalid'] as const)
      await fail({}, new ModelError('no', failure));
    for (const _ of [1, 2]) await fail({}, new ModelError('no', 'broken', { partialText: 'Half of' }));
    await fail({});
    expect(model.state.kind).toBe('reachable');
  });

  it('is lost at once by its account, which is told for every model, and by a limit that lasts [M16]', async () => {
    const { model, seen, fail } = watchedModel();
    await fail({ purpose: 'summary', model: 'haiku' }, new ModelError('no', 'unauthorized'));
    expect(model.state.kind).toBe('reachable');
    await fail({}, new ModelError('no', 'rate-limited', { retryAfterMs: 7_200_000 }));
    expect(model.state).toMatchObject({ failure: 'rate-limited', until: new Date(7_200_000) });
    await fail({}, new ModelError('no', 'rate-limited', { retryAfterMs: 3_600_000 }));
    expect(model.state).toMatchObject({ failure: 'rate-limited', until: new Date(3_600_000) });
    await fail({}, new ModelError('no', 'out-of-credit'));
    expect(model.state).toMatchObject({ failure: 'out-of-credit' });
    expect(seen).toEqual(['haiku is unauthorized', 'unreachable', 'unreachable', 'sonnet is out-of-credit']);
  });
});
