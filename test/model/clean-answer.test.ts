import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { cleanAnswer } from '../../src/model/clean-answer.ts';
import { answers } from '../support/odd-answers.ts';
import { runs } from '../support/runs.ts';

const tools = ['remember_item', 'recall_memory'];
const frame = { tools, names: { own: 'Discoclaw', asker: 'alice' } };
const json = '{"name":"remember_item","arguments":{"quote":"I like tea"}}';
const call = { name: 'remember_item', input: { quote: 'I like tea' } };

describe('of an answer people are shown what is meant for them [M11]', () => {
  it.each([
    ['<think>be brief</think>\n\nHello', 'Hello'],
    ['Hm. <think>be\n\nbrief</think> Hello', 'Hm.  Hello'],
    ['{ be brief ```\n</think>\nHello', 'Hello'],
    ['<think>be brief', ''],
    [
      '<|channel|>analysis<|message|>be brief<|end|><|start|>assistant<|channel|>final<|message|>Hello<|return|>',
      'Hello',
    ],
    ['Discoclaw: Hello', 'Hello'],
    ['[Sat 2026-11-28 12:03] **Discoclaw:** Hello', 'Hello'],
    ['Hello\n\nalice: thanks\nDiscoclaw: welcome', 'Hello'],
    ['Hello\n[Sat 2026-11-28 12:03] bob: thanks', 'Hello'],
    ['You wrote:\n\nalice: thanks\n\nNothing else.', 'You wrote:\n\nalice: thanks\n\nNothing else.'],
    ['Hello<|im_end|>', 'Hello'],
    ['Hello<|im_end|>\n<|im_start|>user\nthanks', 'Hello\n'],
    ['<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>assistant\nHello', 'Hello'],
    ['<message from="Discoclaw" where="direct message">Hello</message>', 'Hello'],
    ['A `</think>` ends <b>them</b>, see `<|im_end|>`.', 'A `</think>` ends <b>them</b>, see `<|im_end|>`.'],
    ['```html\n</think>\n```\nSo.', '```html\n</think>\n```\nSo.'],
    ['f <| x, a < b, [1], {"id": 1}', 'f <| x, a < b, [1], {"id": 1}'],
    [
      `Like so:\n\`\`\`json\n${json}\n\`\`\`\nIt stores that.`,
      `Like so:\n\`\`\`json\n${json}\n\`\`\`\nIt stores that.`,
    ],
    ['A call: {"name":"get_weather","arguments":{}}', 'A call: {"name":"get_weather","arguments":{}}'],
    ['remember_item(quote, kind) stores what you said.', 'remember_item(quote, kind) stores what you said.'],
  ])('%j', (raw, text) => {
    expect(cleanAnswer(raw, frame)).toMatchObject({ text, calls: [] });
  });

  it('an answer that has read a channel may quote it', () => {
    const quoting = 'They said:\n\nalice: thanks\nDiscoclaw: welcome';
    expect(cleanAnswer(quoting, { ...frame, mayQuote: true }).text).toBe(quoting);
  });

  it('of a model that may think aloud nothing is certain before its thoughts end', () => {
    const aloud = { ...frame, mayThinkAloud: true };
    expect(cleanAnswer('Be brief. Now:', aloud, false).text).toBe('');
    expect(cleanAnswer('Be brief.</think>Hello Alice', aloud, false).text).toBe('Hello Alice');
    expect(cleanAnswer('Hello', aloud).text).toBe('Hello');
  });
});

describe('a call that a model writes as text is a call [M11]', () => {
  it.each([
    `<tool_call>${json}</tool_call>`,
    `<tool_call>\n<function=remember_item>\n<parameter=quote>\nI like tea\n</parameter>\n</function>\n</tool_call>`,
    '<tool_call>remember_item\n<arg_key>quote</arg_key>\n<arg_value>I like tea</arg_value>\n</tool_call>',
    '<function_calls><invoke name="remember_item"><parameter name="quote">I like tea</parameter></invoke></function_calls>',
    `[TOOL_CALLS][${json}]`,
    `<|python_tag|>${json.replace('arguments', 'parameters')}`,
    '<|tool_calls_section_begin|><|tool_call_begin|>functions.remember_item:0<|tool_call_argument_begin|>{"quote":"I like tea"}<|tool_call_end|><|tool_calls_section_end|>',
    '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>remember_item\n```json\n{"quote":"I like tea"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
    '<|channel|>commentary to=functions.remember_item <|constrain|>json<|message|>{"quote":"I like tea"}<|call|>',
    json,
    '{"type":"function","function":{"name":"remember_item","arguments":"{\\"quote\\":\\"I like tea\\"}"}}',
    `\`\`\`json\n${json}\n\`\`\``,
    'remember_item({"quote":"I like tea"})',
    '```tool_code\nprint(default_api.remember_item(quote="I like tea"))\n```',
  ])('%j', (written) => {
    expect(cleanAnswer(written, frame)).toMatchObject({ text: '', calls: [call] });
    expect(cleanAnswer(`Sure!\n${written}`, frame)).toMatchObject({ text: 'Sure!\n', calls: [call] });
    expect(cleanAnswer(`<think>I call ${written}</think>Hello`, frame)).toMatchObject({
      text: 'Hello',
      calls: [],
    });
  });

  it('one that cannot be read is not shown either, so that the model is told', () => {
    expect(cleanAnswer('<tool_call>{"quote": I like', frame)).toMatchObject({
      text: '',
      calls: [{ name: '', input: {} }],
    });
    expect(cleanAnswer('{"name":"web_search","arguments":{"q":"tea"}}', frame).calls).toHaveLength(1);
  });
});

it('nothing else is shown at any moment, and what is meant for people whole, wherever an answer is cut [M11]', () => {
  fc.assert(
    fc.property(answers, ({ raw, shown, notShown, mayThinkAloud }) => {
      const { text } = cleanAnswer(raw, frame);
      for (const piece of shown) expect(text).toContain(piece);
      for (const piece of notShown) expect(text).not.toContain(piece);
      for (let length = 0; length <= raw.length; length += 1) {
        const part = cleanAnswer(raw.slice(0, length), { ...frame, mayThinkAloud }, false).text;
        expect({ part, length, isBeginning: text.startsWith(part) }).toEqual({
          part,
          length,
          isBeginning: true,
        });
      }
    }),
    { numRuns: runs(300) },
  );
});
