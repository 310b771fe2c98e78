import { setTimeout as sleep } from 'node:timers/promises';

import { describe, expect, it } from 'vitest';

import { answersTo } from './answers-to.ts';
import { eventually } from '../support/eventually.ts';
import { openStage, type Stage } from './stage.ts';
import { outboxWhen } from './outbox-file.ts';

type Said = Awaited<ReturnType<Stage['sandbox']['say']>>;

async function thinking(stage: Stage, calls: number): Promise<void> {
  await eventually(() => expect(stage.model.requests).toHaveLength(calls));
}

async function expectOneAnswerEach(stage: Stage, messages: readonly Said[]): Promise<void> {
  const numbers = () =>
    Promise.all(messages.map(async (said) => (await answersTo(stage.sandbox, said)).length));
  const one = messages.map(() => 1);
  await eventually(async () => expect(await numbers()).toEqual(one));
  // Long enough for a second reply to show itself.
  await sleep(250);
  expect(await numbers()).toEqual(one);
}

describe.concurrent('a message gets one reply [G3]', () => {
  it('even if Discord repeats the event, drops the connection or loses the session', async () => {
    await using stage = await openStage({
      model: (_, index) => ({ text: `Answer ${index}.`, delayMs: 250 }),
    });
    const { sandbox } = stage;
    const messages: Said[] = [];
    const say = async (as: string, place: string, text: string): Promise<Said> => {
      const said = await sandbox.say({ as, in: place, text });
      messages.push(said);
      return said;
    };

    // Discord lists DMs to no bot, so that one can be caught up with only where the bot knows it from before.
    const beforehand = await say('carol', 'dm', 'hello');
    await expectOneAnswerEach(stage, [beforehand]);
    const twice = await say('alice', '#general', 'told again while it is worked on');
    await sandbox.dispatchAgain({ message: twice.id });
    await expectOneAnswerEach(stage, [twice]);
    await sandbox.dispatchAgain({ message: twice.id });

    const repeated = await say('alice', '#dev', 'repeated by a resume');
    await thinking(stage, 3);
    await sandbox.dropConnection({ how: 'cut', repeat: 10 });
    await expectOneAnswerEach(stage, [repeated]);

    const reconnected = await say('bob', '#general', 'before a reconnect');
    await sandbox.dropConnection({ how: 'reconnect', repeat: 10 });
    const during = await say('carol', '#general', 'after a reconnect');
    await expectOneAnswerEach(stage, [reconnected, during]);

    const invalidated = await say('bob', '#dev', 'before the session ends');
    await sandbox.dropConnection({ how: 'invalidate' });
    const missed = await say('carol', 'dm', 'while there is no session');
    await expectOneAnswerEach(stage, [invalidated, missed]);

    await sandbox.dropConnection({ how: 'close', resumable: false, repeat: 10 });
    const refused = await say('carol', 'dm', 'while a resume is refused');
    await expectOneAnswerEach(stage, [refused]);

    for (const { id } of messages) await sandbox.dispatchAgain({ message: id });
    await expectOneAnswerEach(stage, messages);
    expect(stage.model.requests).toHaveLength(messages.length);
  });
});

describe.concurrent('a message that was there when the bot was killed', () => {
  it('is answered once after the restart, where the model was still thinking', async () => {
    let delayMs = 5000;
    await using stage = await openStage({ model: (_, index) => ({ text: `Answer ${index}.`, delayMs }) });
    await stage.startBuilt();
    const first = await stage.sandbox.say({ as: 'alice', in: '#general', text: 'think about this' });
    const inDm = await stage.sandbox.say({ as: 'bob', in: 'dm', text: 'the very first words in a DM' });
    await thinking(stage, 2);
    await stage.killBot();
    delayMs = 0;
    await stage.startBot();
    await expectOneAnswerEach(stage, [first, inDm]);
    const log = await stage.logOf(first);
    expect(log.match(/think about this/g)).toHaveLength(1);
  });

  it('is answered with what was ready, once, where the reply was on its way', async () => {
    await using stage = await openStage({ model: (_, index) => ({ text: `Answer ${index}.` }) });
    await stage.startBuilt();
    const { sandbox } = stage;
    // The sandbox carries the request out although its sender is dead: Discord may do the same.
    await sandbox.setFault({ kind: 'latency', milliseconds: 1500, route: 'POST /channels/*/messages' });
    const said = await sandbox.say({ as: 'alice', in: 'dm', text: 'answer this' });
    await outboxWhen(stage, said.channelId, ({ unsent }) => unsent.length > 0);
    await stage.killBot();
    await sandbox.clearFaults();
    await stage.startBuilt();
    await sleep(300);
    await expectOneAnswerEach(stage, [said]);
    expect((await answersTo(sandbox, said)).map(({ text }) => text)).toEqual(['Answer 0.']);
    expect(stage.model.requests).toHaveLength(1);
    await outboxWhen(stage, said.channelId, ({ handledIds }) => handledIds.includes(said.id));

    await stage.killBot();
    await stage.startBot();
    await expectOneAnswerEach(stage, [said]);
    expect(stage.model.requests).toHaveLength(1);
  });

  it('is answered once where it was written while the bot was off, if it is for the bot', async () => {
    await using stage = await openStage({
      model: (_, index) => ({ text: `Answer ${index}.` }),
      environment: { DISCORD_AUTO_REPLY_CHANNEL_IDS: '' },
    });
    const { sandbox } = stage;
    await stage.ask('alice', 'dm', 'hello');
    expect(await stage.stopBot()).toBe(0);
    const messages = [
      await sandbox.say({ as: 'alice', in: 'dm', text: 'Are you off?' }),
      await sandbox.say({ as: 'bob', in: '#dev', text: 'You too?', mentionBot: true }),
    ];
    const notForIt = await sandbox.say({ as: 'carol', in: '#general', text: 'Nobody is asked here' });
    await stage.startBot();
    await expectOneAnswerEach(stage, messages);
    for (const { id } of messages) await sandbox.dispatchAgain({ message: id });
    await expectOneAnswerEach(stage, messages);
    expect(await sandbox.messages({ in: notForIt.channelId, from: 'bot' })).toEqual([]);
    expect(stage.model.requests).toHaveLength(3);
  });
});

/** The library makes four requests of a try. */
const refused = { kind: 'status', status: 503, times: 12 } as const;

describe.concurrent('while Discord takes nothing for some seconds [G3e]', () => {
  it('an answer, a command and a slash command are sent until they are taken, each once', async () => {
    await using stage = await openStage({ model: () => ({ text: 'The answer.' }) });
    const { sandbox } = stage;
    const route = 'POST /channels/*/messages';
    await sandbox.setFault({ ...refused, route });
    expect(await stage.ask('alice', 'general', 'Are you there?')).toMatchObject({
      text: expect.stringContaining('The answer.'),
    });
    await sandbox.setFault({ ...refused, route });
    const told = await stage.ask('alice', 'general', '!memory remember I keep bees');
    expect(told.text).toContain('Remembered: "I keep bees"');
    await sandbox.setFault({ ...refused, route: 'PATCH /webhooks/*/*/messages/*' });
    await sandbox.setFault({ ...refused, times: 4, route: 'POST /interactions/*/*/callback' });
    const { answer } = await sandbox.slash({
      as: 'alice',
      in: 'general',
      name: 'memory',
      subcommand: 'show',
    });
    expect(answer?.text).toContain('I keep bees');
    const own = await sandbox.messages({ in: 'general', from: 'bot' });
    expect(own.map(({ text }) => text.split('\n')[0])).toEqual([
      'The answer.',
      expect.stringContaining('Remembered'),
    ]);
  });
});
