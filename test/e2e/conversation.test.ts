import { afterAll, beforeEach, describe, expect, it } from 'vitest';

import { deferred } from '../support/deferred.ts';
import type { ModelServerRequest } from '../support/model-server.ts';
import { command, newestCall, toldIn } from './memory-talk.ts';
import { numberedBy } from './model-calls.ts';
import { openStage } from './stage.ts';

/** The model thinks about a message that says `slowly` until this is resolved. */
let thought = deferred<void>();

let channels = 0;

/** A channel where nobody has spoken yet. */
async function newChannel(): Promise<string> {
  channels += 1;
  return (await stage.sandbox.addChannel({ name: `room-${channels}` })).id;
}

function say(as: string, place: string, text: string) {
  return stage.sandbox.say({ as, in: place, text, mentionBot: place !== 'dm' });
}

/** Calls whose message, the one to answer, contains the text. */
function callsAbout(text: string): readonly ModelServerRequest[] {
  return stage.model.requests.filter((call) => messageOf(call).includes(text));
}

function messageOf(call: ModelServerRequest): string {
  const told = toldIn(call);
  return told.slice(told.lastIndexOf('<message '));
}

const stage = await openStage({
  environment: { DISCOCLAW_SUMMARY_ENABLED: 'false' },
  model: numberedBy(() => thought.promise),
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
});
