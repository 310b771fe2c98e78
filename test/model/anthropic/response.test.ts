import { describe, expect, it } from 'vitest';

import { blockEvents, messageEvents, type ModelAnswer } from '../../support/model-answer.ts';
import { failureOf } from '../failure-of.ts';
import { clientOf, request } from './client-under-test.ts';

const hm = { type: 'text', text: 'Hm' };

const toolUse = (input: object[]): ModelAnswer => ({
  events: messageEvents(
    blockEvents(0, { type: 'tool_use', id: 'a', name: 'look_up', input: {} }, input),
    'tool_use',
  ),
});
const json = (text: string): object[] => [{ type: 'input_json_delta', partial_json: text }];

describe('an invalid answer', () => {
  const cases: readonly (readonly [string, ModelAnswer])[] = [
    ['a web page', 'html'],
    ['a message without content', { message: { stop_reason: 'end_turn' } }],
    ['a message whose content is not blocks', { message: { content: ['hello'] } }],
    ['a text without words', { message: { content: [{ type: 'text' }] } }],
    ['an unknown stop reason', { events: messageEvents(blockEvents(0, hm, []), 'tired') }],
    ['a tool call whose input is a list', toolUse(json('[1]'))],
    ['a tool call whose input breaks off', toolUse(json('{"a":'))],
  ];

  it.each(cases)('is rejected and not requested again: %s', async (_, answer) => {
    const { client, server } = await clientOf(() => answer);

    const failure = await failureOf(client.complete(request()));

    expect(failure.failure).toBe('invalid');
    expect(server.requests).toHaveLength(1);
  });
});
