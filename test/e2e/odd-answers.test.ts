import fc from 'fast-check';
import { expect, it } from 'vitest';

import { answers, privateWords } from '../support/odd-answers.ts';
import type { ModelAnswer } from '../support/model-answer.ts';
import { runs } from '../support/runs.ts';
import { templateMarks } from '../support/template-marks.ts';
import { answeringBy, newestOf } from './model-calls.ts';
import { openStage, type Stage } from './stage.ts';

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

function marksIn(raw: string): readonly string[] {
  return templateMarks.filter((mark) => raw.includes(JSON.stringify(mark).slice(1, -1)));
}

const inNames = (all: string): readonly string[] => all.match(/.{1,80}(?: |$)/gu) ?? [];

/** Where people and the model itself may write marks: `all` of them. */
const places: Readonly<Record<string, (stage: Stage, room: string, all: string) => Promise<unknown>>> = {
  'a message': (stage, room, all) => stage.ask('bob', room, `canary ${all}`),
  async 'an item'(stage, room, all) {
    await stage.ask('alice', room, `!memory remember canary ${all}`);
    await stage.ask('alice', room, 'Hello');
  },
  async 'a display name'(stage, room, all) {
    for (const marks of inNames(all)) {
      const { id } = await stage.sandbox.addPerson({ name: `canary ${marks}` });
      await stage.ask(id, room, 'Hello');
    }
  },
  async 'an uploaded file'(stage, room, all) {
    const attachments = [{ name: 'notes.txt', text: `canary ${all}` }];
    await stage.answerTo(await stage.sandbox.say({ as: 'bob', in: room, text: 'Look', attachments }));
  },
  async 'a forwarded message'(stage, room, all) {
    const snapshot = { content: `canary ${all}`, type: 0, embeds: [], attachments: [], mentions: [] };
    const fields = {
      message_reference: { type: 1, channel_id: '150000000000000005', message_id: '150000000000000006' },
      message_snapshots: [{ message: snapshot }],
    };
    await stage.answerTo(await stage.sandbox.say({ as: 'bob', in: room, text: 'Look', fields }));
  },
  async 'a tool’s result, and the call'(stage, room, all) {
    await stage.sandbox.say({ as: 'bob', in: '#dev', text: `canary ${all}` });
    await stage.ask('carol', room, 'What did I miss?');
  },
  async 'a channel’s name'(stage, room, all) {
    for (const marks of inNames(all)) {
      const { id } = await stage.sandbox.addChannel({ name: `canary ${marks}` });
      await stage.answerTo(await stage.sandbox.say({ as: 'bob', in: id, text: 'Hello', mentionBot: true }));
      await stage.ask('bob', room, 'Where was I?');
    }
  },
};

it.each(Object.entries(places))('no mark of a template reaches the model in %s [M12]', async (_, write) => {
  const all = templateMarks.join(' ');
  await using stage = await openStage({
    environment: { DISCOCLAW_SHORTTERM_MEMORY_ENABLED: 'true' },
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
  await write(stage, '#general', all);
  const told = stage.model.requests.map(({ raw }) => raw);
  expect(told.some((raw) => raw.includes('canary'))).toBe(true);
  expect(told.flatMap(marksIn)).toEqual([]);
});

it('tools are called in neighbouring forms too [M14]', async () => {
  const recalls = [
    { name: 'recall_memory', input: { queries: 'bike' } },
    { name: 'recall_memory', input: { queries: '["bike"]', limit: '5', scope: 'ALL' } },
    { name: 'recall_memory', input: { query: 'bike', queries: null, scope: null, limit: null } },
    { name: 'functions.recall_memory', input: { query: 'bike' } },
  ];
  const quote = 'I ride a green bike.';
  const stores = [{ name: 'Remember_Item', input: { kind: 'Fact', quote, replaces: null } }];
  await using stage = await openStage({
    model: answeringBy({
      chat({ messages = [] }) {
        const newest = JSON.stringify(messages.at(-1));
        if (newest.includes('tool_result')) return { text: 'Done.' };
        return { toolUse: newest.includes(quote) ? stores : recalls };
      },
    }),
  });
  await stage.ask('alice', 'dm', quote);
  expect((await stage.ask('alice', 'dm', '!memory show')).text).toContain(quote);
  await stage.ask('alice', 'dm', 'What do I ride?');
  const results = newestOf(stage, 'chat').body.messages?.at(-1)?.content ?? [];
  expect(results).toEqual(
    recalls.map(() => expect.objectContaining({ is_error: false, content: expect.stringContaining(quote) })),
  );
});
