import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import type { MessageView } from '../../src/sandbox/people/views.ts';
import { laterBy } from './later.ts';
import { command } from './memory-talk.ts';
import { answeringBy, callsOf, chatCall, sectionIn, systemIn, toldIn, type Answers } from './model-calls.ts';
import { openStage, type Stage } from './stage.ts';

const answers: Answers = {};
const everyLayer = {
  DISCOCLAW_SUMMARY_TO_DURABLE_ENABLED: 'true',
  DISCOCLAW_SHORTTERM_MEMORY_ENABLED: 'true',
  DISCOCLAW_SUMMARY_EVERY_N_TURNS: '1',
  DISCOCLAW_REFLECTION_IDLE_MINUTES: '0',
};
const undoForMs = 10 * 60_000;
const weekMs = 7 * 24 * 60 * 60_000;

let stage: Stage;

beforeEach(async () => {
  stage = await openStage({ model: answeringBy(answers), environment: everyLayer });
  answers.summary = () => ({ text: 'Bob keeps an axolotl.' });
});

afterEach(async () => {
  for (const kind of ['chat', 'extraction', 'summary'] as const) delete answers[kind];
  await stage[Symbol.asyncDispose]();
});

/** The extraction finds this in the message that says it, and nothing in others. */
function finding(quote: string): void {
  answers.extraction = ({ messages = [] }) => {
    const told = messages.flatMap(({ content }) => content.map((block) => block.text ?? '')).join('');
    const messageId = new RegExp(`\\[(\\d+)\\] [^\\n]*${quote}`, 'u').exec(told)?.[1];
    return { json: { items: messageId === undefined ? [] : [{ kind: 'fact', quote, messageId }] } };
  };
}

const itemsFile: unknown = expect.stringMatching(/^users\/\d+\/durable\.json$/u);

/** The files of the bot that hold a text, each with its copy, but for the log of what was said. */
async function filesWith(text: string): Promise<readonly string[]> {
  const found = (await stage.kept()).filter((file) => file.text.includes(text)).map(({ path }) => path);
  const files = new Set(found.map((path) => path.replace(/\.bak$/u, '')));
  return [...files].filter((path) => !path.endsWith('messages.jsonl'));
}

async function question(place: string): Promise<MessageView | undefined> {
  const said = await stage.sandbox.messages({ in: place, from: 'bot' });
  return said.findLast(({ text }) => text.includes('💭 May I remember'));
}

/** Somebody says something that is noticed; resolves with the question under the answer. */
async function noticed(as: string, place: string, text: string): Promise<MessageView> {
  const before = (await question(place))?.id;
  await stage.ask(as, place, text);
  await expect.poll(async () => (await question(place))?.id).not.toBe(before);
  const asked = await question(place);
  if (asked === undefined) throw new Error('Nobody was asked');
  return asked;
}

async function press(as: string, message: string, label: string): Promise<string> {
  const clicked = await stage.sandbox.click({ as, message, label });
  const told = async () => (await stage.sandbox.interaction({ id: clicked.id })).followUps.at(-1)?.text ?? '';
  await expect.poll(told).not.toBe('');
  return told();
}

describe('a person who wants to be asked first [K9]', () => {
  it.each(['@bob', '#general'])(
    'in %s has nothing remembered before they say yes, over a start too, and can take the yes back',
    async (place) => {
      finding('I keep an axolotl');
      expect(await command(stage, '!memory', 'bob', place, 'mode ask')).toMatch(/^Mode `ask`/u);
      const asked = await noticed('bob', place, 'I keep an axolotl');
      expect(asked.text).toContain('May I remember: "I keep an axolotl"?');
      await stage.ask('bob', place, 'And what is new?');
      await stage.stopBot();
      await stage.startBot();
      const call = await chatCall(stage, 'bob', place, 'What do you know of me?');
      for (const section of ['durable_items', 'matching_items', 'conversation_summary', 'notebook'])
        expect(sectionIn(call, section)).not.toContain('axolotl');
      expect(systemIn(call)).not.toContain('axolotl');
      expect(await filesWith('I keep an axolotl')).toEqual([itemsFile]);
      expect(await filesWith('Bob keeps an axolotl')).toEqual([]);
      expect(callsOf(stage, 'summary')).toEqual([]);
      expect(await command(stage, '!memory', 'bob', place, 'show')).not.toContain('I keep an axolotl');

      expect(await press('bob', asked.id, '✅ Yes')).toMatch(/^Remembered: "I keep an axolotl"/u);
      expect(await command(stage, '!memory', 'bob', place, 'show')).toContain('I keep an axolotl');
      expect(await command(stage, '!memory', 'bob', place, 'undo')).toContain('Undone: the `accept`');
      expect(await command(stage, '!memory', 'bob', place, 'show')).not.toContain('I keep an axolotl');
      expect(await command(stage, '!memory', 'bob', place, 'proposals')).toContain('I keep an axolotl');
    },
  );

  it('corrects the words in a window, over a kill too', async () => {
    const place = '#secret';
    await stage.startBuilt();
    finding('I keep an axolotl');
    await command(stage, '!memory', 'bob', place, 'mode ask');
    const asked = await noticed('bob', place, 'I keep an axolotl');
    await stage.killBot();
    await stage.startBuilt();
    const others = await stage.sandbox
      .click({ as: 'alice', message: asked.id, label: '✏️ Edit' })
      .catch(() => undefined);
    expect(others?.modal).toBeUndefined();
    const { id: interaction, modal } = await stage.sandbox.click({
      as: 'bob',
      message: asked.id,
      label: '✏️ Edit',
    });
    expect(modal?.fields).toMatchObject([
      { label: 'What I remember', value: 'I keep an axolotl', maxLength: 500 },
    ]);
    await stage.killBot();
    await stage.startBot();
    const values = { 'What I remember': 'Keeps two axolotls' };
    const sent = await stage.sandbox.submit({ as: 'bob', interaction, values, followUps: 1 });
    expect(sent.followUps).toMatchObject([
      { isEphemeral: true, text: expect.stringMatching(/^Remembered: "Keeps two axolotls"/u) },
    ]);
    expect(sent.answer?.components.rows).toEqual([]);
    expect(await command(stage, '!memory', 'bob', place, 'show')).toContain('Keeps two axolotls');
    const again = await stage.sandbox.slash({
      as: 'bob',
      in: place,
      name: 'memory',
      subcommand: 'proposals',
    });
    expect(again.answer?.text).toBe('No proposals are waiting for you here.');
    await stage.stopBot();
    await stage.startBuilt(laterBy(undoForMs));
    await expect.poll(() => filesWith('I keep an axolotl')).toEqual([]);
  });

  it('loses the question with its message, when the mode’s owner erases it, and after seven days', async () => {
    finding('I keep an axolotl');
    await command(stage, '!memory', 'bob', '#dev', 'mode ask');
    const said = await stage.sandbox.say({ as: 'bob', in: '#dev', text: 'I keep an axolotl.' });
    await stage.answerTo(said);
    await expect.poll(() => filesWith('I keep an axolotl')).toEqual([itemsFile]);
    await stage.sandbox.delete({ message: said.id });
    await expect.poll(() => filesWith('I keep an axolotl')).toEqual([]);
    // What a deletion comes between is looked at again only after the next turn.
    await expect.poll(() => filesWith('"kind":"deleted"')).toEqual([]);

    await noticed('bob', '#dev', 'I keep an axolotl, a second one.');
    expect(await command(stage, '!memory', 'bob', '#dev', 'mode off')).toContain(
      '1 proposal still waits for your yes or no',
    );
    await stage.stopBot();
    await stage.startBuilt(laterBy(weekMs - 60 * 60_000));
    expect(await filesWith('I keep an axolotl')).toEqual([itemsFile]);
    await stage.stopBot();
    await stage.startBuilt(laterBy(weekMs));
    await expect.poll(() => filesWith('I keep an axolotl')).toEqual([]);
  });

  it('is asked by the model’s own tool as well, and not in mode `off`', async () => {
    const input = { kind: 'fact', quote: 'I keep an axolotl' };
    answers.chat = ({ messages = [] }) =>
      messages.at(-1)?.content.some(({ type }) => type === 'tool_result') === true
        ? { text: 'Understood.' }
        : { toolUse: [{ name: 'remember_item', input }] };
    await command(stage, '!memory', 'bob', '#dev', 'mode ask');
    await noticed('bob', '#dev', 'I keep an axolotl');
    expect(
      toldIn(callsOf(stage, 'chat').at(-1) ?? (await chatCall(stage, 'bob', '#dev', 'x'))),
    ).not.toContain('Remembered');
    expect(callsOf(stage, 'chat').at(-1)?.raw).toContain('Not stored yet');
    await command(stage, '!memory', 'carol', '#dev', 'mode off');
    await stage.ask('carol', '#dev', 'I keep an axolotl');
    expect(callsOf(stage, 'chat').at(-1)?.raw).toContain('wants nothing to be noticed');
    expect(await command(stage, '!memory', 'carol', 'dm', 'proposals')).toBe(
      'No proposals are waiting for you here.',
    );
  });

  it('may be everybody who has not chosen', async () => {
    await stage.stopBot();
    await stage.startBot({ DISCOCLAW_MEMORY_MODE: 'ask' });
    expect(await command(stage, '!memory', 'bob', 'dm', 'mode')).toMatch(/^Mode `ask`/u);
    expect(await command(stage, '!memory', 'bob', 'dm', 'mode auto')).toMatch(/^Mode `auto`/u);
    expect(await command(stage, '!memory', 'carol', 'dm', 'mode')).toMatch(/^Mode `ask`/u);
  });
});
