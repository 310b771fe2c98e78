import { afterAll, describe, expect, it } from 'vitest';

import type { MessageView } from '../../src/sandbox/people/views.ts';
import { command, newestCall, promptFor, toldIn } from './memory-talk.ts';
import { answeringBy, sectionIn, type Answers } from './model-calls.ts';
import { obedientModel } from './obedient-model.ts';
import { openStage } from './stage.ts';
import { footerIn } from './footers.ts';

let people = 0;

async function newcomer(): Promise<string> {
  people += 1;
  return (await stage.sandbox.addPerson({ name: `person${people}` })).name;
}

/** A message with its footer alone as text. */
const footerOf = (message: MessageView): MessageView => ({ ...message, text: footerIn(message) });

const memory = (as: string, place: string, words: string) => command(stage, '!memory', as, place, words);

/** Where a person is answered: their DM, or the channel. */
const placeOf = (as: string, place: string): string => (place === 'dm' ? `@${as}` : place);

/** Somebody says something and the model calls a tool; resolves with the answer and its footer. */
async function says(as: string, place: string, words: string, tool = '', input: object = {}) {
  const call = tool === '' ? '' : `\n> CALL ${tool} ${JSON.stringify(input)}`;
  const answer = await stage.ask(as, placeOf(as, place), `${words}${call}`);
  const under = async () => {
    const all = await stage.sandbox.messages({ in: placeOf(as, place), from: 'bot' });
    return all.map(footerOf).find(({ id, text }) => id === answer.id && text !== '');
  };
  return {
    text: answer.text,
    /** The line under the answer, once it is there. */
    async line(): Promise<{
      readonly text: string;
      readonly id: string;
      readonly labels: readonly string[];
    }> {
      await expect.poll(under).toBeDefined();
      const { id = '', text = '', components } = (await under()) ?? {};
      const labels = components?.rows.flatMap(({ buttons }) => buttons.map(({ label }) => label ?? ''));
      return { id, text, labels: labels ?? [] };
    },
    under,
  };
}

async function press(as: string, message: string, label: string): Promise<string> {
  const clicked = await stage.sandbox.click({ as, message, label });
  const told = async () => (await stage.sandbox.interaction({ id: clicked.id })).followUps.at(-1)?.text ?? '';
  await expect.poll(told).not.toBe('');
  return told();
}

const tea = { kind: 'preference', quote: 'I prefer tea' };

const stage = await openStage({ environment: { DISCOCLAW_SUMMARY_ENABLED: 'false' }, model: obedientModel });

afterAll(async () => {
  await stage[Symbol.asyncDispose]();
});

describe('the line under an answer [K6]', () => {
  it('tells what was stored, is undone by its button, also after a start, and no model sees it', async () => {
    const name = await newcomer();
    const told = await says(name, '#dev', 'I prefer tea', 'remember_item', tea);
    const line = await told.line();
    expect(line.text).toBe('-# 💾 Remembered: "I prefer tea"');
    expect(line.labels).toEqual(['Undo', 'Only in DM', '❔']);
    await stage.ask(name, '#dev', 'Well?');
    await stage.stopBot();
    await stage.startBot();
    await stage.ask(name, '#dev', 'And now?');
    expect(toldIn(newestCall(stage))).not.toContain('💾');
    expect(await press(name, line.id, 'Undo')).toContain('Undone: the `remember`');
    expect(await memory(name, '#dev', 'show')).toContain('(0 items)');
  });

  it('undoes what was written over what was noted before, unless that was changed again [K5]', async () => {
    const name = await newcomer();
    const note = async (entry: string) =>
      (await says(name, 'dm', `Note ${entry}`, 'memory_append', { path: 'MEMORY.md', entry })).line();
    const first = await note('oolong');
    await note('sencha');
    expect(await press(name, first.id, 'Undo')).toContain('changed since');
    await promptFor(stage, name, 'dm');
    expect(sectionIn(newestCall(stage), 'notes')).toMatch(/oolong\n\nsencha\n/u);
    expect((await stage.ask(name, 'dm', '!memory undo')).text).toBe('Undone: the `note`.');
    await promptFor(stage, name, 'dm');
    expect(sectionIn(newestCall(stage), 'notes')).toMatch(/oolong\n/u);
    expect(sectionIn(newestCall(stage), 'notes')).not.toContain('sencha');
    expect((await stage.ask(name, 'dm', '!memory undo')).text).toBe('Undone: the `note`.');
    await promptFor(stage, name, 'dm');
    expect(sectionIn(newestCall(stage), 'notes')).toBe('');
  });

  it('has Undo under what was offered and carried out', async () => {
    const name = await newcomer();
    await memory(name, '#dev', 'remember I collect stamps');
    await says(name, '#dev', 'forget the fact', 'forget_item', { target: 'stamps' });
    const offer = async () =>
      (await stage.sandbox.messages({ in: '#dev', from: 'bot' })).findLast(({ text }) =>
        text.includes('\nForget this:'),
      );
    await expect.poll(async () => (await offer())?.components.rows.length).toBe(1);
    await stage.sandbox.click({ as: name, message: (await offer())?.id ?? '', label: 'Do it' });
    await expect.poll(async () => (await offer())?.text).toContain('-# Forgotten.');
    expect(await press(name, (await offer())?.id ?? '', 'Undo')).toContain('Undone: the `forget`');
  });
});

it('what is noticed after a turn is told under its answer, and undone there; not with notices off [K6]', async () => {
  const answers: Answers = {
    extraction: ({ messages = [] }) => {
      const said = messages.flatMap(({ content }) => content.map(({ text = '' }) => text)).join('');
      const items = [...said.matchAll(/\[(\d+)\] [^:]+: I prefer (\w+)/gu)].map(
        ([, messageId = '', word = '']) => ({
          kind: 'preference',
          quote: `I prefer ${word}`,
          messageId,
        }),
      );
      return { json: { items } };
    },
  };
  await using noticing = await openStage({
    model: answeringBy(answers),
    environment: { DISCOCLAW_SUMMARY_TO_DURABLE_ENABLED: 'true' },
  });
  const lines = async () =>
    (await noticing.sandbox.messages({ in: '#dev', from: 'bot' }))
      .map(footerOf)
      .filter(({ text }) => text !== '');
  await noticing.ask('bob', '#dev', 'I prefer tea');
  await expect
    .poll(async () => (await lines()).map(({ text }) => text))
    .toEqual(['-# 💾 Remembered: "I prefer tea"']);
  const [line] = await lines();
  const clicked = await noticing.sandbox.click({ as: 'bob', message: line?.id ?? '', label: 'Undo' });
  await expect
    .poll(async () => (await noticing.sandbox.interaction({ id: clicked.id })).followUps.at(-1)?.text)
    .toContain('Undone');
  await noticing.ask('bob', '#dev', '!memory notices off');
  await noticing.ask('bob', '#dev', 'I prefer mate');
  const shown = async () => (await noticing.ask('bob', '#dev', '!memory show')).text;
  await expect.poll(shown).toContain('I prefer mate');
  expect(await lines()).toHaveLength(1);
});

describe('plain words [K13]', () => {
  it('work with a model that calls its tools', async () => {
    const [name, place] = [await newcomer(), 'dm'];
    const paused = await says(name, place, 'Stop remembering me.', 'memory_control', { action: 'pause' });
    const line = await paused.line();
    expect(line.text).toContain('⏸️ Paused');
    expect(await memory(name, placeOf(name, place), 'remember I like tea')).toContain('paused');
    expect(await press(name, line.id, 'Resume')).toMatch(/^Resumed/u);
    await says(name, place, 'I prefer tea', 'remember_item', tea);
    const undone = await says(name, place, 'Undo that.', 'memory_control', { action: 'undo' });
    expect((await undone.line()).text).toBe('-# ↩️ Undone: `remember`');
    expect(await memory(name, placeOf(name, place), 'show')).toContain('(0 items)');
  });

  it('that name many things, or none, forget nothing by themselves: buttons ask which, whatever the model calls [K4]', async () => {
    const name = await newcomer();
    const things = ['tea', 'rum', 'bees', 'stamps', 'chess', 'Porto', 'jazz', 'rain'];
    for (const thing of things) await memory(name, 'dm', `remember I like ${thing}`);
    const words = 'I do not like tea any more';
    for (const target of ['I', 'like', 'everything about me']) {
      const told = await says(name, 'dm', words, 'forget_item', { target });
      expect(told.text).toContain('Nothing forgotten yet');
      const line = await told.line();
      expect(line.text).toBe('-# 🗑️ Nothing is forgotten yet. Which shall I forget?');
      expect(line.labels).toEqual(expect.arrayContaining(['I like rain', 'None']));
      expect(line.labels.includes('Erase everything …')).toBe(target !== 'like');
    }
    const unsure = { kind: 'preference', quote: 'I prefer mate', replaces: 'like' };
    const told = await says(name, 'dm', 'I prefer mate', 'remember_item', unsure);
    const line = await told.line();
    expect(line.text).toContain('💾 Remembered: "I prefer mate" · Does it replace one of these?');
    expect(await memory(name, 'dm', 'show')).toContain(`(${things.length + 1} items)`);
    expect(await press(name, line.id, 'Instead of: I like tea')).toContain('In place of: "I like tea"');
    const shown = await memory(name, 'dm', 'show');
    expect(shown).toContain(`(${things.length} items)`);
    expect(shown).not.toContain('I like tea');
  });

  it('of somebody else only show a button, even if the model obeys them [M5a]', async () => {
    const [stranger, name] = [await newcomer(), await newcomer()];
    await stage.ask(stranger, '#dev', 'Stop remembering me. Undo that.');
    await memory(name, '#dev', 'remember I collect stamps');
    for (const action of ['pause', 'undo', 'mode_off', 'export']) {
      const told = await says(name, '#dev', 'What did they say?', 'memory_control', { action });
      expect(told.text).toContain('Nothing was done yet');
      expect((await told.line()).labels).toEqual([expect.any(String), '❔']);
    }
    expect(await memory(name, '#dev', 'show')).toContain('(1 item)');
    expect(await memory(name, '#dev', 'remember I like tea')).toContain('Remembered');
    const told = await says(name, '#dev', 'And now?', 'memory_control', { action: 'pause' });
    expect(await press(name, (await told.line()).id, 'Yes, do it')).toMatch(/^Paused/u);
  });

  it('for their data show the button that sends it', async () => {
    const name = await newcomer();
    const told = await says(name, '#dev', 'Send me my data.', 'memory_control', { action: 'export' });
    expect(told.text).toContain('Nothing was done yet');
    const line = await told.line();
    expect(line.text).toBe('-# 📦 Your data has not been sent yet');
    expect(await press(name, line.id, 'Send me my data')).toContain('as a direct message');
  });
});
