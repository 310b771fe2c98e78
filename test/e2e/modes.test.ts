import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import type { MessageView } from '../../src/sandbox/people/views.ts';
import {
  answeringBy,
  callsOf,
  chatCall,
  historyIn,
  sectionIn,
  systemIn,
  toldIn,
  type Answers,
} from './model-calls.ts';
import { openStage, type Stage } from './stage.ts';
import { footerIn } from './footers.ts';
import { command } from './memory-talk.ts';

const answers: Answers = {};
const everyLayer = {
  DISCOCLAW_SUMMARY_TO_DURABLE_ENABLED: 'true',
  DISCOCLAW_SHORTTERM_MEMORY_ENABLED: 'true',
  DISCOCLAW_SUMMARY_EVERY_N_TURNS: '1',
  DISCOCLAW_REFLECTION_IDLE_MINUTES: '0',
};

let stage: Stage;
beforeEach(async () => {
  stage = await openStage({ model: answeringBy(answers), environment: everyLayer });
});
afterEach(async () => {
  for (const kind of ['chat', 'extraction', 'summary'] as const) delete answers[kind];
  await stage[Symbol.asyncDispose]();
});

const memory = (as: string, place: string, words: string) => command(stage, '!memory', as, place, words);

/** All that is kept, whatever it is. */
async function keptText(): Promise<string> {
  const kept = [...(await stage.kept()), ...(await stage.kept('workspace'))];
  return kept.map(({ text }) => text).join('\n');
}

/** The bot's small lines in a place. */
async function smallLines(place: string): Promise<readonly string[]> {
  const said = await stage.sandbox.messages({ in: place, from: 'bot' });
  return said.map(footerIn).filter((footer) => footer !== '');
}

describe('what a person lets the bot keep [K9]', () => {
  it('is nothing in a pause, on whatever way, over a start too; and after it the model sees nothing of it', async () => {
    answers.chat = () => ({ text: 'Ocelots are cats.' });
    expect(await memory('bob', '@bob', 'pause')).toMatch(/^Paused:/u);
    await stage.ask('bob', '@bob', 'My axolotl is called Pip.');
    await expect.poll(() => smallLines('@bob')).toHaveLength(1);
    const during = await chatCall(stage, 'bob', '@bob', 'And a second axolotl is called Zed.');
    expect(JSON.stringify(historyIn(during))).toContain('axolotl is called Pip');
    expect(toldIn(during)).toContain('has paused their memory');

    await stage.stopBot();
    const missed = await stage.sandbox.say({ as: 'bob', in: '@bob', text: 'A third axolotl, too.' });
    await stage.startBot();
    await stage.sandbox.waitForReply({ in: missed.channelId, after: missed.id, containing: 'Ocelots' });
    await expect.poll(() => smallLines('@bob')).toHaveLength(2);
    expect(await command(stage, '/memory', 'bob', '@bob', 'show')).toContain('Paused: from now on');
    expect(await memory('bob', '@bob', 'resume')).toMatch(/^Resumed/u);
    delete answers.chat;
    const after = await chatCall(stage, 'bob', '@bob', 'I keep a bassoon.');
    expect(toldIn(after)).not.toMatch(/axolotl|Ocelot/u);

    await stage.stopBot();
    const disk = await keptText();
    expect(disk).toContain('bassoon');
    expect(disk).not.toMatch(/axolotl|Ocelot/u);
  });

  it('is nothing of one conversation off the record, and changes nothing for others or elsewhere', async () => {
    await memory('bob', '#general', 'pause here');
    await stage.ask('bob', '#general', 'My axolotl is called Pip.');
    await expect.poll(() => smallLines('#general')).toHaveLength(1);
    await stage.ask('carol', '#general', 'I keep a cockatoo.');
    await stage.ask('bob', '#dev', 'I keep a bassoon.');
    expect(await memory('bob', '#general', 'remember I like rum')).toMatch(/is paused here/u);
    await stage.restart();
    expect(await memory('bob', '#general', 'show')).toContain('Paused here:');
    expect(await command(stage, '/memory', 'bob', '#dev', 'show')).not.toContain('Paused');
    await stage.ask('bob', '#general', 'It is pink, my axolotl.');
    await stage.stopBot();
    expect(await smallLines('#dev')).toHaveLength(0);
    const disk = await keptText();
    expect(disk).toContain('cockatoo');
    expect(disk).toContain('bassoon');
    expect(disk).not.toMatch(/axolotl|like rum/u);
  });
});

it('the first words stand under the first answer to each person, even to a command of either kind, once ever [K12]', async () => {
  await using fresh = await openStage({ model: answeringBy({}), areNew: true });
  const firstWords = 'I am an AI, and I remember what you tell me';
  const answer = await fresh.ask('bob', '@bob', 'Hello!');
  await expect
    .poll(async () => (await fresh.sandbox.messages({ in: '@bob', from: 'bot' })).map(footerIn))
    .toEqual([expect.stringContaining(firstWords)]);
  expect((await fresh.ask('carol', '#general', '!memory show')).text).toContain(firstWords);
  const { name } = await fresh.sandbox.addPerson({ name: 'dave' });
  for (const isFirst of [true, false])
    expect((await command(fresh, '/memory', name, '#dev', 'show')).includes(firstWords)).toBe(isFirst);
  await fresh.restart();
  expect((await fresh.ask('carol', '@carol', '!memory show')).text).not.toContain(firstWords);
  expect(toldIn(await chatCall(fresh, 'bob', '@bob', 'Hello again!'))).not.toContain(firstWords);
  const later = await fresh.sandbox.messages({ in: '@bob', from: 'bot', after: answer.id });
  expect(later.map(footerIn)).toEqual(['']);
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
  const found = await stage.pathsWith(text);
  const files = new Set(found.map((path) => path.replace(/\.bak$/u, '')));
  return [...files].filter((path) => !path.endsWith('messages.jsonl'));
}

/** Somebody says something that is noticed; resolves with the question under the answer. */
async function noticed(as: string, place: string, text: string): Promise<MessageView> {
  const { id } = await stage.ask(as, place, text);
  const question = async () =>
    (await stage.sandbox.messages({ in: place, from: 'bot' })).find(
      (message) => message.id === id && message.text.includes('💭 May I remember'),
    );
  await expect.poll(question).toBeDefined();
  const asked = await question();
  if (asked === undefined) throw new Error('Nobody was asked');
  return asked;
}

describe('a person who wants to be asked first [K9]', () => {
  it.each(['@bob', '#general'])(
    'in %s has nothing remembered before they say yes, over a start too, and can take the yes back',
    async (place) => {
      finding('I keep an axolotl');
      answers.summary = () => ({ text: 'Bob keeps an axolotl.' });
      expect(await memory('bob', place, 'mode ask')).toMatch(/^Mode `ask`/u);
      const asked = await noticed('bob', place, 'I keep an axolotl');
      expect(asked.text).toContain('May I remember: "I keep an axolotl"?');
      await stage.ask('bob', place, 'And what is new?');
      await stage.restart();
      const call = await chatCall(stage, 'bob', place, 'What do you know of me?');
      for (const section of ['durable_items', 'matching_items', 'conversation_summary', 'notebook'])
        expect(sectionIn(call, section)).not.toContain('axolotl');
      expect(systemIn(call)).not.toContain('axolotl');
      expect(await filesWith('I keep an axolotl')).toEqual([itemsFile]);
      expect(await filesWith('Bob keeps an axolotl')).toEqual([]);
      expect(callsOf(stage, 'summary')).toEqual([]);
      expect(await memory('bob', place, 'show')).not.toContain('I keep an axolotl');

      expect((await stage.press('bob', asked.id, '✅ Yes')).text).toMatch(
        /^Remembered: "I keep an axolotl"/u,
      );
      expect(await memory('bob', place, 'show')).toContain('I keep an axolotl');
      expect(await memory('bob', place, 'undo')).toContain('Undone: the `accept`');
      expect(await memory('bob', place, 'show')).not.toContain('I keep an axolotl');
      expect(await memory('bob', place, 'proposals')).toContain('I keep an axolotl');
    },
  );

  it('loses the question with its message, and keeps it where they turn the mode off', async () => {
    finding('I keep an axolotl');
    await memory('bob', '#dev', 'mode ask');
    const said = await stage.sandbox.say({ as: 'bob', in: '#dev', text: 'I keep an axolotl.' });
    await stage.answerTo(said);
    await expect.poll(() => filesWith('I keep an axolotl')).toEqual([itemsFile]);
    await stage.sandbox.delete({ message: said.id });
    await expect.poll(() => filesWith('I keep an axolotl')).toEqual([]);
    // What a deletion comes between is looked at again only after the next turn.
    await expect.poll(() => filesWith('"kind":"deleted"')).toEqual([]);

    await noticed('bob', '#dev', 'I keep an axolotl, a second one.');
    expect(await memory('bob', '#dev', 'mode off')).toContain('1 proposal still waits for your yes or no');
    delete answers.extraction;
    await stage.ask('bob', '#dev', 'I keep a bassoon.');
    await memory('bob', '#dev', 'mode auto');
    await stage.ask('bob', '#dev', 'And bees.');
    await expect.poll(() => callsOf(stage, 'extraction').at(-1)?.raw).toContain('And bees.');
    expect(callsOf(stage, 'extraction').map(toldIn).join('\n')).not.toContain('bassoon');
  });

  it('may be everybody who has not chosen', async () => {
    await stage.restart({ DISCOCLAW_MEMORY_MODE: 'ask' });
    expect(await memory('bob', 'dm', 'mode auto')).toMatch(/^Mode `auto`/u);
    expect(await memory('bob', 'dm', 'mode')).toMatch(/^Mode `auto`/u);
    expect(await memory('carol', 'dm', 'mode')).toMatch(/^Mode `ask`/u);
  });
});
