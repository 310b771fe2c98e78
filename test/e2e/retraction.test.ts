import { afterAll, expect, it } from 'vitest';

import {
  answeringBy,
  callsOf,
  chatCall,
  historyIn,
  newestOf,
  toldIn,
  withoutDate,
  type Answers,
} from './model-calls.ts';
import { openStage } from './stage.ts';

const answers: Answers = {};

const stage = await openStage({
  environment: {
    DISCOCLAW_SUMMARY_EVERY_N_TURNS: '1',
    DISCOCLAW_SUMMARY_TO_DURABLE_ENABLED: 'true',
    DISCOCLAW_SHORTTERM_MEMORY_ENABLED: 'true',
  },
  model: answeringBy(answers),
});
afterAll(() => stage[Symbol.asyncDispose]());

/** Extraction stores one item, in the words of the newest message that holds them. */
function extracting(quote: string): void {
  answers.extraction = (body) => {
    const told = body.messages?.[0]?.content[0]?.text ?? '';
    const line = told.split('\n').findLast((each) => each.includes(quote));
    const messageId = /\[(?<id>\d+)\]/u.exec(line ?? '')?.groups?.['id'] ?? '';
    return { json: { items: line === undefined ? [] : [{ kind: 'fact', quote, messageId }] } };
  };
}

/** The files in which a word stands, but for the items, which keep their history for their owner [D6]. */
async function filesWith(word: string): Promise<readonly string[]> {
  return (await stage.pathsWith(word)).filter((path) => !path.includes('durable.json'));
}

function show(name: string, place: string): Promise<string> {
  return stage.ask(name, place, '!memory show').then(({ text }) => text);
}

it('takes a deleted message out of log, history, summary, other channels and extracted items [G5]', async () => {
  answers.summary = ({ messages }) => {
    const told = messages?.[0]?.content[0]?.text ?? '';
    return { text: told.includes('axolotls') ? 'They breed axolotls.' : 'They said hello.' };
  };
  extracting('I breed axolotls');
  await stage.ask('alice', '#general', 'hello there');
  const said = await stage.sandbox.say({ as: 'alice', in: '#general', text: 'I breed axolotls' });
  await stage.answerTo(said);
  await stage.ask('alice', '#general', 'and what else?');
  await expect.poll(() => show('alice', '#general')).toContain('[fact] I breed axolotls (src: summary');
  await expect.poll(() => show('alice', '#general')).toContain('Rolling summary:\nThey breed axolotls.');
  expect(toldIn(await chatCall(stage, 'alice', '#dev', 'something else'))).toContain('axolotls');
  expect(await filesWith('axolotls')).not.toEqual([]);

  delete answers.extraction;
  const callsBefore = callsOf(stage, 'summary').length;
  await stage.sandbox.delete({ message: said.id });
  await expect.poll(() => filesWith('axolotls')).toEqual([]);

  for (const place of ['#general', '#dev']) {
    const call = await chatCall(stage, 'alice', place, 'what do you know?');
    expect(toldIn(call)).not.toContain('axolotls');
  }
  await expect.poll(() => show('alice', '#general')).toContain('They said hello.');
  expect(await show('alice', 'dm')).toContain('Durable memory (0 items):');
  const summarised = () => callsOf(stage, 'summary').slice(callsBefore).map(toldIn).join('');
  await expect.poll(summarised).toContain('alice: and what else?');
  expect(toldIn(newestOf(stage, 'summary'))).not.toContain('axolotls');

  await stage.restart();
  expect(toldIn(await chatCall(stage, 'alice', '#general', 'and now?'))).not.toContain('axolotls');
});

it('edits an edited message in log and history, and rebuilds what was made of it [G5]', async () => {
  answers.summary = ({ messages }) => {
    const told = messages?.[0]?.content[0]?.text ?? '';
    return { text: told.includes('zither') ? 'They play the zither.' : 'They play the lute.' };
  };
  extracting('I play the zither');
  const said = await stage.sandbox.say({ as: 'bob', in: '#general', text: 'I play the zither' });
  await stage.answerTo(said);
  await expect.poll(() => show('bob', '#general')).toContain('[fact] I play the zither');
  await expect.poll(() => show('bob', '#general')).toContain('They play the zither.');

  extracting('I play the lute');
  await stage.sandbox.edit({ message: said.id, text: 'I play the lute' });
  await expect.poll(() => filesWith('zither')).toEqual([]);
  // Nobody says anything more, and yet it is looked at again: once, also after a start.
  await expect.poll(() => show('bob', 'dm')).toContain('[fact] I play the lute (src: summary');
  const lookedAt = () =>
    callsOf(stage, 'extraction')
      .filter((call) => toldIn(call).includes(`[${said.id}]`))
      .map(toldIn);
  // One person's work is done in order: when this is looked at, the edit is done with.
  await stage.ask('bob', 'dm', 'That is all');
  await expect
    .poll(() => callsOf(stage, 'extraction').some((call) => toldIn(call).includes('That is all')))
    .toBe(true);
  expect(lookedAt()).toHaveLength(2);
  await stage.restart();
  const log = await stage.logOf(said);
  expect(log).toContain('I play the lute');

  const call = await chatCall(stage, 'bob', '#general', 'what do I play?');
  expect(historyIn(call).map(({ text }) => withoutDate(text))).toContain('bob: I play the lute\n');
  expect(toldIn(call)).not.toContain('zither');
  await expect.poll(() => show('bob', '#general')).toContain('They play the lute.');
  expect(await show('bob', 'dm')).not.toContain('zither');
  expect(lookedAt()).toHaveLength(2);
});

it('finds out after a stop what was edited and deleted meanwhile', async () => {
  const { name } = await stage.newcomer();
  const [gone, changed] = [
    await stage.sandbox.say({ as: name, in: 'dm', text: 'I owe money to a walrus' }),
    await stage.sandbox.say({ as: name, in: '#dev', text: 'I live near a narwhal' }),
  ];
  for (const { id, channelId } of [gone, changed])
    await stage.sandbox.waitForReply({ in: channelId, after: id, settleMs: 100 });
  await expect.poll(() => stage.logOf(changed)).toContain('assistant');
  await stage.stopBot();
  await stage.sandbox.delete({ message: gone.id });
  await stage.sandbox.edit({ message: changed.id, text: 'I live near a museum' });
  await stage.startBot();
  await expect.poll(() => filesWith('walrus')).toEqual([]);
  await expect.poll(() => filesWith('narwhal')).toEqual([]);
  expect(await stage.logOf(changed)).toContain('near a museum');
  const answered = await stage.sandbox.messages({ in: changed.channelId, after: changed.id, from: 'bot' });
  expect(answered.filter(({ replyTo }) => replyTo === changed.id)).toHaveLength(1);
});

it('keeps from the model what long answers repeat of a message that was deleted or edited, the first one too [G5]', async () => {
  const long = Array.from({ length: 60 }, (_, at) => `A quagga has a life of ${at} chapters of its own.`);
  answers.chat = ({ messages }) => {
    const told = JSON.stringify(messages?.at(-1)?.content);
    return { text: told.includes('quagga') ? long.join('\n') : 'Understood.' };
  };
  const first = await stage.newcomer();
  const second = await stage.newcomer();
  const deleted = await stage.sandbox.say({ as: first.name, in: 'dm', text: 'I keep a quagga' });
  const edited = await stage.sandbox.say({ as: second.name, in: 'dm', text: 'I keep a quagga' });
  for (const { id, channelId } of [deleted, edited])
    await stage.sandbox.waitForReply({ in: channelId, after: id, settleMs: 1000 });
  for (const said of [deleted, edited]) await expect.poll(() => stage.logOf(said)).toContain('assistant');
  await stage.sandbox.delete({ message: deleted.id });
  await stage.sandbox.edit({ message: edited.id, text: 'I keep a horse' });
  await expect.poll(() => filesWith('quagga')).toEqual([]);
  for (const { name } of [first, second])
    expect(toldIn(await chatCall(stage, name, 'dm', 'and now?'))).not.toContain('quagga');
  await stage.restart();
  for (const { name } of [first, second])
    expect(toldIn(await chatCall(stage, name, 'dm', 'and then?'))).not.toContain('quagga');
});
