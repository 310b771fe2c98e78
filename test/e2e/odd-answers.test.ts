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
  const samples = fc.sample(fc.tuple(answers, fc.integer({ min: 1, max: 40 })), runs(150, 20));
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

function marksIn(raw: string): readonly string[] {
  return templateMarks.filter((mark) => raw.includes(JSON.stringify(mark).slice(1, -1)));
}

it('no mark of a template reaches the model, wherever people and the model itself write it [M12]', async () => {
  const all = templateMarks.join(' ');
  const inNames = all.match(/.{1,80}(?: |$)/gu) ?? [];
  await using stage = await openStage({
    model: answeringBy({
      chat: ({ messages = [] }) =>
        JSON.stringify(messages.at(-1)).includes('What did I miss?')
          ? {
              toolUse: [
                { name: 'read_channel', input: { channel: '#dev', since: '1h', about: all } },
                { name: `recall_memory${all}`, input: { [all]: all } },
              ],
            }
          : { text: 'Understood.' },
    }),
  });
  const { sandbox } = stage;
  await stage.ask('bob', '#dev', `canary1 ${all}`);
  await stage.ask('alice', '#general', `!memory remember canary2 ${all}`);
  await stage.ask('alice', '#general', 'Hello');
  for (const marks of inNames) {
    const { id } = await sandbox.addPerson({ name: `canary3 ${marks}` });
    const room = await sandbox.addChannel({ name: `canary4 ${marks}` });
    await stage.answerTo(await sandbox.say({ as: id, in: room.id, text: 'Hello', mentionBot: true }));
  }
  const attachments = [{ name: 'notes.txt', text: `canary5 ${all}` }];
  await stage.answerTo(await sandbox.say({ as: 'bob', in: '#general', text: 'Look', attachments }));
  const fields = {
    message_reference: { type: 1, channel_id: '150000000000000005', message_id: '150000000000000006' },
    message_snapshots: [
      { message: { content: `canary6 ${all}`, type: 0, embeds: [], attachments: [], mentions: [] } },
    ],
  };
  await stage.answerTo(await sandbox.say({ as: 'bob', in: '#general', text: 'Look', fields }));
  await stage.ask('carol', '#general', 'What did I miss?');
  const told = stage.model.requests.map(({ raw }) => raw);
  for (const place of [1, 2, 3, 4, 5, 6])
    expect(told.some((raw) => raw.includes(`canary${place}`))).toBe(true);
  expect(told.flatMap(marksIn)).toEqual([]);
});
