import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import type { MediaBlock, ModelMessage, TextBlock, ToolResultBlock } from '../../../src/core/model.ts';
import { resolveModel } from '../../../src/model/anthropic/models.ts';
import { largestUsage, requestBody } from '../../../src/model/anthropic/request-body.ts';
import { request } from './client-under-test.ts';

function user(...content: readonly TextBlock[]): ModelMessage {
  return { role: 'user', content };
}

/** Texts with a mark each. */
function marked(place: string, count: number): TextBlock[] {
  return Array.from({ length: count }, (_, index) => ({
    type: 'text',
    text: `${place} ${index}`,
    cache: '5m',
  }));
}

describe('the model [M1]', () => {
  it.each([
    ['sonnet', 'claude-sonnet-5-5'],
    ['claude-haiku-4-5', 'claude-haiku-4-5'],
    ['llama', 'llama'],
  ])('%s is asked as %s', (name, id) => {
    expect(resolveModel(name)).toBe(id);
    expect(requestBody(request({ model: name })).model).toBe(id);
  });

  it('with thinking gets tokens for it and an effort', () => {
    expect(requestBody(request({ model: 'sonnet', maxTokens: 100 }))).toMatchObject({
      max_tokens: 4_100,
      output_config: { effort: 'medium' },
    });
    expect(requestBody(request({ model: 'haiku', purpose: 'summary' })).output_config).toEqual({
      effort: 'low',
    });
  });

  it('with an unknown name gets the plain request that every server understands', () => {
    const body = requestBody(request({ model: 'llama', maxTokens: 100 }));

    expect(body.max_tokens).toBe(100);
    expect(Object.keys(JSON.parse(JSON.stringify(body))).toSorted()).toEqual([
      'max_tokens',
      'messages',
      'model',
      'stream',
      'system',
    ]);
  });
});

describe('cache marks', () => {
  it('say how long what they mark is to be kept, where that is longer than usual', () => {
    const system: readonly TextBlock[] = [{ type: 'text', text: 'Rules', cache: '1h' }];
    expect(requestBody(request({ system })).system).toEqual([
      { type: 'text', text: 'Rules', cache_control: { type: 'ephemeral', ttl: '1h' } },
    ]);
  });

  it('are at most four, the last ones', () => {
    fc.assert(
      fc.property(fc.nat(5), fc.nat(5), fc.nat(5), (inSystem, inMessages, inResults) => {
        const system = marked('system', inSystem);
        const content = marked('messages', inMessages);
        const results = marked('results', inResults).map((block): ToolResultBlock => {
          return { ...block, type: 'tool_result', toolUseId: 'a', isError: false };
        });
        const messages = [user(...content), { role: 'user', content: results } as const];

        const body = JSON.stringify(requestBody(request({ system, messages })));

        const found = [...body.matchAll(/"((?:system|messages|results) \d)"[^{}]*"cache_control"/gu)];
        const last = [...system, ...content, ...results].slice(-4).map(({ text }) => text);
        expect(found.map(([, text]) => text)).toEqual(last);
      }),
    );
  });
});

describe('the body', () => {
  it('asks for structured output in the form that the vendor takes', () => {
    const outputSchema = {
      type: 'object',
      properties: { items: { type: 'array', items: { type: 'string', maxLength: 9 }, maxItems: 3 } },
      required: ['items'],
    };

    const format = requestBody(request({ outputSchema })).output_config?.format;

    expect(format?.type).toBe('json_schema');
    expect(format?.schema).toMatchObject({
      type: 'object',
      required: ['items'],
      additionalProperties: false,
    });
    expect(format?.schema['properties']).not.toHaveProperty('items.maxItems');
  });

  it('leaves out what the vendor refuses: blank texts, messages of nothing else, and what another vendor thought', () => {
    const body = requestBody(
      request({
        system: [{ type: 'text', text: '' }],
        messages: [
          user({ type: 'text', text: 'Hello' }, { type: 'text', text: ' \n' }),
          {
            role: 'assistant',
            content: [
              { type: 'text', text: ' ' },
              { type: 'reasoning', vendor: { thought: 'hm' } },
            ],
          },
          user({ type: 'text', text: 'Still there?' }),
        ],
      }),
    );

    expect(body.system).toBeUndefined();
    expect(body.messages).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'Hello' }] },
      { role: 'user', content: [{ type: 'text', text: 'Still there?' }] },
    ]);
  });
});

describe('odd texts', () => {
  it('never make a body that is not well-formed [S5]', () => {
    const odd = fc
      .array(fc.integer({ min: 0, max: 0xff_ff }), { maxLength: 30 })
      .map((units) => String.fromCharCode(...units));
    fc.assert(
      fc.property(odd, odd, (text, other) => {
        const body = requestBody(
          request({
            system: [{ type: 'text', text }],
            messages: [
              user({ type: 'text', text: other, cache: '5m' }),
              {
                role: 'assistant',
                content: [
                  { type: 'tool_use', id: '1', name: 'recall_memory', input: { queries: [text, other] } },
                ],
              },
              {
                role: 'user',
                content: [
                  { type: 'tool_result', toolUseId: '1', text, isError: false },
                  { type: 'document', title: other, data: 'JVBERg==' },
                ],
              },
            ],
          }),
        );
        // JSON writes halves of characters as escapes, and nothing else above U+001F.
        expect(JSON.stringify(body)).not.toMatch(/(?<!\\)(?:\\\\)*\\ud[89a-f]/iu);
      }),
    );
  });
});

/** The input of a request with these pictures and documents alone. */
function withMedia(...content: readonly MediaBlock[]): number {
  return largestUsage(requestBody(request({ messages: [{ role: 'user', content }] }))).inputTokens;
}

describe('the most that a request can use [L2]', () => {
  it('is a token per byte of input, plus the longest answer', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 500 }), (text) => {
        const body = requestBody(request({ messages: [user({ type: 'text', text: `x${text}` })] }));
        const { inputTokens, cacheWriteTokens, outputTokens } = largestUsage(body);
        expect(inputTokens).toBeGreaterThan(
          Buffer.byteLength(text.toWellFormed()) + Buffer.byteLength('Be brief.'),
        );
        expect(cacheWriteTokens).toBe(0);
        expect(outputTokens).toBe(body.max_tokens);
      }),
    );
  });

  it('is written to the cache for as long as the longest mark says', () => {
    const with5 = largestUsage(requestBody(request({ messages: [user(...marked('x', 1))] })));
    expect(with5).toMatchObject({ inputTokens: 0, cacheHourTokens: 0 });
    expect(with5.cacheWriteTokens).toBeGreaterThan(1000);
    const with60 = largestUsage(
      requestBody(request({ system: [{ type: 'text', text: 'Be brief.', cache: '1h' }] })),
    );
    expect(with60.cacheHourTokens).toBe(with60.cacheWriteTokens);
    expect(with60.inputTokens).toBe(0);
  });

  it('counts a picture as what a large one takes and a document by its size, and never more than a prompt can have', () => {
    const data = 'A'.repeat(100_000);
    const none = withMedia({ type: 'image', title: 'cat.png', mediaType: 'image/png', data: '' });
    expect(withMedia({ type: 'image', title: 'cat.png', mediaType: 'image/png', data })).toBe(none);
    expect(none).toBeGreaterThan(5000);
    const document = { type: 'document', title: 'a.pdf', data } as const;
    expect(withMedia(document)).toBeGreaterThan(200_000);
    expect(withMedia({ ...document, data: data.repeat(10) })).toBe(1_000_000);
  });
});
