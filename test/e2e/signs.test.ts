import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { MessageView } from '../../src/sandbox/control/control-views.ts';
import { callsForAnswers, toldIn } from './memory-talk.ts';
import { openStage } from './stage.ts';
import type { Stage } from './stage.ts';

/** Milliseconds that the model takes for a message that says `slowly`. */
const slowMs = 900;
const eyes = '👀';

let stage: Stage;

/** Who put 👀 on a message. */
async function eyesOn({ id, channelId }: MessageView): Promise<readonly string[]> {
  const all = await stage.sandbox.messages({ in: channelId });
  return all.find((message) => message.id === id)?.reactions[eyes] ?? [];
}

function say(as: string, place: string, text: string): Promise<MessageView> {
  return stage.sandbox.say({ as, in: place, text, mentionBot: place !== 'dm' });
}

/** Says something that the model thinks about for a while, and waits until it does. */
async function keepBusy(as: string, place: string): Promise<MessageView> {
  const before = callsForAnswers(stage).length;
  const said = await say(as, place, `think slowly, ${as}`);
  await expect.poll(() => callsForAnswers(stage).length).toBeGreaterThan(before);
  return said;
}

beforeAll(async () => {
  stage = await openStage({
    environment: { DISCOCLAW_SUMMARY_ENABLED: 'false', DISCOCLAW_MODEL_CONCURRENCY: '1' },
    model: ({ messages = [] }, index) => {
      const text = (messages.at(-1)?.content ?? []).map((block) => block.text ?? '').join('');
      const isSlow = text.slice(text.lastIndexOf('<message ')).includes('slowly');
      return { text: `Answer ${index}.`, ...(isSlow ? { delayMs: slowMs } : {}) };
    },
  });
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
    await stage.sandbox.waitForReply({ in: '#general', after: second.id, containing: 'Answer 1' });
    await expect.poll(() => eyesOn(second)).toEqual([]);
  });

  it('stands on a message that waits for a place at the model', async () => {
    await keepBusy('alice', '#general');
    const said = await say('bob', '#dev', 'hello');
    await expect.poll(() => eyesOn(said)).toEqual([stage.info.bot.name]);
    await stage.sandbox.waitForReply({ in: '#dev', after: said.id });
    await expect.poll(() => eyesOn(said)).toEqual([]);
  });

  it('is not tried where the bot may not react; the answer comes all the same', async () => {
    const { id } = await stage.sandbox.addChannel({ name: 'no-signs' });
    await stage.sandbox.setOverwrite({ channel: id, for: stage.info.bot.name, deny: ['AddReactions'] });
    await keepBusy('alice', id);
    const waiting = await say('alice', id, 'and one more thing');
    const reply = await stage.sandbox.waitForReply({ in: id, after: waiting.id, settleMs: 300 });
    expect(reply.text).toMatch(/^Answer/u);
    const path = `/channels/${id}/messages/*/reactions/*/*`;
    expect(await stage.sandbox.requests({ method: 'PUT', path })).toEqual([]);
  });

  it('that a kill left behind goes when the message is answered after the restart', async () => {
    await keepBusy('alice', 'dm');
    const waiting = await say('alice', 'dm', 'and one more thing');
    await expect.poll(() => eyesOn(waiting)).toEqual([stage.info.bot.name]);
    await stage.killBot();
    expect(await eyesOn(waiting)).toEqual([stage.info.bot.name]);
    await stage.startBot();
    await stage.sandbox.waitForReply({ in: waiting.channelId, after: waiting.id });
    await expect.poll(() => eyesOn(waiting)).toEqual([]);
    expect(callsForAnswers(stage).some((call) => toldIn(call).includes('and one more thing'))).toBe(true);
  });
});
