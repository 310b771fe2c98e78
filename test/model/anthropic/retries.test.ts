import { describe, expect, it } from 'vitest';

import { brokenMessage, halfText, messageEvents, type ModelAnswer } from '../../support/model-answer.ts';
import { failureOf } from '../failure-of.ts';
import { clientOf, request } from './client-under-test.ts';

describe('a fault that may pass [M7]', () => {
  const overloaded = { type: 'error', error: { type: 'overloaded_error', message: 'busy' } };
  const cases: readonly (readonly [string, ModelAnswer, string])[] = [
    ['429', { status: 429 }, 'rate-limited'],
    ['529', { status: 529 }, 'overloaded'],
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

    const limited = { failure: 'rate-limited', retryAfterMs: 3_600_000 };
    expect(await failureOf(client.complete(request()))).toMatchObject(limited);
    expect(server.requests).toHaveLength(1);
  });

  it('is over at a date by the server’s clock, or within a day [M16]', async () => {
    const date = 'Thu, 15 Jan 2026 10:00:00 GMT';
    const waits = [];
    for (const after of ['Thu, 15 Jan 2026 12:00:00 GMT', 'soon', 'Thu, 15 Jan 2099 12:00:00 GMT', '']) {
      const { client } = await clientOf(() => ({ status: 429, headers: { 'retry-after': after, date } }));
      waits.push((await failureOf(client.complete(request()))).retryAfterMs / 3_600_000);
    }
    expect(waits).toEqual([2, 0, 24, 0]);
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
    [400, 'qwen is not a valid model ID', 'unknown-model'],
    [401, 'no such key', 'unauthorized'],
    [403, 'no such model', 'unauthorized'],
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
    ['llama.cpp', { status: 404, body: { error: { type: 'not_found_error', message: 'File Not Found' } } }],
    ['LM Studio', { message: { error: 'Unexpected endpoint or method. (POST /v1/messages)' } }],
  ])('is an address without the Messages API, not the model: %s', async (_, answer) => {
    const { client, server } = await clientOf(() => answer);
    const failure = await failureOf(client.complete(request()));
    expect(failure.failure).toBe('no-api');
    expect(failure.message).toContain('ANTHROPIC_BASE_URL');
    expect(server.requests).toHaveLength(1);
  });
});

describe('an account that somebody has to put right [M16]', () => {
  const credit = 'Your credit balance is too low to access the API.';
  const quota = 'You exceeded your current quota, please check your plan and billing details.';
  const afford = 'This request requires more credits, or fewer max_tokens. You can only afford 1200';
  const minute = 'Rate limit reached: try again in 20s, or pay at https://example.com/account/billing';
  const flagged = 'Your input was flagged by moderation';
  it.each([
    [402, 'billing_error', 'There is an issue with your billing', 'out-of-credit'],
    [402, undefined, afford, 'rejected'],
    [400, 'invalid_request_error', credit, 'out-of-credit'],
    [429, 'insufficient_quota', quota, 'out-of-credit'],
    [429, 'rate_limit_error', `${quota} Please retry in 42s.`, 'rate-limited'],
    [429, 'rate_limit_error', minute, 'rate-limited'],
    [403, undefined, 'Key limit exceeded (daily limit)', 'out-of-credit'],
    [403, 'permission_error', flagged, 'rejected'],
    [undefined, 'authentication_error', 'invalid x-api-key', 'unauthorized'],
  ] as const)('is told from other errors: %s %s, %s', async (status, type, message, failure) => {
    const body = { type: 'error', error: { type, message } };
    const { client } = await clientOf(() => (status ? { status, body } : { events: [body] }), {
      totalTimeoutMs: 500,
      random: () => 1,
    });
    expect(await failureOf(client.complete(request()))).toMatchObject({ failure, retryAfterMs: 0 });
  });
});
