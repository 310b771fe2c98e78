import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { deferred } from '../support/deferred.ts';
import type { ModelServerRequest } from '../support/model-server.ts';
import { command, newestCall, toldIn } from './memory-talk.ts';
import { withoutDate } from './model-calls.ts';
import { openStage, type Stage } from './stage.ts';

/** The model thinks about a message that says `slowly` until this is resolved. */
let thought = deferred<void>();

let stage: Stage;
let channels = 0;

/** A channel where nobody has spoken yet. */
async function newChannel(): Promise<string> {
  channels += 1;
  return (await stage.sandbox.addChannel({ name: `room-${channels}` })).id;
}

function say(as: string, place: string, text: string) {
  return stage.sandbox.say({ as, in: place, text, mentionBot: place !== 'dm' });
}

/** Says something to the bot and resolves with its answer. */
async function ask(as: string, place: string, text: string) {
  const said = await say(as, place, text);
  return stage.answerTo(said);
}

/** Calls whose message, the one to answer, contains the text. */
function callsAbout(text: string): readonly ModelServerRequest[] {
  return stage.model.requests.filter((call) => messageOf(call).includes(text));
}

function messageOf(call: ModelServerRequest): string {
  const told = toldIn(call);
  return told.slice(told.lastIndexOf('<message '));
}

beforeAll(async () => {
  stage = await openStage({
    environment: { DISCOCLAW_SUMMARY_ENABLED: 'false' },
    model: ({ messages = [] }, index) => {
      const text = (messages.at(-1)?.content ?? []).map((block) => block.text ?? '').join('');
      const isSlow = text.slice(text.lastIndexOf('<message ')).includes('slowly');
      return { text: `Answer ${index}.`, ...(isSlow ? { held: thought.promise } : {}) };
    },
  });
});

afterAll(async () => {
  await stage[Symbol.asyncDispose]();
});

describe('while the model thinks', () => {
  beforeEach(() => {
    thought = deferred();
  });

  it('a command is answered at once, and what the speaker wrote meanwhile is one turn [F2][F3]', async () => {
    const room = await newChannel();
    await command(stage, '!memory', 'alice', room, 'remember I prefer Rust');
    const before = stage.model.requests.length;
    const first = await say('alice', room, 'A: think slowly');
    await expect.poll(() => stage.model.requests.length).toBe(before + 1);
    await say('alice', room, 'B: what about birds');
    await say('alice', room, 'C: what about cats');
    const shown = await say('alice', room, '!memory show');

    const answer = await stage.answerTo(first);
    expect(answer.replyTo).toBe(shown.id);
    expect(answer.text).toMatch(/^Durable memory [\s\S]*I prefer Rust/u);
    expect(stage.model.requests).toHaveLength(before + 1);

    thought.resolve();
    const { text } = await stage.sandbox.waitForReply({
      in: room,
      after: answer.id,
      containing: `Answer ${before + 1}.`,
      settleMs: 300,
    });
    expect(text).toBe(`Answer ${before + 1}.`);
    const replies = await stage.sandbox.messages({ in: room, after: answer.id, from: 'bot' });
    expect(replies.map((reply) => reply.text)).toEqual([`Answer ${before}.`, `Answer ${before + 1}.`]);

    expect(stage.model.requests).toHaveLength(before + 2);
    const second = newestCall(stage);
    expect(messageOf(second)).toContain('B: what about birds\nC: what about cats\n</message>');
    expect(toldIn(second).match(/birds/gu)).toHaveLength(1);
    for (const call of stage.model.requests) {
      expect(toldIn(call)).not.toContain('!memory');
      expect(toldIn(call)).not.toContain('Durable memory (');
    }
  });

  it('two people are answered each for themselves, with the name and memory of their own alone [F3]', async () => {
    const room = await newChannel();
    await command(stage, '!memory', 'alice', room, 'remember I keep ferrets');
    await command(stage, '!memory', 'bob', room, 'remember I breed llamas');
    const ofAlice = await say('alice', room, 'apples, slowly');
    const ofBob = await say('bob', room, 'pears, slowly');
    await expect.poll(() => [...callsAbout('apples'), ...callsAbout('pears')].length).toBe(2);
    thought.resolve();
    await expect
      .poll(async () => (await stage.sandbox.messages({ in: room, after: ofAlice.id, from: 'bot' })).length)
      .toBe(2);

    for (const [about, name, own, foreign, said] of [
      ['apples', 'alice', 'I keep ferrets', 'llamas', ofAlice],
      ['pears', 'bob', 'I breed llamas', 'ferrets', ofBob],
    ] as const) {
      const [call, ...more] = callsAbout(about);
      expect(more).toEqual([]);
      if (call === undefined) throw new Error(`Nobody asked about ${about}`);
      expect(messageOf(call)).toMatch(new RegExp(`^<message from="${name}" where="#room-`, 'u'));
      expect(call.raw).toContain(own);
      expect(call.raw).not.toContain(foreign);
      const replies = await stage.sandbox.messages({ in: room, after: said.id, from: 'bot' });
      expect(replies.filter(({ replyTo }) => replyTo === said.id).map(({ text }) => text)).toEqual([
        `Answer ${stage.model.requests.indexOf(call)}.`,
      ]);
    }
    expect(stage.model.peakConcurrency).toBeGreaterThan(1);
  });

  it('somebody else is not kept waiting, and what each writes next is theirs [F3]', async () => {
    const room = await newChannel();
    const slow = await say('alice', room, 'one moment, slowly');
    await say('bob', room, 'plums');
    await say('alice', room, 'quinces');
    const bobs = await stage.answerTo(slow);
    const [toBob] = callsAbout('plums');
    expect(bobs.text).toBe(`Answer ${toBob === undefined ? 'none' : stage.model.requests.indexOf(toBob)}.`);

    thought.resolve();
    await expect.poll(() => callsAbout('quinces').length).toBe(1);
    const [toAlice] = callsAbout('quinces');
    expect(toAlice === undefined ? '' : messageOf(toAlice)).toMatch(
      /^<message from="alice"[^>]*>\nquinces\n/u,
    );
    expect(toBob === undefined ? '' : messageOf(toBob)).toMatch(/^<message from="bob"[^>]*>\nplums\n/u);
    await stage.sandbox.waitForReply({ in: room, after: bobs.id, settleMs: 200 });
  });
});

it('who gives commands and asks in one breath is answered in that order, from what was just remembered [F3]', async () => {
  const room = await newChannel();
  const commands = [
    await say('carol', room, '!memory remember I keep bees'),
    await say('carol', room, '!memory remember I breed carps'),
    await say('carol', room, '!memory show'),
  ];
  const question = await say('carol', room, 'which animals do I keep?');
  const { replyTo } = await stage.sandbox.waitForReply({ in: room, containing: 'Answer' });
  expect(replyTo).toBe(question.id);

  const replies = await stage.sandbox.messages({ in: room, from: 'bot' });
  expect(replies.map((reply) => reply.replyTo)).toEqual([...commands, question].map(({ id }) => id));
  expect(replies[2]?.text).toContain('Durable memory (2 items):');
  const [call] = callsAbout('which animals');
  expect(call?.raw).toContain('I keep bees');
  expect(call?.raw).toContain('I breed carps');
});

describe('history', () => {
  it('names each author and holds neither commands nor answers to them, warm or cold after a restart [F2][H2]', async () => {
    const room = await newChannel();
    const { text: answered } = await ask('alice', room, 'the sky is green');
    await command(stage, '!memory', 'alice', room, 'remember I prefer Rust');
    await ask('alice', room, '!memory show');
    await ask('alice', room, '!memory nonsense');
    await command(stage, '/memory', 'alice', room, 'show');
    const { text: toBob } = await ask('bob', room, 'it is blue');

    const expected = ['alice: the sky is green\n', `${answered}\n`];
    expect(historyOf(newestCall(stage))).toEqual(expected);

    await stage.stopBot();
    await stage.startBot();
    await ask('alice', room, 'are you sure');
    expect(historyOf(newestCall(stage))).toEqual([...expected, 'bob: it is blue\n', `${toBob}\n`]);
    expect(toldIn(newestCall(stage))).not.toContain('Remembered:');
  });

  it('of a thread and of a DM is their own, while memory is shared', async () => {
    const room = await newChannel();
    await command(stage, '!memory', 'alice', room, 'remember I prefer Rust');
    await ask('alice', room, 'said in the channel');
    const thread = await stage.sandbox.addThread({ channel: room, name: 'side-talk', as: 'alice' });
    await ask('alice', thread.id, 'said in the thread');

    const inThread = newestCall(stage);
    expect(inThread.raw).toContain('I prefer Rust');
    expect(toldIn(inThread)).not.toContain('said in the channel');
    expect(messageOf(inThread)).toMatch(
      /^<message from="alice" where="#side-talk, a thread in #room-\d+, public"/u,
    );

    const { channelId } = await ask('alice', 'dm', 'said in the DM');
    const inDm = newestCall(stage);
    expect(inDm.raw).toContain('I prefer Rust');
    expect(toldIn(inDm)).not.toMatch(/said in the (?:channel|thread)/u);
    expect(messageOf(inDm)).toMatch(/^<message from="alice" where="direct message"/u);

    await ask('alice', room, 'back in the channel');
    expect(toldIn(newestCall(stage))).toContain('alice: said in the channel');
    expect(toldIn(newestCall(stage))).not.toMatch(/said in the (?:thread|DM)/u);

    const alice = stage.info.people['alice'];
    for (const [channel, said] of [
      [room, 'said in the channel'],
      [thread.id, 'said in the thread'],
      [channelId, 'said in the DM'],
    ] as const) {
      const log = await stage.readFile(`data/sessions/${channel}/${alice}/messages.jsonl`);
      expect(log).toContain(said);
      expect(log.match(/said in the/gu)).toHaveLength(1);
      expect(log).not.toContain('!memory');
    }
  });

  it('of a private channel covers its threads: what was remembered there is used in them [V1]', async () => {
    const den = await stage.sandbox.addChannel({ name: 'den', private: true, members: ['alice', 'bob'] });
    await command(stage, '!memory', 'alice', den.id, 'remember I plan a surprise');
    const thread = await stage.sandbox.addThread({ channel: den.id, name: 'den-talk', as: 'alice' });
    await ask('alice', thread.id, 'hello there');
    expect(newestCall(stage).raw).toContain('I plan a surprise');
    await ask('alice', '#general', 'hello there');
    expect(newestCall(stage).raw).not.toContain('I plan a surprise');
  });
});

/** The turns between what is remembered and the message, as texts. */
function historyOf({ body }: ModelServerRequest): readonly string[] {
  const texts = (body.messages ?? []).flatMap(({ content }) => content.map(({ text = '' }) => text));
  return texts.filter((text) => !/^<\w+[ >]/u.test(text)).map(withoutDate);
}
