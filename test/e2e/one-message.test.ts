import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import type { MessageView } from '../../src/sandbox/people/views.ts';
import { deferred } from '../support/deferred.ts';
import type { MessagesBody } from '../support/model-server.ts';
import { footerIn, withFooter } from './footers.ts';
import { command, toldIn } from './memory-talk.ts';
import { answeringBy, callsOf, chatCall, type Answers } from './model-calls.ts';
import { openStage, type Stage } from './stage.ts';

const answers: Answers = {};
let stage: Stage;

beforeEach(async () => {
  stage = await openStage({
    model: answeringBy(answers),
    environment: { DISCOCLAW_SUMMARY_TO_DURABLE_ENABLED: 'true', DISCOCLAW_SUMMARY_ENABLED: 'false' },
  });
});

afterEach(async () => {
  for (const kind of ['chat', 'extraction', 'missed'] as const) delete answers[kind];
  await stage[Symbol.asyncDispose]();
});

const hasToolResult = ({ messages = [] }: MessagesBody): boolean =>
  messages.at(-1)?.content.some(({ type }) => type === 'tool_result') === true;

/** The model stores these pieces of the next message, and says so. */
function storing(...quotes: readonly string[]): void {
  answers.chat = (body) =>
    hasToolResult(body)
      ? { text: 'All noted.' }
      : { toolUse: quotes.map((quote) => ({ name: 'remember_item', input: { kind: 'preference', quote } })) };
}

/** Extraction finds this in the message that holds it, once `held` is over. */
function finding(quote: string, held?: Promise<unknown>): void {
  answers.extraction = ({ messages = [] }) => {
    const lines = messages.flatMap(({ content }) => content.flatMap(({ text = '' }) => text.split('\n')));
    const [, messageId = ''] = /\[(\d+)\]/u.exec(lines.find((line) => line.includes(quote)) ?? '') ?? [];
    return { json: { items: messageId === '' ? [] : [{ kind: 'preference', quote, messageId }] }, held };
  };
}

/** How often the bot wrote to a channel, by method. */
async function writesTo(channelId: string) {
  const all = await stage.sandbox.requests();
  const paths = all.filter(({ path }) => path.includes(`/channels/${channelId}/messages`));
  const count = (method: string) => paths.filter((request) => request.method === method).length;
  return { created: count('POST'), edited: count('PATCH') };
}

const labelsOf = ({ components }: MessageView) =>
  components.rows.flatMap(({ buttons }) => buttons.map(({ label }) => label ?? ''));

async function pressed(as: string, message: string, label: string): Promise<MessageView> {
  const { followUps, answer } = await stage.sandbox.click({ as, message, label, followUps: 1 });
  const told = followUps[0] ?? answer;
  if (told === undefined) throw new Error(`${label} told nothing`);
  return told;
}

const lines = /💾|Remembered|-# /u;

describe('one answer is one message [K6]', () => {
  it('with several things stored in it, under one button that lists them to their person alone', async () => {
    storing('I like green tea', 'I like rum');
    const answer = await stage.ask('bob', '#dev', 'I like green tea. I like rum.');
    const told = await withFooter(stage, answer, '💾 Remembered 2 things');
    expect(told.text).toBe('All noted.\n-# 💾 Remembered 2 things');
    expect(labelsOf(told)).toEqual(['Undo', '❔']);
    expect((await writesTo(answer.channelId)).created).toBe(1);

    const list = await pressed('bob', told.id, 'Undo');
    expect(list).toMatchObject({ isEphemeral: true });
    expect(list.text).toMatch(/1\. "I like green tea\."\n2\. "I like rum\."$/u);
    expect(labelsOf(list)).toEqual(['Undo 1', 'Only in DM 1', 'Undo 2', 'Only in DM 2']);
    expect((await pressed('bob', list.id, 'Undo 2')).text).toContain('Undone');
    const shown = await command(stage, '/memory', 'bob', '#dev', 'show');
    expect(shown).toContain('green tea');
    expect(shown).not.toContain('rum');
  });

  it('to which an edit adds what is noticed after it', async () => {
    finding('I like mate');
    const answer = await stage.ask('bob', '#dev', 'I like mate.');
    const told = await withFooter(stage, answer, 'Remembered: "I like mate."');
    expect(told.text).toBe('Understood.\n-# 💾 Remembered: "I like mate."');
    expect(labelsOf(told)).toEqual(['Undo', 'Only in DM']);
    expect(await writesTo(answer.channelId)).toEqual({ created: 1, edited: 1 });
    expect((await pressed('bob', told.id, 'Undo')).text).toContain('Undone');
  });

  it('whose footer tells what was stored in it and after it, with one button', async () => {
    storing('I like green tea');
    finding('I like mate');
    const answer = await stage.ask('bob', '#dev', 'I like green tea. I like mate.');
    const told = await withFooter(stage, answer, 'I like mate');
    expect(footerIn(told)).toContain('I like green tea');
    expect(labelsOf(told)).toEqual(['Undo', '❔']);
    // An edit notifies nobody.
    expect((await writesTo(answer.channelId)).created).toBe(1);
    expect((await pressed('bob', told.id, 'Undo')).text).toContain('I like mate.');
  });

  it.each(['#dev', '@bob'])(
    'of which neither a cold history nor reading the channel knows the footer, in %s',
    async (place) => {
      storing('I like green tea', 'I like rum');
      const first = await stage.ask('bob', place, 'I like green tea. I like rum.');
      await withFooter(stage, first, '💾');
      delete answers.chat;
      finding('I like mate');
      await withFooter(stage, await stage.ask('bob', place, 'I like mate.'), 'I like mate');

      await stage.stopBot();
      await stage.startBot();
      const cold = await chatCall(stage, 'bob', place, 'What did I say?');
      expect(toldIn(cold)).toContain('All noted.');
      expect(toldIn(cold).split('All noted.').at(-1)).not.toMatch(lines);
      let isAsked = false;
      answers.chat = (body) => {
        if (hasToolResult(body)) return { text: 'That was all.' };
        isAsked = true;
        return { toolUse: [{ name: 'read_channel', input: {} }] };
      };
      await stage.ask('carol', '#dev', 'What did I miss?');
      expect(isAsked).toBe(true);
      const results = callsOf(stage, 'chat').flatMap(({ body }) =>
        (body.messages ?? []).flatMap(({ content }) => content.filter(({ type }) => type === 'tool_result')),
      );
      const read = JSON.stringify(results.at(-1));
      expect(read).not.toMatch(lines);
      expect(read.includes('I like mate.')).toBe(place === '#dev');
    },
  );

  it('in which no line of the model’s poses as the program’s', async () => {
    answers.chat = () => ({ text: 'Well.\n-# 💾 Remembered: "You like rum"\n```\n-# code\n```\n-# the end' });
    const answer = await stage.ask('bob', '#dev', 'Hello');
    await expect
      .poll(async () => (await stage.sandbox.messages({ in: '#dev', from: 'bot' })).at(-1)?.text)
      .toBe('Well.\n\\-# 💾 Remembered: "You like rum"\n```\n-# code\n```\n\\-# the end');
    expect(footerIn(answer)).toBe('');
  });

  it('or the next one, where it was deleted before something was noticed', async () => {
    const isGone = deferred<void>();
    finding('I like mate', isGone.promise);
    const answer = await stage.ask('bob', '#dev', 'I like mate.');
    await stage.sandbox.delete({ message: answer.id });
    isGone.resolve(undefined);
    await expect.poll(() => command(stage, '/memory', 'bob', '#dev', 'show')).toContain('I like mate');
    delete answers.extraction;
    const next = await stage.ask('bob', '#dev', 'And now?');
    expect((await withFooter(stage, next, 'I like mate')).text).toMatch(/^Understood\.\n-# 💾 Remembered: /u);
  });
});
