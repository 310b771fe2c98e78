import { afterAll, describe, expect, it } from 'vitest';

import type { MessageView } from '../../src/sandbox/people/views.ts';
import { deferred } from '../support/deferred.ts';
import type { ModelServerRequest } from '../support/model-server.ts';
import { answersTo } from './answers-to.ts';
import { command } from './memory-talk.ts';
import { newestOf, numberedBy, toldIn } from './model-calls.ts';
import { openStage } from './stage.ts';

/** The model thinks about a message that says `slowly` until this is resolved. */
let thought = deferred<void>();
let channels = 0;

const stage = await openStage({
  environment: { DISCOCLAW_SUMMARY_ENABLED: 'false' },
  model: numberedBy(() => thought.promise),
});
afterAll(() => stage[Symbol.asyncDispose]());

/** A channel where nobody has spoken yet. */
async function newChannel(): Promise<string> {
  channels += 1;
  return (await stage.sandbox.addChannel({ name: `room-${channels}` })).id;
}

function say(as: string, place: string, text: string): Promise<MessageView> {
  return stage.sandbox.say({ as, in: place, text, mentionBot: place !== 'dm' });
}

/** Says something that the model thinks about until `thought` is resolved, and waits until it does. */
async function keepBusy(as: string, place: string, text: string): Promise<MessageView> {
  thought = deferred();
  const before = stage.model.requests.length;
  const said = await say(as, place, `${text}, slowly`);
  await expect.poll(() => stage.model.requests.length).toBe(before + 1);
  return said;
}

/** Calls whose message, the one to answer, contains the text. */
function callsAbout(text: string): readonly ModelServerRequest[] {
  return stage.model.requests.filter((call) => messageOf(call).includes(text));
}

function messageOf(call: ModelServerRequest): string {
  const told = toldIn(call);
  return told.slice(told.lastIndexOf('<message '));
}

/** Who put 👀 on a message. */
async function eyesOn({ id, channelId }: MessageView): Promise<readonly string[]> {
  const all = await stage.sandbox.messages({ in: channelId });
  return all.find((message) => message.id === id)?.reactions['👀'] ?? [];
}

describe('while the model thinks', () => {
  it('a command is answered at once, and what the speaker wrote meanwhile waits under 👀 and is one turn [F2][F3]', async () => {
    const room = await newChannel();
    await command(stage, '!memory', 'alice', room, 'remember I prefer Rust');
    const before = stage.model.requests.length;
    const first = await keepBusy('alice', room, 'A: think');
    const waiting = [
      await say('alice', room, 'B: what about birds'),
      await say('alice', room, 'C: what about cats'),
    ];
    const shown = await say('alice', room, '!memory show');
    const answer = await stage.answerTo(first);
    expect(answer.replyTo).toBe(shown.id);
    expect(answer.text).toMatch(/^Durable memory [\s\S]*I prefer Rust/u);
    expect(stage.model.requests).toHaveLength(before + 1);
    for (const each of waiting) await expect.poll(() => eyesOn(each)).toEqual([stage.info.bot.name]);
    expect(await eyesOn(first)).toEqual([]);

    thought.resolve();
    await stage.sandbox.waitForReply({
      in: room,
      after: answer.id,
      containing: `Answer ${before + 1}.`,
      settleMs: 300,
    });
    const replies = await stage.sandbox.messages({ in: room, after: answer.id, from: 'bot' });
    expect(replies.map((reply) => reply.text)).toEqual([`Answer ${before}.`, `Answer ${before + 1}.`]);
    for (const each of waiting) await expect.poll(() => eyesOn(each)).toEqual([]);

    expect(stage.model.requests).toHaveLength(before + 2);
    const second = newestOf(stage, 'chat');
    expect(messageOf(second)).toContain('B: what about birds\nC: what about cats\n</message>');
    expect(toldIn(second).match(/birds/gu)).toHaveLength(1);
    for (const call of stage.model.requests) expect(toldIn(call)).not.toMatch(/!memory|Durable memory \(/u);
  });

  it('two people are answered each for themselves, with the name and memory of their own alone [F3]', async () => {
    const room = await newChannel();
    await command(stage, '!memory', 'alice', room, 'remember I keep ferrets');
    await command(stage, '!memory', 'bob', room, 'remember I breed llamas');
    const ofAlice = await keepBusy('alice', room, 'apples');
    const ofBob = await say('bob', room, 'pears, slowly');
    await expect.poll(() => callsAbout('pears').length).toBe(1);
    thought.resolve();
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
      const replies = async () => (await answersTo(stage.sandbox, said)).map(({ text }) => text);
      await expect.poll(replies).toEqual([`Answer ${stage.model.requests.indexOf(call)}.`]);
    }
  });
});

/** What a status says of the models' use. */
const usedIn = (status = ''): string => /Today .*/u.exec(status)?.[0] ?? 'none';

describe('!status and /status', () => {
  it('show the owner the same status, including today’s usage from before a restart, and no model', async () => {
    const owner = stage.info.owner.name;
    const { text } = await stage.ask(owner, '#general', '!status');
    expect(text).toMatch(/^Discoclaw \d+\.\d+\.\d+: up \d+ s\nModel: sonnet \(fast: haiku\), reachable\n/u);
    expect(text).toMatch(/Today \(\d{4}-\d\d-\d\d\): \d+ model calls? · [\d,]+ input tokens/u);
    const { answer } = await stage.sandbox.slash({ as: owner, in: 'dm', name: 'status' });
    expect(answer?.isEphemeral).toBe(true);
    expect(usedIn(answer?.text)).toBe(usedIn(text));

    await keepBusy('bob', '#dev', 'think');
    await say('bob', '#dev', 'and another thing');
    expect((await stage.ask(owner, '#general', '!status')).text).toContain(
      'Turns: 1 running, 1 waiting · model calls: 1 running, 0 waiting',
    );
    thought.resolve();
    await expect.poll(() => callsAbout('and another thing').length).toBe(1);
    await stage.keeps(`Answer ${stage.model.requests.length - 1}.`);
    const before = usedIn((await stage.ask(owner, '#general', '!status')).text);
    await stage.restart();
    expect(usedIn((await stage.ask(owner, 'dm', '!status')).text)).toBe(before);
    await stage.ask('bob', '#general', '<@130000000000000001> what was said before');
    expect(toldIn(newestOf(stage, 'chat'))).not.toContain('!status');
    expect((await stage.ask('bob', '#general', '!status')).text).toBe('Only my owner can see my status.');
  });
});
