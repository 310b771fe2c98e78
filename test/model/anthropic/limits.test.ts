import { describe, expect, it, onTestFinished, vi } from 'vitest';

import { estimateTokens, type ModelLimits } from '../../../src/core/model.ts';
import type { ModelAnswer } from '../../support/model-answer.ts';
import { recordingLogger } from '../../support/recording-logger.ts';
import { failureOf } from '../failure-of.ts';
import { clientOf, request } from './client-under-test.ts';

const asked = request({ model: 'local', maxTokens: 4096 });

function says(message: string, status = 400): ModelAnswer {
  return { status, body: { error: { code: status, message, type: 'BadRequestError' } } };
}

/** Lines of a limit and the error that tells it, as servers and gateways word them. */
function named(lines: string): (readonly [number, string])[] {
  return lines.split('\n').map((line) => [Number(/\d+/u.exec(line)), line.replace(/^\s*\d+ /u, '')]);
}

const openAi =
  "This model's maximum context length is 8192 tokens. However, you requested 12596 tokens (8500 in the messages, 4096 in the completion). Please reduce the length of the messages or completion.";

// Without a number it is half of what was sent: 4,096 tokens of answer, and some of a prompt.
const contexts = named(`8192 ${openAi}
  8192 the request exceeds the available context size (8192 tokens)
  8192 This endpoint's maximum context length is 8192 tokens. However, you requested about 12596 tokens (8500 of text input, 4096 in the output). Please reduce the length of either one.
  4096 Trying to keep the first 9000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough.
  200000 prompt is too long: 210000 tokens > 200000 maximum
  32768 Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32,768 maximum context length
  2060 Input is too long for requested model.`);

const advice = 'try increasing the context size or enable context shift';
const llamaCpp = {
  message: `the request exceeds the available context size. ${advice}`,
  type: 'exceed_context_size_error',
  n_prompt_tokens: 10_500,
  n_ctx: 8192,
};

describe('a limit that a server names [M13]', () => {
  it.each([
    ...contexts.map(([tokens, message]) => [tokens, says(message)] as const),
    [8192, { status: 400, body: { error: { code: 400, ...llamaCpp } } }] as const,
    [8192, { events: [{ error: llamaCpp }] }] as const,
  ])('of its context, %i, is learnt, and the prompt refused: %j', async (tokens, answer) => {
    const { client, server } = await clientOf(() => answer);
    expect(await failureOf(client.complete(asked))).toMatchObject({ failure: 'too-large' });
    expect(server.requests).toHaveLength(1);
    expect(Math.abs((client.limitsOf?.('local').contextTokens ?? 0) - tokens)).toBeLessThan(50);
    expect(client.limitsOf?.('other')).toEqual({});
  });

  it.each(
    named(`2048 max_tokens: 4096 > 2048, which is the maximum allowed number of output tokens
      2048 max_tokens is too large: 4096. This model supports at most 2048 completion tokens, whereas you provided 4096.
      1200 This request requires more credits, or fewer max_tokens. You requested up to 4096 tokens, but can only afford 1200. To increase, visit us
      2048 max_tokens is too large`),
  )('of an answer, %i, is kept at once, and from then on: %s', async (tokens, message) => {
    const status = message.includes('credits') ? 402 : 400;
    const answers = [says(message, status)];
    const { client, server } = await clientOf((_, index) => answers[index] ?? { text: 'Here' });
    for (const maxTokens of [4096, 4096, 300]) await client.complete({ ...asked, maxTokens });
    expect(server.requests.map(({ body }) => body.max_tokens)).toEqual([4096, tokens, tokens, 300]);
    expect(client.limitsOf?.('local')).toEqual({ answerTokens: tokens });
  });

  it('of its context leaves answers a quarter of it, at least 256 tokens, for an hour', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
    const errors = [says(openAi), undefined, says('context size 512 exceeded')];
    const { client, server } = await clientOf((_, index) => errors[index] ?? { text: 'Here' });
    for (const passed of [0, 0, 0, 0, 3_600_001]) {
      vi.advanceTimersByTime(passed);
      await client.complete(asked).catch(() => undefined);
    }
    expect(server.requests.map(({ body }) => body.max_tokens)).toEqual([4096, 2048, 2048, 256, 4096]);
  });

  it('leaves less room where it is named for what was fitted to it, though no count says so', async () => {
    const message =
      "'max_tokens' or 'max_completion_tokens' is too large: 512. This model's maximum context length is 2048 tokens and your request has 1747 input tokens (512 > 2048 - 1747).";
    const { client } = await clientOf(() => says(message));
    const text = 'я'.repeat(184);
    const content = Array.from({ length: 10 }, () => ({ type: 'text' as const, text }));
    const fitted = { ...asked, maxTokens: 2048 - content.length * estimateTokens(text) };
    for (const room of [2048, 1433]) {
      await failureOf(client.complete({ ...fitted, system: [], messages: [{ role: 'user', content }] }));
      expect(client.limitsOf?.('local')).toMatchObject({ contextTokens: 2048, roomTokens: room });
    }
  });

  it.each([
    ['rejected', says('max_tokens: Extra inputs are not permitted')],
    ['rejected', says('fewer max_tokens: can only afford 12', 402)],
    ['rejected', says('messages.0.content.1.image: input image exceeds 5 MB maximum')],
    ['rejected', { status: 422, body: { detail: [{ input: 'the maximum context length is 300' }] } }],
    ['rate-limited', says('tokens per minute: maximum context length exceeded 8192', 429)],
  ] as const)('is not read from what only looks like one: %s, %j', async (failure, answer) => {
    const { client } = await clientOf(() => answer);
    expect(await failureOf(client.complete(asked))).toMatchObject({ failure });
    expect(client.limitsOf?.('local')).toEqual({});
  });
});

it.each<[string, object, ModelLimits]>([
  ['It is tea. ', { input_tokens: 2000, cache_read_input_tokens: 51 }, { cutsAt: 2051 }],
  ['Это чай... ', { input_tokens: 4096 }, { cutsAt: 4096 }],
  ['It is tea. ', { input_tokens: 51, cache_read_input_tokens: 8000 }, {}],
  ['It is tea. ', { output_tokens: 1 }, {}],
])(
  'a server that cuts long prompts in silence is known by what it counts [M13]: %s%j',
  async (words, usage, limits) => {
    const logger = recordingLogger();
    const message = { content: [{ type: 'text', text: 'Hi' }], usage };
    const { client } = await clientOf(() => ({ message }), { logger });
    for (const text of ['Hi', words.repeat(3000), words.repeat(3000)])
      await client.complete({ ...asked, messages: [{ role: 'user', content: [{ type: 'text', text }] }] });
    expect(client.limitsOf?.('local')).toEqual(limits);
    expect(logger.warnings.filter((line) => line.includes('num_ctx'))).toHaveLength(
      'cutsAt' in limits ? 1 : 0,
    );
  },
);
