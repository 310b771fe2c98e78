import { describe, expect, it } from 'vitest';

import { ModelError } from '../../src/core/errors.ts';
import type { ModelCallOptions, ModelClient, ModelRequest } from '../../src/core/model.ts';
import { withFallback } from '../../src/model/fallback.ts';
import { recordingLogger } from '../support/recording-logger.ts';
import { says, usage } from './rounds-model.ts';

const request: ModelRequest = {
  purpose: 'chat',
  userId: '100000000000000001',
  model: 'main',
  system: [],
  messages: [{ role: 'user', content: [{ type: 'text', text: 'hello' }] }],
  maxTokens: 100,
};

type Complete = ModelClient['complete'];

/** A client whose main model does as told, and whose other one says "It is tea." */
function harness(main: Complete, patienceMs = 10_000, fallback: string | null = 'other') {
  let now = 0;
  const asked: ModelRequest[] = [];
  const client: ModelClient = {
    isOffline: false,
    complete(each, options) {
      asked.push(each);
      return each.model === 'main' ? main(each, options) : says('It is tea.')(each, options ?? {}, 0);
    },
  };
  const both = withFallback(client, {
    fallback: fallback ?? undefined,
    patienceMs,
    now: () => now,
    logger: recordingLogger(),
  });
  return {
    asked,
    models: () => asked.map(({ model }) => model),
    pass: (ms: number) => (now += ms),
    complete: (options?: ModelCallOptions, changes: Partial<ModelRequest> = {}) =>
      both.complete({ ...request, ...changes }, options),
  };
}

const isDown: Complete = () => Promise.reject(new ModelError('down', 'unavailable'));

/** Rejects when it is aborted, and not before. */
const hangs: Complete = (_, { signal } = {}) =>
  new Promise((_resolve, reject) => {
    signal?.addEventListener('abort', () => reject(new ModelError('aborted', 'aborted')));
  });

describe('a fallback model [M10]', () => {
  it('answers for a minute, after which the main one is asked again', async () => {
    const { complete, models, pass } = harness(isDown);
    expect(await complete()).toMatchObject({ answeredBy: 'other' });
    pass(59_000);
    await complete();
    pass(1000);
    await complete();
    expect(models()).toEqual(['main', 'other', 'other', 'main', 'other']);
  });

  it.each(['out-of-credit', 'unauthorized'] as const)(
    'answers and says why, also while the main one rests: %s [M16]',
    async (failure) => {
      const { complete, models } = harness(() => Promise.reject(new ModelError('no', failure)));
      const instead = { answeredBy: 'other', insteadFor: failure };
      expect([await complete(), await complete()]).toMatchObject([instead, instead]);
      expect(models()).toEqual(['main', 'other', 'other']);
    },
  );

  it('stands in for whichever model answers people, for each by itself', async () => {
    const { complete, models } = harness(isDown);
    await complete();
    expect(await complete({}, { model: 'chosen' })).not.toHaveProperty('answeredBy');
    expect(await complete({}, { model: 'other' })).not.toHaveProperty('answeredBy');
    expect(await complete()).toMatchObject({ answeredBy: 'other' });
    expect(models()).toEqual(['main', 'other', 'chosen', 'other', 'other']);
  });

  it('takes back what the main one said before it broke off', async () => {
    const heard: string[] = [];
    const { complete } = harness((_, options) => {
      options?.onText?.('It is cof');
      return Promise.reject(new ModelError('broken', 'broken', { partialText: 'It is cof' }));
    });
    await complete({ onText: (piece) => heard.push(piece), onRestart: () => heard.push('(again)') });
    expect(heard).toEqual(['It is cof', '(again)', 'It is tea.']);
  });

  it('gets no thinking of the main one, and does not think in its place', async () => {
    const { complete, asked } = harness(isDown);
    const thought = { type: 'reasoning', vendor: { signature: 'x' } } as const;
    const call = { type: 'tool_use', id: '1', name: 'note', input: {} } as const;
    await complete({}, { messages: [...request.messages, { role: 'assistant', content: [thought, call] }] });
    expect(asked.at(-1)).toMatchObject({ thinks: false, messages: [{}, { content: [call] }] });
  });

  it('answers where the main one says nothing for too long, not while that waits for a free place', async () => {
    const slow = harness(hangs, 5);
    expect(await slow.complete()).toMatchObject({ answeredBy: 'other' });
    const queued = harness(async (_, options) => {
      options?.onQueue?.(true);
      await new Promise((resolve) => void setTimeout(resolve, 50));
      options?.onQueue?.(false);
      return { content: [{ type: 'text', text: 'It is coffee.' }], stop: 'end', usage };
    }, 20);
    expect(await queued.complete()).not.toHaveProperty('answeredBy');
    const startingOver = harness(async (each, options) => {
      options?.onText?.('It is');
      options?.onRestart?.();
      return hangs(each, options);
    }, 5);
    let restarts = 0;
    expect(await startingOver.complete({ onRestart: () => (restarts += 1) })).toMatchObject({
      answeredBy: 'other',
    });
    expect(restarts).toBe(1);
  });

  it('is not asked for a person who stopped the answer, nor for work that nobody waits for', async () => {
    const { complete, models } = harness(hangs);
    const stopped = new AbortController();
    const answer = complete({ signal: stopped.signal });
    stopped.abort();
    await expect(answer).rejects.toMatchObject({ failure: 'aborted' });
    expect(models()).toEqual(['main']);
    const fast = harness(isDown);
    await expect(fast.complete({}, { purpose: 'summary' })).rejects.toMatchObject({ failure: 'unavailable' });
    expect(fast.models()).toEqual(['main']);
  });
});

describe('a limit that lasts [M16]', () => {
  const retryAfterMs = 7_200_000;
  const isLimited: Complete = () => Promise.reject(new ModelError('no', 'rate-limited', { retryAfterMs }));

  it('costs one call, and is told with what is left of it', async () => {
    const [alone, both] = [harness(isLimited, 10_000, null), harness(isLimited)];
    await expect(alone.complete()).rejects.toMatchObject({ failure: 'rate-limited', retryAfterMs });
    await both.complete();
    for (const { pass } of [alone, both]) pass(retryAfterMs - 1000);
    for (const purpose of ['chat', 'summary', 'catch-up'] as const)
      await expect(alone.complete({}, { purpose })).rejects.toMatchObject({ retryAfterMs: 1000 });
    expect(await both.complete()).toMatchObject({ insteadFor: 'rate-limited' });
    expect([alone.models(), both.models()]).toEqual([['main'], ['main', 'other', 'other']]);
    alone.pass(1000);
    await expect(alone.complete()).rejects.toMatchObject({ retryAfterMs });
    expect(alone.models()).toEqual(['main', 'main']);
  });
});
