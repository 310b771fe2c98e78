import { describe, expect, it } from 'vitest';

import { createAnthropicClient } from '../../../src/model/anthropic/anthropic-client.ts';
import type { ModelRequest } from '../../../src/core/model.ts';
import { blockEvents, messageEvents } from '../../support/model-answer.ts';
import type { ModelAnswer } from '../../support/model-answer.ts';
import { recordingLogger } from '../../support/recording-logger.ts';
import { failureOf } from '../failure-of.ts';
import { clientOf, request } from './client-under-test.ts';

const thinking = { type: 'thinking', thinking: '', signature: 'signed' };
const lookUp = { name: 'look_up', description: 'Looks up', inputSchema: { type: 'object' } };

describe('an answer', () => {
  it('streams its text, counts its tokens and comes back whole', async () => {
    const usages: unknown[] = [];
    const { client } = await clientOf(() => ({ text: ['Hel', 'lo ', 'there'] }), {
      onUsage: (...usage) => usages.push(usage),
    });
    const pieces: string[] = [];

    const response = await client.complete(request(), { onText: (piece) => pieces.push(piece) });

    expect(response).toEqual({
      content: [{ type: 'text', text: 'Hello there' }],
      stop: 'end',
      usage: { inputTokens: 10, outputTokens: 5, cacheReadTokens: 3, cacheWriteTokens: 2 },
    });
    expect(pieces).toEqual(['Hel', 'lo ', 'there']);
    expect(usages).toEqual([[response.usage, 'chat', 'sonnet']]);
    expect(client.isOffline).toBe(false);
  });

  it('gives tool calls with their parsed input', async () => {
    const calls = [
      { id: 'a', name: 'look_up', input: { query: 'tea' } },
      { id: 'b', name: 'look_up', input: {} },
    ];
    const { client } = await clientOf(() => ({ toolUse: calls, text: 'One moment.' }));

    const response = await client.complete(request());

    expect(response.stop).toBe('tool_use');
    expect(response.content).toEqual([
      { type: 'text', text: 'One moment.' },
      ...calls.map((call) => ({ type: 'tool_use', ...call })),
    ]);
  });

  it('keeps what the model thought and sends it back unchanged, in its place', async () => {
    const answers: ModelAnswer[] = [
      {
        events: messageEvents(
          [
            ...blockEvents(0, { ...thinking, signature: '' }, [
              { type: 'signature_delta', signature: 'signed' },
            ]),
            ...blockEvents(1, { type: 'tool_use', id: 'a', name: 'look_up', input: {} }, []),
          ],
          'tool_use',
        ),
      },
      { text: 'Done' },
    ];
    const { client, server } = await clientOf((_, index) => answers[index] ?? 'empty');

    const first = await client.complete(request({ tools: [lookUp] }));
    await client.complete(
      request({
        tools: [lookUp],
        messages: [
          ...request().messages,
          { role: 'assistant', content: first.content },
          { role: 'user', content: [{ type: 'tool_result', toolUseId: 'a', text: 'found', isError: false }] },
        ],
      }),
    );

    expect(server.requests[1]?.body.messages?.slice(1)).toEqual([
      { role: 'assistant', content: [thinking, { type: 'tool_use', id: 'a', name: 'look_up', input: {} }] },
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: 'a', content: 'found', is_error: false }],
      },
    ]);
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

describe('the key', () => {
  const secret = 'sk-ant-secret-0123456789';
  const faults: readonly (readonly [string, ModelAnswer])[] = [
    ['a refused key', { status: 401, error: `invalid key ${secret} in header` }],
    ['a server error', { status: 500, error: `upstream said ${secret}` }],
    [
      'an error inside the stream',
      { events: [{ type: 'error', error: { type: 'api_error', message: secret } }] },
    ],
    ['a broken stream', 'cut'],
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

  it('shows in no error when it cannot even be sent', async () => {
    const malformed = 'sk-ant-line\nbreak';
    const { client } = await clientOf(() => ({ text: 'Hi' }), { apiKey: malformed });

    expect(everythingIn(await failureOf(client.complete(request())))).not.toContain('sk-ant-line');
  });

  it('is sent where there is one, and is not needed where a server wants none', async () => {
    const { client, server } = await clientOf(() => ({ text: 'Hi' }), { apiKey: secret });
    await client.complete(request());
    const keyless = createAnthropicClient({
      baseUrl: server.url,
      concurrency: 1,
      queueLimit: 1,
      idleTimeoutMs: 1_000,
      totalTimeoutMs: 1_000,
      logger: recordingLogger(),
    });

    await keyless.complete(request());

    expect(JSON.stringify(server.requests[0]?.headers)).toContain(secret);
    expect(server.requests).toHaveLength(2);
    expect(JSON.stringify(server.requests[1]?.headers)).not.toContain(secret);
  });
});

describe('a request that cannot be made', () => {
  it('rejects with ModelError too', async () => {
    const { client } = await clientOf(() => ({ text: 'Hi' }));
    const broken: ModelRequest = request({ outputSchema: { properties: {} } });

    expect(await failureOf(client.complete(broken))).toMatchObject({ failure: 'rejected' });
  });
});

function everythingIn(error: unknown, depth = 0): string {
  if (!(error instanceof Error) || depth > 5) return JSON.stringify(error) ?? '';
  const own = Object.entries(error).map(([name, value]) => `${name}: ${everythingIn(value, depth + 1)}`);
  return [error.message, error.stack, ...own, everythingIn(error.cause, depth + 1)].join('\n');
}
