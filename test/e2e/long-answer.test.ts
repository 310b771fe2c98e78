import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { MessageView } from '../../src/sandbox/people/views.ts';
import { openStage, type Stage } from './stage.ts';

const prose = (title: string, count: number): string =>
  Array.from({ length: count }, (_, index) => `${title} ${index} is a sentence of the answer.`).join(' ');
const code = (word: string, count: number): string =>
  Array.from({ length: count }, (_, index) => `const ${word}${index} = compute(${index});`).join('\n');

const longAnswer = [
  prose('Beginning', 40),
  `\`\`\`typescript\n${code('first', 90)}\n\`\`\``,
  prose('Middle', 45),
  `~~~python\n${code('second', 70)}\n~~~`,
  prose('End', 25),
].join('\n\n');
const pinging =
  'Hello @everyone and @here, <@140000000000000002>, <@!140000000000000003> and <@&110000000000000002>!';

/** The fences of a part, in order: `\`\`\`typescript`, `\`\`\``, … */
function fencesIn(text: string): readonly string[] {
  return text.split('\n').filter((line) => /^(?:```|~~~)/.test(line));
}

/** What a reader sees of the parts: their lines without fences. */
function wordsOf(text: string): readonly string[] {
  const lines = text.split('\n').filter((line) => !/^(?:```|~~~)/.test(line));
  return lines.join(' ').split(/\s+/).filter(Boolean);
}

describe('an answer', () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await openStage({
      isBuilt: true,
      model: (body) => ({ text: JSON.stringify(body.messages).includes('at length') ? longAnswer : pinging }),
    });
  });
  afterAll(() => stage[Symbol.asyncDispose]());

  async function partsOf(said: MessageView, answer: string): Promise<readonly MessageView[]> {
    // More than the sentence that other parts end with.
    const containing = answer.slice(-35);
    await stage.sandbox.waitForReply({ in: said.channelId, after: said.id, containing, settleMs: 500 });
    return stage.sandbox.messages({ in: said.channelId, after: said.id, from: 'bot' });
  }

  it('of 9,000 characters comes in order, in parts with whole code fences, each sent once', async () => {
    expect(longAnswer.length).toBeGreaterThan(9000);
    const said = await stage.sandbox.say({ as: 'alice', in: '#general', text: 'Tell me at length' });
    const parts = await partsOf(said, longAnswer);
    expect(parts.length).toBeGreaterThanOrEqual(5);
    for (const { text, mentions } of parts) {
      expect(text.length).toBeLessThanOrEqual(2000);
      expect(mentions).toEqual([]);
      const fences = fencesIn(text);
      const openers = fences.filter((_, index) => index % 2 === 0);
      const closers = fences.filter((_, index) => index % 2 === 1);
      expect(closers).toHaveLength(openers.length);
      for (const opener of openers) expect(['```typescript', '~~~python']).toContain(opener);
      for (const [index, closer] of closers.entries()) expect(closer).toBe(openers[index]?.slice(0, 3));
      expect(/^const /m.test(text)).toBe(fences.length > 0);
    }
    expect(wordsOf(parts.map(({ text }) => text).join('\n'))).toEqual(wordsOf(longAnswer));
    expect(parts.map(({ replyTo }) => replyTo)).toEqual([said.id, ...parts.slice(1).map(() => undefined)]);

    const path = `/channels/${said.channelId}/messages`;
    const posts = await stage.sandbox.requests({ method: 'POST', path });
    expect(posts).toHaveLength(parts.length);
    for (const [index, { body }] of posts.entries()) {
      expect(body).toMatchObject({
        nonce: `${said.id}-${index}`,
        enforce_nonce: true,
        allowed_mentions: { parse: [] },
      });
    }
  });

  it('comes whole and once where the connection breaks between its parts and the bot is killed', async () => {
    const route = 'POST /channels/*/messages';
    await stage.sandbox.setFault({ kind: 'lost', route, after: 1 });
    await stage.sandbox.setFault({ kind: 'latency', milliseconds: 2000, route, after: 2 });
    const said = await stage.sandbox.say({ as: 'bob', in: '#dev', text: 'Tell me at length' });
    await expect.poll(() => stage.sandbox.messages({ in: '#dev', from: 'bot' })).toHaveLength(2);
    await stage.killBot();
    await stage.sandbox.clearFaults();
    await stage.startBot();
    const asked = stage.model.requests.length;
    const parts = await partsOf(said, longAnswer);
    expect(wordsOf(parts.map(({ text }) => text).join('\n'))).toEqual(wordsOf(longAnswer));
    expect(stage.model.requests).toHaveLength(asked);
  });

  it('with @everyone and mentions in it pings nobody', async () => {
    const said = await stage.sandbox.say({ as: 'carol', in: '#general', text: 'Greet them all' });
    const [part] = await partsOf(said, pinging);
    expect(part?.text).toBe(pinging);
    expect(part?.mentions).toEqual([]);
  });
});
