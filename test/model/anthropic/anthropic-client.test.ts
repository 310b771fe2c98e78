import { describe, expect, it } from 'vitest';

import { ModelError } from '../../../src/core/errors.ts';
import type { CallBudget } from '../../../src/core/model.ts';
import { blockEvents, messageEvents, type ModelAnswer } from '../../support/model-answer.ts';
import { recordingLogger } from '../../support/recording-logger.ts';
import { failureOf } from '../failure-of.ts';
import { clientOf, request } from './client-under-test.ts';

describe('an answer', () => {
  it('streams its text, counts its tokens and comes back whole', async () => {
    const { client } = await clientOf(() => ({ text: ['Hel', 'lo ', 'there'] }));
    const pieces: string[] = [];

    const response = await client.complete(request(), { onText: (piece) => pieces.push(piece) });

    expect(response).toEqual({
      content: [{ type: 'text', text: 'Hello there' }],
      stop: 'end',
      leftOut: [],
      usage: {
        inputTokens: 10,
        outputTokens: 5,
        cacheReadTokens: 3,
        cacheWriteTokens: 2,
        cacheHourTokens: 0,
      },
    });
    expect(pieces).toEqual(['Hel', 'lo ', 'there']);
    expect(client.isOffline).toBe(false);
  });

  const hello = blockEvents(0, { type: 'text', text: '' }, [{ type: 'text_delta', text: 'Hello' }]);
  const end = [{ type: 'message_delta', delta: { stop_reason: 'end_turn' } }, { type: 'message_stop' }];

  it.each([
    ['no counts', [{ type: 'message_start', message: {} }, ...hello, ...end]],
    ['no beginning', [...hello, ...end]],
    [
      'its stop reason before its counts',
      [
        { type: 'message_start', message: {} },
        ...hello,
        ...end.slice(0, 1),
        { type: 'message_delta', delta: {}, usage: { output_tokens: 0 } },
        { type: 'message_stop' },
      ],
    ],
    [
      'blocks that are not counted from 0, and of unknown kinds',
      [
        { type: 'news', text: 'x' },
        ...blockEvents(3, { type: 'text' }, [{ type: 'text_delta', text: 'Hello' }]),
        ...blockEvents(5, { type: 'hologram' }, [{ type: 'thinking_delta', thinking: 'x' }]),
        ...end,
      ],
    ],
    [
      'pieces of a call that never began, and things that are not events',
      [
        { type: 'content_block_delta', index: 9, delta: { type: 'input_json_delta', partial_json: '{}' } },
        { type: 'content_block_delta', index: 0 },
        { type: 'content_block_start', index: 0 },
        { type: 'message_delta' },
        ...hello,
        ...end,
      ],
    ],
  ])('from a less strict server is understood: %s', async (_, events) => {
    const { client } = await clientOf(() => ({ events }));
    const pieces: string[] = [];

    const response = await client.complete(request(), { onText: (piece) => pieces.push(piece) });

    expect(response).toMatchObject({
      content: [{ type: 'text', text: 'Hello' }],
      stop: 'end',
      usage: { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, cacheHourTokens: 0 },
    });
    expect(pieces).toEqual(['Hello']);
  });

  it('keeps token counts from its start that its end omits', async () => {
    const usage = {
      input_tokens: 10,
      output_tokens: 1,
      cache_read_input_tokens: 3,
      cache_creation_input_tokens: 5,
      cache_creation: { ephemeral_5m_input_tokens: 3, ephemeral_1h_input_tokens: 2 },
    };
    const events = [{ type: 'message_start', message: { usage } }, ...hello, ...end];
    const { client } = await clientOf(() => ({ events }));

    expect(await client.complete(request())).toMatchObject({
      usage: {
        inputTokens: 10,
        outputTokens: 1,
        cacheReadTokens: 3,
        cacheWriteTokens: 5,
        cacheHourTokens: 2,
      },
    });
  });

  it('may come in one piece though a stream was asked for', async () => {
    const message = {
      content: [{ type: 'text', text: 'Whole' }],
      stop_reason: 'end_turn',
      usage: { input_tokens: 1 },
    };
    const { client } = await clientOf(() => ({ message }));
    const pieces: string[] = [];

    const response = await client.complete(request(), { onText: (piece) => pieces.push(piece) });

    expect(response.content).toEqual([{ type: 'text', text: 'Whole' }]);
    expect(pieces).toEqual(['Whole']);
  });

  it('that reached the output limit is cut, and a tool call cut with it is dropped', async () => {
    const cut = messageEvents(
      [
        ...blockEvents(0, { type: 'text', text: 'I will' }, []),
        ...blockEvents(1, { type: 'tool_use', id: 'a', name: 'look_up', input: {} }, [
          { type: 'input_json_delta', partial_json: '{"query": "te' },
        ]),
      ],
      'max_tokens',
    );
    const { client } = await clientOf(() => ({ events: cut }));

    const response = await client.complete(request());

    expect(response.stop).toBe('cut');
    expect(response.content).toEqual([{ type: 'text', text: 'I will' }]);
  });

  it('may be a refusal without a word', async () => {
    const { client } = await clientOf(() => 'refusal');

    expect(await client.complete(request())).toMatchObject({ content: [], stop: 'refusal' });
  });
});

describe('pictures and documents', () => {
  it('are counted before each attempt, and left out and named once the limit is reached [L1]', async () => {
    const { client, server } = await clientOf((_, index) => (index < 2 ? { status: 529 } : { text: 'Hi' }));
    const data = 'A'.repeat(1000);
    const asked: number[] = [];

    await client.complete(
      request({
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'paper.pdf:' },
              { type: 'document', title: 'paper.pdf', data },
            ],
          },
        ],
      }),
      { takeMedia: (bytes) => asked.push(bytes) < 2 },
    );

    expect(asked).toEqual([1000, 1000, 1000]);
    expect(server.requests.map(({ raw }) => raw.includes(data))).toEqual([true, false, false]);
    expect(server.requests[1]?.raw).toContain('left out of this request');
  });
});

describe('the limit of calls', () => {
  it('reports who has to wait, and when the wait is over', async () => {
    const { client } = await clientOf(() => ({ text: 'Hi', delayMs: 20 }), { concurrency: 1 });
    const told: string[] = [];
    const ask = (name: string) =>
      client.complete(request(), {
        onText: () => told.push(`${name} speaks`),
        onQueue: (isWaiting) => told.push(`${name} ${isWaiting ? 'waits' : 'begins'}`),
      });

    await Promise.all([ask('first'), ask('second')]);

    expect(told).toEqual(['second waits', 'first speaks', 'second begins', 'second speaks']);
  });
});

describe('the key', () => {
  /** Of a gateway's own form, which nothing but the configuration tells. */
  const secret = 'gateway-secret-0123456789';
  const faults: readonly (readonly [string, ModelAnswer])[] = [
    ['a refused key', { status: 401, error: `invalid key ${secret} in header` }],
    ['a server error', { status: 500, error: `upstream said ${secret}` }],
    [
      'an error inside the stream',
      { events: [{ type: 'error', error: { type: 'api_error', message: secret } }] },
    ],
  ];

  it.each(faults)('shows neither in errors nor in the log: %s', async (_, fault) => {
    const logger = recordingLogger();
    const { client } = await clientOf(() => fault, { apiKey: secret, logger });

    const failure = await failureOf(client.complete(request()));

    expect(everythingIn(failure)).not.toContain(secret);
    expect(
      JSON.stringify(logger.lines, (_key, value: unknown) =>
        value instanceof Error ? everythingIn(value) : value,
      ),
    ).not.toContain(secret);
  });
});

function everythingIn(error: unknown, depth = 0): string {
  if (!(error instanceof Error) || depth > 5) return JSON.stringify(error) ?? '';
  const own = Object.entries(error).map(([name, value]) => `${name}: ${everythingIn(value, depth + 1)}`);
  return [error.message, error.stack, ...own, everythingIn(error.cause, depth + 1)].join('\n');
}

/** Sets aside whatever is asked, up to so many times. */
function budgetOf(most = Infinity) {
  const reserved: number[] = [];
  const settled: (number | undefined)[] = [];
  const budget: CallBudget = {
    reserve(_, usd) {
      if (reserved.length >= most) return Promise.reject(new ModelError('used up', 'over-limit'));
      reserved.push(usd);
      return Promise.resolve({ charge: (actual) => void settled.push(actual) });
    },
  };
  return { budget, reserved, settled };
}

describe('what a call costs [L2]', () => {
  const prices = { sonnet: { input: 0, output: 1_000_000 } };
  const answerCost = 5;

  it('is reserved at its maximum before each attempt and settled at its real amount; an error in place of an answer is free', async () => {
    const { budget, reserved, settled } = budgetOf();
    const answers: ModelAnswer[] = [{ status: 529 }, 'cut', { text: 'Hello' }];
    const { client } = await clientOf((_, index) => answers[index] ?? 'empty', { budget, prices });
    await client.complete(request());
    expect(reserved).toEqual([4100, 4100, 4100]);
    expect(settled).toEqual([0, undefined, answerCost]);
  });

  it('stops a call that would exceed the limit, without another attempt', async () => {
    const { budget } = budgetOf(0);
    const { client, server } = await clientOf(() => ({ text: 'Hello' }), { budget, prices });
    expect((await failureOf(client.complete(request()))).failure).toBe('over-limit');
    expect(server.requests).toEqual([]);
  });

  it('is zero if no server was reached, and unknown if the call was aborted', async () => {
    const { budget, settled } = budgetOf();
    const { client, server } = await clientOf(() => 'silent', { budget, prices, totalTimeoutMs: 2000 });
    const giveUp = new AbortController();
    const asked = failureOf(client.complete(request(), { signal: giveUp.signal }));
    await expect.poll(() => server.requests.length).toBe(1);
    giveUp.abort();
    await asked;
    await expect.poll(() => settled).toEqual([undefined]);
    await server.close();
    await failureOf(client.complete(request()));
    expect(new Set(settled.slice(1))).toEqual(new Set([0]));
  });
});
