import type { APIMessage } from 'discord.js';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import type { Footer } from '../../../src/core/reply.ts';
import { splitFooter, withFooter } from '../../../src/discord/replies/split-reply.ts';
import { createReplies } from '../../../src/discord/replies/replies.ts';
import { VirtualDiscord } from '../support/virtual-discord.ts';

const start = {
  channelId: '200000000000000001',
  nonceBase: '400000000000000001',
  mayShow: () => Promise.resolve(true),
  onMessages: () => Promise.resolve(),
  onGone: () => {},
};

function footer(...lines: readonly string[]): Footer {
  return { personId: '1', lines, buttons: [] };
}

/** The messages of a model's answer. */
async function answered(text: string, under?: Footer): Promise<readonly string[]> {
  const discord = new VirtualDiscord();
  await discord.until(createReplies(discord.options).begin(start).finish(text, under));
  return discord.texts;
}

function messageOf(content = ''): APIMessage {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- all that is read of it
  return { content, components: [] } as unknown as APIMessage;
}

describe('the footer of an answer [K6]', () => {
  it('differs from any model’s answer, and is read back unchanged', async () => {
    const texts = fc.array(
      fc.constantFrom('-# ', '\n', 'word ', '```', '~~~', '-#', ' ', '> ', 'x'.repeat(900)),
    );
    const lines = fc.array(fc.constantFrom('💾 Remembered: "tea"', '⏸️ Paused'), { maxLength: 3 });
    await fc.assert(
      fc.asyncProperty(texts, lines, async (pieces, under) => {
        const posted = await answered(`Well: ${pieces.join('')}`, footer(...under));
        const split = posted.map(splitFooter);
        expect(split.at(-1)?.lines).toEqual(under);
        for (const part of split.slice(0, -1)) expect(part.lines).toEqual([]);
        for (const content of posted) expect(content.length).toBeLessThanOrEqual(2000);
      }),
    );
  });

  it('finds 200 characters free in the last part of a split answer, and makes room in any other', async () => {
    const word = 'word ';
    const split = await answered(word.repeat(790));
    expect(split.length).toBeGreaterThan(1);
    expect(split.at(-1)?.length).toBeLessThanOrEqual(1800);
    expect(await answered(word.repeat(399))).toHaveLength(1);
    const made = await answered(word.repeat(399), footer('x'.repeat(300)));
    expect(made.map(splitFooter).at(-1)?.lines).toEqual(['x'.repeat(300)]);
    expect(made.join(' ').match(/word/gu)).toHaveLength(399);
  });

  it('is replaced in an existing message, whatever it holds by now', async () => {
    const discord = new VirtualDiscord();
    const replies = createReplies({
      ...discord.options,
      api: {
        ...discord.options.api,
        message: (_, id) => Promise.resolve(messageOf(discord.standing.get(id))),
      },
    });
    const sent = await discord.until(replies.begin(start).finish('Hello.', footer('one')));
    const [id = ''] = sent.kind === 'sent' ? sent.ids : [];
    const change = (more: string) =>
      discord.until(
        replies.amend(start.channelId, id, (lines) => Promise.resolve({ lines: [...lines, more] })),
      );
    expect(await change('two')).toBe(true);
    expect(discord.texts).toEqual([withFooter('Hello.', ['one', 'two'])]);
    expect(await change('x'.repeat(2000))).toBe(false);
    expect(discord.texts).toEqual([withFooter('Hello.', ['one', 'two'])]);
  });
});
