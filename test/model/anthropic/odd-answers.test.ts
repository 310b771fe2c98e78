import { describe, expect, it } from 'vitest';

import { blockEvents, brokenMessage, messageEvents, type ModelAnswer } from '../../support/model-answer.ts';
import { failureOf } from '../failure-of.ts';
import { clientOf, request } from './client-under-test.ts';
import { everything } from './everything.ts';

/** An event without a name. */
function unnamed(event: unknown): object {
  return { bytes: Buffer.from(`data: ${JSON.stringify(event)}\n\n`) };
}

function pretty(body: object): Buffer {
  return Buffer.from(JSON.stringify(body, undefined, 2));
}

const limited = { error: { code: 429, message: 'Provider returned error', metadata: {} } };
const overloaded = { type: 'error', error: { type: 'overloaded_error', message: 'busy' } };
const unknownModel = { type: 'error', error: { type: 'not_found_error', message: 'model: qwen' } };

describe('a 200 with an error inside is the error that it names [M15]', () => {
  it.each<[string, ModelAnswer, string, number]>([
    ['a code as JSON', { message: limited }, 'rate-limited', 6],
    ['a code as text', { message: { error: { code: '503', message: 'no' } } }, 'unavailable', 6],
    ['beside an empty message', { message: { content: [], error: { code: 400 } } }, 'rejected', 1],
    ['an event with its name', { events: [unknownModel] }, 'unknown-model', 1],
    ['an event without a name', { events: [unnamed(overloaded)] }, 'overloaded', 6],
    ['JSON in place of events', { events: [{ bytes: pretty(unknownModel) }] }, 'unknown-model', 1],
    ['a type', { events: [...brokenMessage(), unnamed(unknownModel)] }, 'unknown-model', 1],
  ])('%s', async (_, answer, failure, requests) => {
    const { client, server } = await clientOf(() => answer);
    expect(await failureOf(client.complete(request()))).toMatchObject({ failure });
    expect(server.requests).toHaveLength(requests);
  });

  it('and teaches what the server refuses', async () => {
    const refusal = { error: { code: 400, message: 'qwen does not support tools' } };
    const { client } = await clientOf((body) =>
      body.tools === undefined ? { json: {} } : { events: [unnamed(refusal)] },
    );
    expect(await client.complete(everything)).toMatchObject({ leftOut: ['tools'] });
  });
});

const text = { type: 'text', text: 'Hello' };
const [start = {}, ...others] = messageEvents(blockEvents(0, text, []), 'end_turn');
const unended = [start, ...others.slice(0, -1)];
const call = { type: 'tool_use', id: 'a', name: 'look_up', input: {} };
const starts = (block: object) => ({ type: 'content_block_start', index: 0, content_block: block });
const delta = (piece: object) => ({ type: 'content_block_delta', index: 0, delta: piece });
const json = { type: 'input_json_delta', partial_json: '{"query":"tea"}' };

describe('a stream [M15]', () => {
  it.each<[string, readonly object[]]>([
    ['the stream ends', []],
    ['the stream breaks', [{ bytes: Buffer.from('event: message_stop\ndata: {"type"\n\n') }]],
    ['an error comes', [overloaded]],
    ['nothing comes', [{ pauseMs: 60_000 }]],
  ])('that has its stop reason is whole, though %s before its end', async (_, end) => {
    const { client, server } = await clientOf(() => ({ events: [...unended, ...end] }));
    expect(await client.complete(request())).toMatchObject({ content: [text], usage: { outputTokens: 5 } });
    expect(server.requests).toHaveLength(1);
  });

  const stops = { type: 'content_block_stop', index: 0 };
  const hel = delta({ type: 'text_delta', text: 'Hel' });
  const lo = delta({ type: 'text_delta', text: 'lo' });
  const empty = { type: 'text', text: '' };
  const thought = { type: 'reasoning', vendor: { type: 'thinking', thinking: 'Hm', signature: 'signed' } };
  const found = { ...call, input: { query: 'tea' } };

  it.each<[string, readonly object[], readonly object[]]>([
    ['text, then a call', [starts(empty), hel, lo, stops, starts(call), delta(json)], [text, found]],
    ['a call within a text', [starts(empty), hel, starts(call), delta(json), lo], [text, found]],
    ['two calls', [starts(call), delta(json), stops, starts({ ...call, id: 'b' })], [found, { id: 'b' }]],
    ['one call, begun twice', [starts(call), starts(call), delta(json)], [found]],
  ])('keeps what comes under one index: %s', async (_, blocks, content) => {
    const { client } = await clientOf(() => ({ events: messageEvents(blocks, 'tool_use') }));
    expect((await client.complete(request())).content).toMatchObject(content);
  });

  it('may leave out where its blocks begin', async () => {
    const thinks = delta({ type: 'thinking_delta', thinking: 'Hm' });
    const signs = delta({ type: 'signature_delta', signature: 'signed' });
    const { client } = await clientOf(() => ({
      events: messageEvents([thinks, signs, hel, lo], 'end_turn'),
    }));
    const pieces: string[] = [];
    const { content } = await client.complete(request(), { onText: (piece) => pieces.push(piece) });
    expect([content, pieces]).toEqual([
      [thought, text],
      ['Hel', 'lo'],
    ]);
  });
});

it.each([
  ['without a signature', { type: 'thinking', thinking: 'Hm' }],
  ['with an empty one', { type: 'thinking', thinking: 'Hm', signature: '' }],
  ['with one', { type: 'thinking', thinking: '', signature: 'signed' }],
])('thoughts %s go back as they came [M15]', async (_, thinking) => {
  const { client, server } = await clientOf(() => ({ message: { content: [thinking, call] } }));
  const { content } = await client.complete(everything);
  const messages = [...request().messages, { role: 'assistant' as const, content }];
  await client.complete({ ...everything, messages });
  expect(server.requests[1]?.body.messages?.at(-1)?.content).toEqual([thinking, call]);
});

const thoughts = blockEvents(0, { type: 'thinking', thinking: 'Hm' }, []);

it.each<[string, ModelAnswer]>([
  ['nothing', 'empty'],
  ['white space', { text: ' \n ' }],
  ['thoughts only', { events: messageEvents(thoughts, 'max_tokens') }],
])('an answer without words is asked for once more, and both are counted [M15]: %s', async (_, answer) => {
  const { client, server } = await clientOf((_body, index) => (index === 0 ? answer : { text: 'Here' }));
  const { content, usage } = await client.complete(request({ purpose: 'summary' }));
  expect(content).toEqual([{ type: 'text', text: 'Here' }]);
  expect(usage.outputTokens).toBe(10);
  expect(server.requests).toHaveLength(2);
});
