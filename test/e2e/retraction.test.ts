import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterAll, beforeAll, expect, it } from 'vitest';

import { answeringBy, callsOf, chatCall, historyIn, newestOf, toldIn } from './model-calls.ts';
import type { Answers } from './model-calls.ts';
import { openStage } from './stage.ts';
import type { Stage } from './stage.ts';

const answers: Answers = {};
const soon = { timeout: 10_000, interval: 50 };
let stage: Stage;

beforeAll(async () => {
  stage = await openStage({
    environment: {
      DISCOCLAW_SUMMARY_EVERY_N_TURNS: '1',
      DISCOCLAW_SUMMARY_TO_DURABLE_ENABLED: 'true',
      DISCOCLAW_SHORTTERM_MEMORY_ENABLED: 'true',
    },
    model: answeringBy(answers),
  });
});
afterAll(() => stage[Symbol.asyncDispose]());

/** Extraction stores one item, in the words of the newest message that holds them. */
function extracting(quote: string): void {
  answers.extraction = (body) => {
    const told = body.messages?.[0]?.content[0]?.text ?? '';
    const line = told.split('\n').findLast((each) => each.includes(quote));
    const messageId = /\[(?<id>\d+)\]/u.exec(line ?? '')?.groups?.['id'] ?? '';
    return { json: { items: line === undefined ? [] : [{ kind: 'fact', text: quote, quote, messageId }] } };
  };
}

/** A file that the bot is just writing may be gone by its temporary name. */
function readIfThere(path: string): Promise<string> {
  return readFile(path, 'utf8').catch(() => '');
}

/** All files of the data folder in which a word stands, but for the items, which keep their history for their owner [D6]. */
async function filesWith(word: string): Promise<readonly string[]> {
  const folder = join(stage.folder, 'data');
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries.flatMap((entry) => (entry.isFile() ? [join(entry.parentPath, entry.name)] : []));
  const texts = await Promise.all(paths.map(async (path) => ({ path, text: await readIfThere(path) })));
  return texts.flatMap(({ path, text }) =>
    text.includes(word) && !path.includes('durable.json') ? [path.slice(folder.length + 1)] : [],
  );
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
  await stage.sandbox.waitForReply({ in: '#general', after: said.id });
  await stage.ask('alice', '#general', 'and what else?');
  await expect.poll(() => show('alice', '#general'), soon).toContain('[fact] I breed axolotls (src: summary');
  await expect
    .poll(() => show('alice', '#general'), soon)
    .toContain('Rolling summary:\nThey breed axolotls.');
  expect(toldIn(await chatCall(stage, 'alice', '#dev', 'something else'))).toContain('axolotls');
  expect(await filesWith('axolotls')).not.toEqual([]);

  delete answers.extraction;
  await stage.sandbox.delete({ message: said.id });
  await expect.poll(() => filesWith('axolotls'), soon).toEqual([]);

  for (const place of ['#general', '#dev']) {
    const call = await chatCall(stage, 'alice', place, 'what do you know?');
    expect(toldIn(call)).not.toContain('axolotls');
  }
  await expect.poll(() => show('alice', '#general'), soon).toContain('They said hello.');
  expect(await show('alice', 'dm')).toContain('Durable memory (0 items):');
  const summarised = callsOf(stage, 'summary').slice(-3).map(toldIn).join('');
  expect(summarised).toContain('alice: and what else?');
  expect(toldIn(newestOf(stage, 'summary'))).not.toContain('axolotls');
  expect(await filesWith('axolotls')).toEqual([]);

  await stage.killBot();
  await stage.startBot();
  expect(toldIn(await chatCall(stage, 'alice', '#general', 'and now?'))).not.toContain('axolotls');
});

it('edits an edited message in log and history, and makes anew what was made of it [G5]', async () => {
  answers.summary = ({ messages }) => {
    const told = messages?.[0]?.content[0]?.text ?? '';
    return { text: told.includes('zither') ? 'They play the zither.' : 'They play the lute.' };
  };
  extracting('I play the zither');
  const said = await stage.sandbox.say({ as: 'bob', in: '#general', text: 'I play the zither' });
  await stage.sandbox.waitForReply({ in: '#general', after: said.id });
  await expect.poll(() => show('bob', '#general'), soon).toContain('[fact] I play the zither');
  await expect.poll(() => show('bob', '#general'), soon).toContain('They play the zither.');

  extracting('I play the lute');
  await stage.sandbox.edit({ message: said.id, text: 'I play the lute' });
  await expect.poll(() => filesWith('zither'), soon).toEqual([]);
  const log = await stage.readFile(`data/sessions/${said.channelId}/${said.author.id}/messages.jsonl`);
  expect(log).toContain('I play the lute');

  const call = await chatCall(stage, 'bob', '#general', 'what do I play?');
  expect(historyIn(call).map(({ text }) => text)).toContain('bob: I play the lute\n');
  expect(toldIn(call)).not.toContain('zither');
  await expect.poll(() => show('bob', '#general'), soon).toContain('They play the lute.');
  expect(await show('bob', 'dm')).not.toContain('zither');
});
