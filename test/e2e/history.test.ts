import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

import {
  blocksIn,
  answeringBy,
  chatCall,
  historyIn,
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
});
