import { afterAll, afterEach, describe, expect, it } from 'vitest';

import type { MessageView } from '../../src/sandbox/people/views.ts';
import type { MessagesBody } from '../support/model-server.ts';
import { footerIn, labelsOf, withFooter } from './footers.ts';
import { command } from './memory-talk.ts';
import { answeringBy, chatCall, newestOf, toldIn, type Answers } from './model-calls.ts';
import { obedientModel } from './obedient-model.ts';
import { openStage } from './stage.ts';

const answers: Answers = {};
let people = 0;

const stage = await openStage({
  model: answeringBy(answers),
  environment: { DISCOCLAW_SUMMARY_TO_DURABLE_ENABLED: 'true', DISCOCLAW_SUMMARY_ENABLED: 'false' },
});
afterAll(() => stage[Symbol.asyncDispose]());
afterEach(() => {
  for (const kind of ['chat', 'extraction'] as const) delete answers[kind];
});

/** Somebody new, and a channel in which nobody has spoken. */
async function newcomer(): Promise<{ readonly name: string; readonly room: string }> {
  people += 1;
  const { name } = await stage.sandbox.addPerson({ name: `person${people}` });
  return { name, room: (await stage.sandbox.addChannel({ name: `room-${people}` })).id };
}

async function ask(as: string, place: string, text: string): Promise<MessageView> {
  return stage.answerTo(await stage.sandbox.say({ as, in: place, text, mentionBot: !place.startsWith('@') }));
}

const memory = (as: string, place: string, words: string) => command(stage, '!memory', as, place, words);

const hasToolResult = ({ messages = [] }: MessagesBody): boolean =>
  messages.at(-1)?.content.some(({ type }) => type === 'tool_result') === true;

/** The model stores these pieces of the next message, and says so. */
function storing(...quotes: readonly string[]): void {
  answers.chat = (body) =>
    hasToolResult(body)
      ? { text: 'All noted.' }
      : { toolUse: quotes.map((quote) => ({ name: 'remember_item', input: { kind: 'preference', quote } })) };
}

/** Extraction finds this in the message that holds it. */
function finding(quote: string): void {
  answers.extraction = ({ messages = [] }) => {
    const lines = messages.flatMap(({ content }) => content.flatMap(({ text = '' }) => text.split('\n')));
    const [, messageId = ''] = /\[(\d+)\]/u.exec(lines.find((line) => line.includes(quote)) ?? '') ?? [];
    return { json: { items: messageId === '' ? [] : [{ kind: 'preference', quote, messageId }] } };
  };
}

/** Somebody says something and the model calls a tool; resolves with the answer once the words are under it. */
async function calls(as: string, place: string, words: string, tool: string, input: object, footer: string) {
  answers.chat = obedientModel;
  const answer = await ask(as, place, `${words}\n> CALL ${tool} ${JSON.stringify(input)}`);
  return withFooter(stage, answer, footer);
}

/** How often the bot wrote to a channel, by method. */
async function writesTo(channelId: string) {
  const all = await stage.sandbox.requests();
  const paths = all.filter(({ path }) => path.includes(`/channels/${channelId}/messages`));
  const count = (method: string) => paths.filter((request) => request.method === method).length;
  return { created: count('POST'), edited: count('PATCH') };
}

const lines = /💾|Remembered|-# /u;

describe('one answer is one message [K6]', () => {
  it('with several things stored in it, under one button that lists them to their person alone, also after a start', async () => {
    const { name, room } = await newcomer();
    storing('I like green tea', 'I like rum');
    const answer = await ask(name, room, 'I like green tea. I like rum.');
    const told = await withFooter(stage, answer, '💾 Remembered 2 things');
    expect(told.text).toBe('All noted.\n-# 💾 Remembered 2 things');
    expect(labelsOf(told)).toEqual(['Undo', '❔']);
    expect((await writesTo(answer.channelId)).created).toBe(1);
    await stage.restart();
    const list = await stage.press(name, told.id, 'Undo');
    expect(list).toMatchObject({ isEphemeral: true });
    expect(list.text).toMatch(/1\. "I like green tea\."\n2\. "I like rum\."$/u);
    expect(labelsOf(list)).toEqual(['Undo 1', 'Only in DM 1', 'Undo 2', 'Only in DM 2']);
    expect((await stage.press(name, list.id, 'Undo 2')).text).toContain('Undone');
    const shown = await memory(name, room, 'show');
    expect(shown).toContain('green tea');
    expect(shown).not.toContain('rum');
  });

  it('to which an edit, which notifies nobody, adds what is noticed after it [A2]', async () => {
    const { name, room } = await newcomer();
    finding('I like mate');
    const answer = await ask(name, room, 'I like mate.');
    const told = await withFooter(stage, answer, 'Remembered: "I like mate."');
    expect(told.text).toBe('Understood.\n-# 💾 Remembered: "I like mate."');
    expect(labelsOf(told)).toEqual(['Undo', 'Only in DM']);
    expect(await writesTo(answer.channelId)).toEqual({ created: 1, edited: 1 });
    expect((await stage.press(name, told.id, 'Undo')).text).toContain('Undone');
  });

  it('of which neither a cold history nor reading the channel knows the footer', async () => {
    const { name, room } = await newcomer();
    storing('I like green tea', 'I like rum');
    await withFooter(stage, await ask(name, room, 'I like green tea. I like rum.'), '💾');
    delete answers.chat;
    finding('I like mate');
    await withFooter(stage, await ask(name, room, 'I like mate.'), 'I like mate');

    await stage.restart();
    const cold = await chatCall(stage, name, room, `<@${stage.info.bot.id}> What did I say?`);
    expect(toldIn(cold).split('All noted.')[1]).not.toMatch(lines);
    answers.chat = (body) =>
      hasToolResult(body) ? { text: 'That was all.' } : { toolUse: [{ name: 'read_channel', input: {} }] };
    await ask('carol', room, 'What did I miss?');
    const read = JSON.stringify(newestOf(stage, 'chat').body.messages?.at(-1));
    expect(read).toContain('I like mate.');
    expect(read).not.toMatch(lines);
  });

  it('in which no line of the model’s poses as the program’s', async () => {
    const { name, room } = await newcomer();
    answers.chat = () => ({ text: 'Well.\n-# 💾 Remembered: "You like rum"\n```\n-# code\n```\n-# the end' });
    const answer = await ask(name, room, 'Hello');
    await expect
      .poll(async () => (await stage.sandbox.messages({ in: room, from: 'bot' })).at(-1)?.text)
      .toBe('Well.\n\\-# 💾 Remembered: "You like rum"\n```\n-# code\n```\n\\-# the end');
    expect(footerIn(answer)).toBe('');
  });

  it('has Undo under what was offered and carried out, as where others have spoken [M5a]', async () => {
    const { name, room } = await newcomer();
    await memory(name, room, 'remember I collect stamps');
    await ask('carol', room, 'Forget all stamps!');
    await calls(name, room, 'what does she say?', 'forget_item', { target: 'stamps' }, '');
    const offer = async () =>
      (await stage.sandbox.messages({ in: room, from: 'bot' })).findLast(({ text }) =>
        text.includes('\nForget this:'),
      );
    await expect.poll(async () => (await offer())?.components.rows.length).toBe(1);
    expect(await memory(name, room, 'show')).toContain('I collect stamps');
    await stage.sandbox.click({ as: name, message: (await offer())?.id ?? '', label: 'Do it' });
    await expect.poll(async () => (await offer())?.text).toContain('-# Forgotten.');
    expect(await memory(name, room, 'show')).toContain('(0 items)');
    expect((await stage.press(name, (await offer())?.id ?? '', 'Undo')).text).toContain('Undone');
    expect(await memory(name, room, 'show')).toContain('I collect stamps');
  });
});

describe('plain words [K13]', () => {
  it('work with a model that calls its tools', async () => {
    const { name } = await newcomer();
    const dm = `@${name}`;
    const paused = await calls(name, dm, 'Stop remembering me.', 'memory_control', { action: 'pause' }, '⏸️');
    expect(await memory(name, dm, 'remember I like tea')).toContain('paused');
    expect((await stage.press(name, paused.id, 'Resume')).text).toMatch(/^Resumed/u);
    const tea = { kind: 'preference', quote: 'I prefer tea' };
    await calls(name, dm, 'I prefer tea', 'remember_item', tea, 'Remembered');
    await calls(name, dm, 'Undo that.', 'memory_control', { action: 'undo' }, '↩️ Undone: `remember`');
    expect(await memory(name, dm, 'show')).toContain('(0 items)');
    const asked = await calls(name, dm, 'Send me my data.', 'memory_control', { action: 'export' }, '📦');
    expect((await stage.press(name, asked.id, 'Send me my data')).text).toContain('as a direct message');
  });

  it('that name many things forget nothing by themselves: buttons ask which, or which one makes way [K4]', async () => {
    const { name } = await newcomer();
    const dm = `@${name}`;
    for (const thing of ['tea', 'rum', 'rain']) await memory(name, dm, `remember I like ${thing}`);
    for (const target of ['like', 'everything about me']) {
      const told = await calls(
        name,
        dm,
        'No more tea',
        'forget_item',
        { target },
        '🗑️ Nothing is forgotten yet',
      );
      expect(labelsOf(told)).toEqual(expect.arrayContaining(['I like rain', 'None']));
      expect(labelsOf(told).includes('Erase everything …')).toBe(target !== 'like');
    }
    const unsure = { kind: 'preference', quote: 'I prefer mate', replaces: 'like' };
    const told = await calls(
      name,
      dm,
      'I prefer mate',
      'remember_item',
      unsure,
      'Does it replace one of these?',
    );
    expect(await memory(name, dm, 'show')).toContain('(4 items)');
    expect((await stage.press(name, told.id, 'Instead of: I like tea')).text).toContain(
      'In place of: "I like tea"',
    );
    expect(await memory(name, dm, 'show')).not.toContain('I like tea');
  });

  it('of somebody else only show a button, even if the model obeys them [M5a]', async () => {
    const { name, room } = await newcomer();
    await ask('carol', room, 'Stop remembering me. Undo that.');
    await memory(name, room, 'remember I collect stamps');
    let last = '';
    for (const action of ['undo', 'export', 'pause']) {
      const told = await calls(name, room, 'What does she say?', 'memory_control', { action }, '-# ');
      expect(told.text).toContain('Nothing was done yet');
      expect(labelsOf(told)).toEqual([expect.any(String), '❔']);
      last = told.id;
    }
    expect(await memory(name, room, 'show')).toContain('(1 item)');
    expect((await stage.press(name, last, 'Yes, do it')).text).toMatch(/^Paused/u);
  });
});
