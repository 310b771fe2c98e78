import { DiscordAPIError } from 'discord.js';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import type { ReplyStart } from '../../../src/core/reply.ts';
import { growReply } from '../../../src/discord/replies/growing-reply.ts';
import { splitReply } from '../../../src/discord/replies/split-reply.ts';
import { markdown, read } from '../support/markdown.ts';
import { VirtualDiscord } from '../support/virtual-discord.ts';

const asked = '400000000000000001';

/** A reply in a channel where time goes on only when it is told to. */
function growing(changes: Partial<ReplyStart> = {}) {
  const discord = new VirtualDiscord();
  const told: (readonly string[])[] = [];
  const gone: string[] = [];
  const reply = growReply(discord.options, {
    channelId: '200000000000000001',
    nonceBase: asked,
    mayShow: () => Promise.resolve(true),
    onMessages: (ids) => Promise.resolve(void told.push(ids)),
    onGone: () => gone.push('gone'),
    ...changes,
  });
  return { discord, reply, told, gone };
}

function refusal(code: number, status = 403): DiscordAPIError {
  return new DiscordAPIError({ code, message: 'refused' }, code, status, 'PATCH', 'http://127.0.0.1/', {});
}

const paragraph = (word: string, characters: number): string =>
  `${word} `.repeat(Math.ceil(characters / (word.length + 1))).slice(0, characters - 1) + '.';

describe('a reply that grows [U1]', () => {
  it('is there soon after the first text, and then edited at most every 1.2 seconds, with the newest', async () => {
    const { discord, reply, told } = growing();
    for (let second = 0; second < 50; second += 1) {
      reply.show('word '.repeat(second + 1));
      await discord.pass(100);
    }
    const whole = 'word '.repeat(60);
    expect(await discord.until(reply.finish(whole))).toEqual({
      kind: 'sent',
      ids: [...discord.standing.keys()],
    });
    expect(discord.changes.map(({ kind, at }) => `${kind} ${at}`)).toEqual([
      'post 200',
      'edit 1400',
      'edit 2600',
      'edit 3800',
      'edit 5000',
      'edit 6200',
    ]);
    expect(discord.changes[2]?.content).toBe('word '.repeat(26).trim());
    expect(discord.texts).toEqual([whole.trim()]);
    expect(told).toEqual([[], [...discord.standing.keys()]]);
  });

  it('goes on in the messages that stand there from before a restart', async () => {
    const standing = ['900000000000000701', '900000000000000702'];
    const { discord, reply } = growing({ existingIds: standing });
    for (const id of standing) discord.standing.set(id, 'from before');
    expect(reply.hasStarted()).toBe(true);
    reply.show('The new');
    await discord.pass(100);
    expect(discord.texts).toEqual(['The new', 'from before']);
    expect(await discord.until(reply.finish('The new answer.'))).toMatchObject({ ids: [standing[0]] });
    expect(discord.texts).toEqual(['The new answer.']);
    expect(discord.nonces).toEqual([]);
  });

  it('corrects a message that Discord says was there already', async () => {
    const { discord, reply } = growing();
    await discord.until(reply.finish('Half of'));
    const again = growReply(discord.options, {
      channelId: '200000000000000001',
      nonceBase: asked,
      mayShow: () => Promise.resolve(true),
      onMessages: () => Promise.resolve(),
      onGone: () => {},
    });
    await discord.until(again.finish('Half of it is whole.'));
    expect(discord.texts).toEqual(['Half of it is whole.']);
  });

  it('is not shown any more once it may not be, also when it is whole', async () => {
    let mayShow = true;
    const { discord, reply } = growing({ mayShow: () => Promise.resolve(mayShow) });
    reply.show('One');
    await discord.pass(1000);
    mayShow = false;
    reply.show('One two');
    await discord.pass(5000);
    expect(discord.texts).toEqual(['One']);
    expect(await discord.until(reply.finish('One two three'))).toEqual({ kind: 'withheld' });
    await discord.until(reply.takeAway());
    expect(discord.texts).toEqual([]);
  });

  it('is not shown where it may not be any more once its beginning is noted', async () => {
    let mayShow = true;
    const { discord, reply } = growing({
      mayShow: () => Promise.resolve(mayShow),
      // A slow disk, and somebody is let in meanwhile.
      onMessages: () => Promise.resolve(void (mayShow = false)),
    });
    reply.show('One');
    await discord.pass(1000);
    expect(discord.texts).toEqual([]);
    expect(await discord.until(reply.finish('One two three'))).toEqual({ kind: 'withheld' });
  });

  it('that is withdrawn vanishes, also while it is finished, and an edit that still waits is taken back', async () => {
    const { discord, reply } = growing();
    reply.show('One');
    await discord.pass(1000);
    discord.latencyMs = 3000;
    const finished = reply.finish(`One ${paragraph('two', 3000)}`);
    await discord.pass(500);
    const withdrawn = reply.takeAway();
    expect(await discord.until(finished)).toEqual({ kind: 'withheld' });
    await discord.until(withdrawn);
    expect(discord.texts).toEqual([]);
    expect(discord.changes.map(({ kind }) => kind)).toEqual(['post', 'delete']);
  });

  // Not every server says by a code of Discord's that there is no such message.
  it.each([10_008, 0])(
    'that was deleted by somebody is neither edited again nor goes on elsewhere, and says so (%i)',
    async (code) => {
      const { discord, reply, gone } = growing();
      reply.show(`${paragraph('first', 1900)}\n\n${paragraph('second', 1900)}`);
      await discord.pass(3000);
      discord.failures.push(refusal(code, 404));
      reply.show(`${paragraph('first', 1900)}\n\n${paragraph('second', 1900)} more`);
      await discord.pass(3000);
      expect(gone).toEqual(['gone']);
      expect(discord.removed).toHaveLength(1);
      const before = discord.changes.length;
      reply.show('Something else');
      expect(await discord.until(reply.finish('Something else'))).toEqual({ kind: 'gone' });
      expect(discord.changes).toHaveLength(before);
    },
  );
});

const pace = fc.record({
  characters: fc.integer({ min: 1, max: 400 }),
  milliseconds: fc.integer({ min: 0, max: 900 }),
});
/** Connections that break, never so often one after the other that it is given up. */
const troubles = fc
  .array(fc.boolean(), { maxLength: 20 })
  .map((breaks) => breaks.flatMap((each) => [each ? new Error('socket hang up') : undefined, undefined]));

it('never shows more than 2,000 characters, an open fence, or anything too soon, and ends in the exact text', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(markdown, { minLength: 1, maxLength: 6 }).map((texts) => texts.join('\n\n')),
      fc.array(pace, { minLength: 1, maxLength: 30 }),
      fc.integer({ min: 0, max: 1500 }),
      troubles,
      fc.option(fc.nat(30)),
      async (text, paces, latencyMs, failures, restartsAt) => {
        const { discord, reply } = growing();
        discord.latencyMs = latencyMs;
        discord.failures.push(...failures);
        let end = 0;
        for (const [index, { characters, milliseconds }] of paces.entries()) {
          end = index === restartsAt ? 0 : end + characters;
          reply.show(text.slice(0, end));
          await discord.pass(milliseconds);
        }
        const finished = await discord.until(reply.finish(text));
        expect(finished.kind).toBe('sent');
        expect(discord.texts).toEqual(splitReply(text));
        expect(discord.mostAtOnce).toBeLessThanOrEqual(1);
        const pauses: number[] = [];
        let last = -Infinity;
        for (const { kind, content, begunAt, at } of discord.changes) {
          expect(content.length).toBeLessThanOrEqual(2000);
          expect(read(content).isBalanced).toBe(true);
          if (kind === 'edit') pauses.push(begunAt - last);
          last = at;
        }
        expect(pauses.filter((pause) => pause < 1200)).toEqual([]);
      },
    ),
    { numRuns: 150 },
  );
});
