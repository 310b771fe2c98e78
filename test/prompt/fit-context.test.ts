import * as fc from 'fast-check';
import { expect, it } from 'vitest';

import { estimateTokens } from '../../src/core/model.ts';
import { fitContext } from '../../src/prompt/fit-context.ts';
import { failureOf } from '../model/failure-of.ts';
import { runs } from '../support/runs.ts';
import { chatMessage, promptInput, section, wholeText, windowOf } from './samples.ts';

const memoryTools = ['remember_item', 'recall_memory', 'forget_item', 'memory_read', 'memory_write'];
const actions = new Set(['react', 'send_message', 'create_poll']);
const tools = [...memoryTools, ...actions].map((name) => ({
  name,
  description: 'What it is for, and how. '.repeat(25),
  inputSchema: { type: 'object', properties: {} },
}));
const needs = { tools, actions, answerTokens: 4096 };

const sentence = fc.constantFrom(
  'She lives in Graz and works on a parser for old letters.',
  'Она живёт в Граце и разбирает старые письма, когда идёт дождь.',
  '彼女はグラーツに住んでいて、古い手紙を読むのが好きです。',
);
const words = (most: number) =>
  fc.array(sentence, { minLength: 1, maxLength: most }).map((all) => all.join(' '));

it('prompt, tools and answer fit a context of any size, with the message whole and memory in it [M13]', () => {
  const turn = fc.record({
    contextTokens: fc.integer({ min: 2048, max: 20_000 }),
    message: words(4),
    items: fc.array(words(3), { minLength: 1, maxLength: 40 }),
    notes: fc.array(words(3), { maxLength: 20 }),
    talk: fc.array(words(8), { maxLength: 20 }),
    soul: words(60),
  });
  fc.assert(
    fc.property(turn, ({ contextTokens, message, items, notes, talk, soul }) => {
      const said = promptInput().message;
      const input = promptInput({
        soul,
        sections: [
          section({ name: 'notes', lines: notes, budget: 4000 }),
          section({ slot: 'items', lines: items, budget: 3000 }),
          section({ name: 'discord_actions', lines: ['You may react.'] }),
        ],
        history: windowOf(talk.map((text, index) => chatMessage(index, text))).entries,
        message: { ...said, messages: said.messages.map((each) => ({ ...each, text: message })) },
      });
      const fitted = fitContext(input, { ...needs, contextTokens });
      const text = wholeText(fitted.prompt);
      const kept = tools.filter(({ name }) => fitted.tools.has(name));
      const offered = kept.length === 0 ? 0 : estimateTokens(JSON.stringify(kept));
      expect(estimateTokens(text) + offered + fitted.maxTokens).toBeLessThanOrEqual(contextTokens);
      expect(text).toContain(message);
      expect(text.includes('You may react.')).toBe(fitted.tools.has('react'));
      expect(contextTokens < 4096 || text.includes('<durable_items>')).toBe(true);
    }),
    { numRuns: runs(200) },
  );
});

it.each([
  [undefined, 8, 4096, []],
  [32_000, 8, 4096, []],
  [6000, 5, 1500, ['actions']],
  [4096, 2, 1024, ['most tools', 'most rules']],
  [1200, 0, 300, ['all tools', 'most rules']],
])(
  'of %s tokens %i tools are offered, and %i are for the answer',
  (contextTokens, count, maxTokens, leftOut) => {
    const fitted = fitContext(promptInput(), { ...needs, contextTokens });
    expect(fitted).toMatchObject({ maxTokens, leftOut });
    expect(fitted.tools.size).toBe(count);
  },
);

it('a message that is larger than the context alone is refused', async () => {
  const { message } = promptInput();
  const long = {
    ...message,
    messages: message.messages.map((each) => ({ ...each, text: 'word '.repeat(1600) })),
  };
  const fitting = (async () =>
    fitContext(promptInput({ message: long }), { ...needs, contextTokens: 1024 }))();
  expect((await failureOf(fitting)).failure).toBe('too-large');
});
