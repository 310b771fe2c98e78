import { setTimeout as sleep } from 'node:timers/promises';

import { afterAll, describe, expect, it } from 'vitest';

import type { MessageView } from '../../src/sandbox/people/views.ts';
import { deferred } from '../support/deferred.ts';
import { answersTo } from './answers-to.ts';
import { callsForAnswers, toldIn } from './memory-talk.ts';
import { numberedBy } from './model-calls.ts';
import { openStage } from './stage.ts';

/** The model thinks about a message that says `slowly` until this is resolved. */
let thought = deferred<void>();
const eyes = '👀';

/** Who put 👀 on a message. */
async function eyesOn({ id, channelId }: MessageView): Promise<readonly string[]> {
  const all = await stage.sandbox.messages({ in: channelId });
  return all.find((message) => message.id === id)?.reactions[eyes] ?? [];
}

function say(as: string, place: string, text: string): Promise<MessageView> {
  return stage.sandbox.say({ as, in: place, text, mentionBot: place !== 'dm' });
}

/** Says something that the model thinks about until `thought` is resolved, and waits until it does. */
async function keepBusy(as: string, place: string): Promise<MessageView> {
  thought = deferred();
  const before = callsForAnswers(stage).length;
  const said = await say(as, place, `think slowly, ${as}`);
  await expect.poll(() => callsForAnswers(stage).length).toBeGreaterThan(before);
  return said;
}

/** What a status says of the models' use. */
function usedIn(status = ''): string {
  return /Today .*/u.exec(status)?.[0] ?? 'none';
}

const stage = await openStage({
  environment: {
    DISCOCLAW_SUMMARY_ENABLED: 'false',
    DISCOCLAW_MODEL_CONCURRENCY: '1',
  },
  model: numberedBy(() => thought.promise),
});

afterAll(async () => {
  await stage[Symbol.asyncDispose]();
});

describe('👀', () => {
  it('stands on a message that waits behind a turn, and goes when its own turn begins', async () => {
    const first = await keepBusy('alice', '#general');
    const second = await say('alice', '#general', 'and one more thing');
    await expect.poll(() => eyesOn(second)).toEqual([stage.info.bot.name]);
    expect(await eyesOn(first)).toEqual([]);
    thought.resolve();
    await stage.sandbox.waitForReply({ in: '#general', after: second.id, containing: 'Answer 1' });
    await expect.poll(() => eyesOn(second)).toEqual([]);
  });

  it('is not tried where the bot may not react; the answer comes all the same', async () => {
    const { id } = await stage.sandbox.addChannel({ name: 'no-signs' });
    await stage.sandbox.setOverwrite({ channel: id, for: stage.info.bot.name, deny: ['AddReactions'] });
    await keepBusy('alice', id);
    const waiting = await say('alice', id, 'and one more thing');
    await stage.sandbox.delivered();
    // Long enough for a reaction to be tried.
    await sleep(600);
    thought.resolve();
    const reply = await stage.sandbox.waitForReply({ in: id, after: waiting.id, settleMs: 300 });
    expect(reply.text).toMatch(/^Answer/u);
    const path = `/channels/${id}/messages/*/reactions/*/*`;
    expect(await stage.sandbox.requests({ method: 'PUT', path })).toEqual([]);
  });

  it('left behind by a kill goes when the message is answered after the restart', async () => {
    await stage.startBuilt();
    await keepBusy('alice', 'dm');
    const waiting = await say('alice', 'dm', 'and one more thing');
    await expect.poll(() => eyesOn(waiting)).toEqual([stage.info.bot.name]);
    await stage.killBot();
    expect(await eyesOn(waiting)).toEqual([stage.info.bot.name]);
    thought.resolve();
    await stage.startBot();
    // Both messages are answered, one after the other.
    await stage.sandbox.waitForReply({ in: waiting.channelId, after: waiting.id });
    await expect.poll(() => eyesOn(waiting)).toEqual([]);
    await expect
      .poll(() => callsForAnswers(stage).some((call) => toldIn(call).includes('and one more thing')))
      .toBe(true);
  });
});

describe('!status and /status', () => {
  it('show the owner the same status, including today’s usage from before a restart', async () => {
    const owner = stage.info.owner.name;
    await stage.ask('bob', 'dm', 'hello');
    const { text } = await stage.ask(owner, '#general', '!status');
    expect(text).toMatch(/^Discoclaw \d+\.\d+\.\d+: up \d+ s\nModel: sonnet \(fast: haiku\), reachable\n/u);
    expect(text).toMatch(
      /Today \(\d{4}-\d\d-\d\d\): \d+ model calls? · [\d,]+ input tokens, \d+% from the cache/u,
    );
    expect(text).toMatch(/\d+ sessions, 3 people · \d+ files/u);
    expect(text).toMatch(/Store: the last write succeeded .* ago · quarantine: 0 files$/mu);
    const { answer } = await stage.sandbox.slash({ as: owner, in: 'dm', name: 'status' });
    expect(answer?.isEphemeral).toBe(true);
    expect(usedIn(answer?.text)).toBe(usedIn(text));

    await keepBusy('bob', '#dev');
    const waiting = await say('bob', '#dev', 'and one more thing');
    expect((await stage.ask(owner, '#general', '!status')).text).toContain(
      'Turns: 1 running, 1 waiting, 0 stopped · model calls: 1 running, 0 waiting',
    );
    thought.resolve();
    // The answer to the message before it comes behind it, too.
    const answered = async () => (await answersTo(stage.sandbox, waiting)).at(-1)?.text ?? '';
    await expect.poll(answered).not.toBe('');
    await stage.keeps(await answered());

    const before = usedIn((await stage.ask(owner, '#general', '!status')).text);
    await stage.stopBot();
    await stage.startBot();
    expect(usedIn((await stage.ask(owner, 'dm', '!status')).text)).toBe(before);
  });

  it('tell nobody else anything', async () => {
    const refusal = 'Only my owner can see my status.';
    expect((await stage.ask('bob', '#general', '!status')).text).toBe(refusal);
    const { answer } = await stage.sandbox.slash({ as: 'bob', in: 'dm', name: 'status' });
    expect(answer?.text).toBe(refusal);
  });

  it('never reach the model', async () => {
    await stage.ask('bob', '#general', 'what was said before');
    const told = callsForAnswers(stage).map(toldIn).at(-1);
    expect(told).not.toContain('!status');
    expect(told).not.toContain('Only my owner');
  });
});
