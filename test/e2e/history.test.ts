import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

import {
  blocksIn,
  answeringBy,
  chatCall,
  historyIn,
  toldIn,
  withoutDate,
  type Answers,
  type SaidBlock,
} from './model-calls.ts';
import { openStage, type Stage } from './stage.ts';

const answers: Answers = {};
let stage: Stage;
let rooms = 0;

afterEach(() => {
  delete answers.chat;
});

/** A channel in which the bot answers nobody who does not address it. */
async function newChannel(): Promise<string> {
  rooms += 1;
  return (await stage.sandbox.addChannel({ name: `room${rooms}` })).id;
}

async function say(as: string, channel: string, text: string): Promise<void> {
  await stage.sandbox.say({ as, in: channel, text });
}

/** Says something to the bot and resolves with the history that it was shown. */
async function historyFor(as: string, channel: string, text: string): Promise<readonly SaidBlock[]> {
  return historyIn(await chatCall(stage, as, channel, `<@${stage.info.bot.id}> ${text}`));
}

function lengthOf(history: readonly SaidBlock[]): number {
  return history.reduce((sum, { text }) => sum + text.length, 0);
}

/** The lines, dates aside. */
function linesOf(history: readonly SaidBlock[]): readonly string[] {
  return history.map(({ role, text }) => `${role} ${withoutDate(text)}`);
}

describe('with room for history', () => {
  beforeAll(async () => {
    stage = await openStage({
      environment: { DISCOCLAW_SUMMARY_ENABLED: 'false' },
      model: answeringBy(answers),
    });
    await stage.sandbox.addPerson({ name: 'Dyno', bot: true });
  });
  afterAll(() => stage[Symbol.asyncDispose]());

  it('shows the ten messages before the current one, oldest first, each with its author [H1][H2]', async () => {
    const channel = await newChannel();
    for (let line = 1; line <= 13; line += 1)
      await say(line % 2 === 0 ? 'bob' : 'carol', channel, `line ${line}`);
    const history = await historyFor('alice', channel, 'what was said?');
    expect(linesOf(history)).toEqual(
      [4, 5, 6, 7, 8, 9, 10, 11, 12, 13].map(
        (line) => `user ${line % 2 === 0 ? 'bob' : 'carol'}: line ${line}\n`,
      ),
    );
  });

  it('tells its own words from those of another bot [H2]', async () => {
    const channel = await newChannel();
    answers.chat = () => ({ text: 'I am the claw.' });
    await historyFor('alice', channel, 'who are you?');
    await say('Dyno', channel, 'I am a bot too.');
    await say('bob', channel, 'alice: I am alice');
    const history = await historyFor('alice', channel, 'and the other?');
    expect(linesOf(history)).toEqual([
      'user alice: who are you?\n',
      'assistant I am the claw.\n',
      'user Dyno (bot): I am a bot too.\n',
      'user bob: alice: I am alice\n',
    ]);
  });

  it('keeps the bytes of what was said from turn to turn and only adds to them [P2]', async () => {
    const place = '#general';
    const elsewhere = await newChannel();
    let before: readonly SaidBlock[] = [];
    for (let turn = 1; turn <= 6; turn += 1) {
      const call = await chatCall(stage, 'carol', place, `turn ${turn}`);
      const blocks = blocksIn(call);
      const mark = blocks.findLastIndex(({ cache_control: marked }) => marked !== undefined);
      const cached = blocks.slice(0, mark + 1);
      expect(blocks.slice(0, before.length).map(({ text }) => text)).toEqual(before.map(({ text }) => text));
      expect(cached).toHaveLength((turn - 1) * 2 + 1);
      before = cached;
      await say('bob', elsewhere, `elsewhere ${turn}`);
    }
  });

  it('reads a cold channel over REST after a restart, without commands, their answers and error lines [F2][H2]', async () => {
    const channel = await newChannel();
    answers.chat = () => ({ text: 'It is blue.' });
    await historyFor('alice', channel, 'which colour?');
    await stage.ask('alice', channel, '!memory remember green');
    answers.chat = () => ({ status: 400 });
    await stage.ask('alice', channel, `<@${stage.info.bot.id}> and now?`);
    await stage.stopBot();
    await say('bob', channel, 'while you were away');
    await stage.startBot();
    delete answers.chat;

    const path = `/channels/${channel}/messages`;
    const before = (await stage.sandbox.requests({ method: 'GET', path })).length;
    const history = await historyFor('alice', channel, 'still blue?');
    expect(linesOf(history)).toEqual([
      'user alice: which colour?\n',
      'assistant It is blue.\n',
      'user alice: and now?\n',
      'user bob: while you were away\n',
    ]);
    const after = (await stage.sandbox.requests({ method: 'GET', path })).length;
    expect(after).toBeGreaterThan(before);
    await historyFor('alice', channel, 'and now?');
    expect(await stage.sandbox.requests({ method: 'GET', path })).toHaveLength(after);
  });

  it('follows an edit and a deletion [G5]', async () => {
    const channel = await newChannel();
    await say('bob', channel, 'one');
    const two = await stage.sandbox.say({ as: 'bob', in: channel, text: 'two' });
    const three = await stage.sandbox.say({ as: 'bob', in: channel, text: 'three' });
    expect(linesOf(await historyFor('alice', channel, 'count'))).toEqual([
      'user bob: one\n',
      'user bob: two\n',
      'user bob: three\n',
    ]);
    await stage.sandbox.edit({ message: two.id, text: 'deux' });
    await stage.sandbox.delete({ message: three.id });
    await stage.sandbox.delivered();
    const call = await chatCall(stage, 'alice', channel, `<@${stage.info.bot.id}> again`);
    expect(linesOf(historyIn(call)).slice(0, 2)).toEqual(['user bob: one\n', 'user bob: deux\n']);
    expect(toldIn(call)).not.toMatch(/two|three/u);
  });
});

describe('with a budget of 300 characters', () => {
  const budget = 300;

  beforeAll(async () => {
    stage = await openStage({
      environment: {
        DISCOCLAW_SUMMARY_ENABLED: 'false',
        DISCOCLAW_MESSAGE_HISTORY_BUDGET: String(budget),
      },
      model: answeringBy(answers),
    });
    await stage.sandbox.addPerson({ name: 'Dyno', bot: true });
  });
  afterAll(() => stage[Symbol.asyncDispose]());

  it('cuts the newest message of a person where it is too long, so that history is never empty [H1]', async () => {
    const channel = await newChannel();
    await say('bob', channel, 'short and old');
    await say('bob', channel, 'very long '.repeat(90));
    const history = await historyFor('alice', channel, 'well?');
    expect(history).toHaveLength(1);
    expect(withoutDate(history[0]?.text ?? '')).toMatch(/^bob: very long [\s\S]*…\n$/u);
    expect(lengthOf(history)).toBeGreaterThan(budget * 0.9);
    expect(lengthOf(history)).toBeLessThanOrEqual(budget);
  });

  it('stops at an older message of a person that does not fit [H1]', async () => {
    const channel = await newChannel();
    await say('bob', channel, 'the oldest');
    await say('bob', channel, 'very long '.repeat(90));
    await say('carol', channel, 'the newest');
    expect(linesOf(await historyFor('alice', channel, 'well?'))).toEqual(['user carol: the newest\n']);
  });

  it('cuts what a bot said, so that what it answered has its place [H1]', async () => {
    const channel = await newChannel();
    answers.chat = () => ({ text: 'I can explain it at length. '.repeat(40) });
    await historyFor('alice', channel, 'explain it');
    const history = await historyFor('alice', channel, 'shorter');
    expect(history.map(({ role }) => role)).toEqual(['user', 'assistant']);
    expect(withoutDate(history[0]?.text ?? '')).toBe('alice: explain it\n');
    expect(history[1]?.text).toMatch(/^I can explain it at length\.[\s\S]*…\n$/u);
    expect(lengthOf(history)).toBeLessThanOrEqual(budget);
  });

  it('never exceeds the budget, whatever is said', async () => {
    const channel = await newChannel();
    const people = ['alice', 'bob', 'Dyno', 'carol'];
    const words = [
      'ok',
      'a longer line of words ',
      '日本語の文章です。',
      '👩‍👩‍👧‍👦 ',
      '<message> </message> ',
      'x',
    ];
    let shown = 0;
    for (let turn = 0; turn < 24; turn += 1) {
      const word = words[turn % words.length] ?? '';
      await say(people[turn % people.length] ?? 'bob', channel, word.repeat(1 + ((turn * 37) % 50)));
      answers.chat = () => ({ text: word.repeat(1 + ((turn * 53) % 80)) });
      const history = await historyFor('alice', channel, `turn ${turn} ${word.repeat(turn)}`);
      expect(lengthOf(history)).toBeLessThanOrEqual(budget);
      expect(history.length).toBeLessThanOrEqual(20);
      if (history.length > 0) shown += 1;
    }
    expect(shown).toBe(24);
  });
});
