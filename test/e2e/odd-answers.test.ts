import fc from 'fast-check';
import { expect, it } from 'vitest';

import { answers, privateWords } from '../support/odd-answers.ts';
import type { ModelAnswer } from '../support/model-answer.ts';
import { runs } from '../support/runs.ts';
import { templateMarks } from '../support/template-marks.ts';
import { answeringBy } from './model-calls.ts';
import { openStage } from './stage.ts';

/** In pieces of so many characters. */
function inPieces(text: string, length: number): ModelAnswer {
  return { text: text.match(new RegExp(`[^]{1,${length}}`, 'gu')) ?? [], pauseMs: 1 };
}

it('nothing that is not meant for people is ever on Discord, not for one edit, nor in memory [M11]', async () => {
  let answer: ModelAnswer = { text: 'Hello' };
  await using stage = await openStage({
    environment: { DISCOCLAW_MODEL: 'qwen3', DISCOCLAW_SUMMARY_EVERY_N_TURNS: '3' },
    model: answeringBy({
      chat: ({ messages = [] }) =>
        messages.at(-1)?.content.some(({ type }) => type === 'tool_result') === true
          ? { text: 'Noted.' }
          : answer,
      summary: () => ({ json: { summary: '<think>private words</think>They say hello.' } }),
    }),
  });
  const samples = fc.sample(fc.tuple(answers, fc.integer({ min: 1, max: 40 })), runs(300, 40));
  for (const [index, [{ raw, shown }, length]] of samples.entries()) {
    answer = inPieces(raw, length);
    const { text } = await stage.ask('alice', 'dm', `What now, for the ${index}th time?`);
    for (const piece of shown) expect({ raw, text }).toEqual({ raw, text: expect.stringContaining(piece) });
  }
  const sent = await stage.sandbox.requests();
  expect(
    sent.flatMap(({ method, body }) => (method === 'GET' ? [] : [JSON.stringify(body)])).join('\n'),
  ).not.toContain(privateWords);
  const kept = await stage.kept();
  expect(kept.filter(({ text }) => text.includes(privateWords))).toEqual([]);
  expect(
    stage.model.requests.filter(
      ({ raw }) => raw.includes(privateWords) && !raw.includes(`"quote":"${privateWords}"`),
    ),
  ).toEqual([]);
});

it('no mark of a template reaches the model, wherever it was written [M12]', async () => {
  await using stage = await openStage({ model: answeringBy({}) });
  const all = templateMarks.join(' ');
  await stage.ask('alice', 'dm', `!memory remember I like ${all}`);
  await stage.ask('alice', 'dm', `Hello ${all}`);
  await stage.ask('alice', 'dm', `And again ${all}`);
  expect(stage.model.requests.length).toBeGreaterThan(1);
  for (const { raw } of stage.model.requests)
    expect(templateMarks.filter((mark) => raw.includes(JSON.stringify(mark).slice(1, -1)))).toEqual([]);
});
