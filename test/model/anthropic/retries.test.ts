import { describe, expect, it } from 'vitest';

import { brokenMessage, halfText, messageEvents, type ModelAnswer } from '../../support/model-answer.ts';
import { recordingLogger } from '../../support/recording-logger.ts';
import { failureOf } from '../failure-of.ts';
import { clientOf, request } from './client-under-test.ts';

describe('a fault that may pass [M7]', () => {
  const overloaded = { type: 'error', error: { type: 'overloaded_error', message: 'busy' } };
  const cases: readonly (readonly [string, ModelAnswer, string])[] = [
    ['429', { status: 429 }, 'rate-limited'],
    ['529', { status: 529 }, 'overloaded'],
    ['500', { status: 500 }, 'unavailable'],
    ['503', { status: 503 }, 'unavailable'],
    ['an overload told inside the stream', { events: [overloaded] }, 'overloaded'],
    [
      'an overload told in the middle of a message',
      { events: [...brokenMessage(), overloaded] },
      'overloaded',
    ],
    ['a broken stream', 'cut', 'broken'],
    [
      'a stream with an event that is not JSON',
      {
        events: [...brokenMessage(), { bytes: Buffer.from('event: content_block_delta\ndata: {"type"\n\n') }],
      },
      'broken',
    ],
    ['a stream without an end', { events: messageEvents([], 'end_turn').slice(0, -2) }, 'broken'],
  ];

  it.each(cases)('is tried again: %s', async (_, fault) => {
    const { client, server } = await clientOf((_body, index) => (index === 0 ? fault : { text: 'Here' }));

    const response = await client.complete(request());

    expect(response.content).toEqual([{ type: 'text', text: 'Here' }]);
    expect(server.requests).toHaveLength(2);
    expect(server.requests[1]?.raw).toBe(server.requests[0]?.raw);
  });

  it.each(cases)('is named when it does not pass: %s', async (_, fault, failure) => {
    const { client, server } = await clientOf(() => fault);

    expect(await failureOf(client.complete(request()))).toMatchObject({ failure });
    expect(server.requests).toHaveLength(6);
  });

  it('is tried again when the stream stalls', async () => {
    const { client, server } = await clientOf((_, index) => (index === 0 ? 'stall' : { text: 'Here' }), {
      idleTimeoutMs: 1_000,
    });

    expect(await client.complete(request())).toMatchObject({ content: [{ text: 'Here' }] });
    expect(server.requests[0]?.wasGivenUp).toBe(true);
  });

  it('discards what was streamed before it is tried again', async () => {
    const { client } = await clientOf((_, index) => (index === 0 ? 'cut' : { text: 'Whole' }));
    const events: string[] = [];

    await client.complete(request(), {
      onText: (piece) => events.push(piece),
      onRestart: () => events.push('restart'),
    });

    expect(events).toEqual([halfText, 'restart', 'Whole']);
  });

  it('announces no restart when nothing had been streamed', async () => {
    const { client } = await clientOf((_, index) => (index === 0 ? { status: 500 } : { text: 'Whole' }));
    let restarts = 0;

    await client.complete(request(), { onRestart: () => (restarts += 1) });

    expect(restarts).toBe(0);
  });

  it('waits as long as the server asks', async () => {
    const { client } = await clientOf((_, index) =>
      index === 0 ? { status: 429, headers: { 'retry-after': '0.4' } } : { text: 'Here' },
    );
    const start = performance.now();

    await client.complete(request());

    expect(performance.now() - start).toBeGreaterThanOrEqual(395);
  });

  it('is not waited for beyond the time limit', async () => {
    const { client, server } = await clientOf(() => ({ status: 429, headers: { 'retry-after': '3600' } }));

    expect(await failureOf(client.complete(request()))).toMatchObject({ failure: 'rate-limited' });
    expect(server.requests).toHaveLength(1);
  });

  it('backs off at random, longer each time', async () => {
    const logger = recordingLogger();
    const { client } = await clientOf((_, index) => (index < 3 ? { status: 500 } : { text: 'Here' }), {
      logger,
      random: () => 0.02,
    });

    await client.complete(request());

    expect(logger.lines.map((line) => line.data?.['waitMs'])).toEqual([10, 20, 40]);
  });

  it('is a server that cannot be reached', async () => {
    const { client, server } = await clientOf(() => 'empty');
    await server.close();

    const failure = await failureOf(client.complete(request()));

    expect(failure.failure).toBe('unavailable');
    expect(failure.message).toContain('ECONNREFUSED');
  });
});

describe('a fault that will not pass', () => {
  it.each([
    [400, 'bad request', 'rejected'],
    [400, 'this model takes no pictures', 'rejected'],
    [400, 'qwen is not a valid model ID', 'unknown-model'],
    [400, 'Invalid model name passed in model=qwen. Call `/v1/models`.', 'unknown-model'],
    [401, 'no such key', 'rejected'],
    [403, 'no such model', 'rejected'],
    [404, 'model: qwen', 'unknown-model'],
    [413, 'too large', 'rejected'],
    [404, 'No endpoints found for qwen.', 'unknown-model'],
  ] as const)('is not tried again: %i, %s', async (status, error, expected) => {
    const { client, server } = await clientOf(() => ({ status, error }));

    const failure = await failureOf(client.complete(request()));

    expect(failure.failure).toBe(expected);
    expect(failure.message).toContain(error);
    expect(server.requests).toHaveLength(1);
  });

  it.each<[string, ModelAnswer]>([
    ['a page', { status: 404, page: '<!DOCTYPE html><p>This model cannot be found' }],
    ['words', { status: 404, page: '404 page not found' }],
    ['FastAPI', { status: 404, body: { detail: 'Not Found' } }],
    ['llama.cpp', { status: 404, body: { error: { type: 'not_found_error', message: 'File Not Found' } } }],
    ['another method', { status: 405, body: { detail: 'Method Not Allowed' } }],
    ['LM Studio', { message: { error: 'Unexpected endpoint or method. (POST /v1/messages)' } }],
  ])('is an address without the Messages API, not the model: %s', async (_, answer) => {
    const { client, server } = await clientOf(() => answer);
    const failure = await failureOf(client.complete(request()));
    expect(failure.failure).toBe('no-api');
    expect(failure.message).toContain('ANTHROPIC_BASE_URL');
    expect(server.requests).toHaveLength(1);
  });
});
