import type { ButtonInteraction, CommandInteraction } from 'discord.js';
import { describe, expect, it } from 'vitest';

import { createPager } from '../../../src/discord/interactions/pager.ts';
import { RecordingLogger } from '../../support/recording-logger.ts';

const pages = ['one', 'two', 'three'];
const pagerId = '100000000000000001';
const bob = '100000000000000002';
const eve = '100000000000000003';

/** Time that a test moves on by itself. */
function fakeTime() {
  let now = 0;
  const waiting = new Map<object, { readonly at: number; readonly work: () => void }>();
  return {
    waiting,
    later: (work: () => void, milliseconds: number) => {
      const timer = {};
      waiting.set(timer, { at: now + milliseconds, work });
      return () => void waiting.delete(timer);
    },
    pass(milliseconds: number) {
      now += milliseconds;
      for (const [timer, { at, work }] of waiting) {
        if (at > now) continue;
        waiting.delete(timer);
        work();
      }
    },
  };
}

/** What an interaction was answered with, in order. */
function interaction(userId: string, answers: [string, { readonly components?: unknown[] }][]) {
  const record = (kind: string) => (answer: { readonly components?: unknown[] }) => {
    answers.push([kind, answer]);
    return Promise.resolve();
  };
  const fake = {
    id: pagerId,
    user: { id: userId },
    editReply: record('edit'),
    update: record('update'),
    reply: record('reply'),
    followUp: record('follow-up'),
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- all that is looked at
  return fake as unknown as CommandInteraction & ButtonInteraction;
}

function openPager() {
  const time = fakeTime();
  const answers: [string, { readonly components?: unknown[] }][] = [];
  const pager = createPager({ logger: new RecordingLogger(), later: time.later });
  const first = pager.open(interaction(bob, answers), pages);
  const click = (page: number, userId = bob) =>
    pager.turn(interaction(userId, answers), { pagerId, askerId: bob, page });
  return { pager, time, answers, first, click };
}

const minute = 60_000;

describe('pages', () => {
  it('are turned by their asker', async () => {
    const { first, click, answers } = openPager();
    expect(first.content).toBe('one');
    await click(1);
    await click(2);
    await click(1);
    expect(answers).toMatchObject([
      ['update', { content: 'two' }],
      ['update', { content: 'three' }],
      ['update', { content: 'two' }],
    ]);
  });

  it('are turned by nobody else', async () => {
    const { click, answers } = openPager();
    await click(1, eve);
    expect(answers).toMatchObject([['reply', { content: expect.stringContaining('Only who gave') }]]);
  });

  it('are turned by nobody else, though the button names them', async () => {
    const { pager, answers } = openPager();
    await pager.turn(interaction(eve, answers), { pagerId, askerId: eve, page: 1 });
    expect(answers).toMatchObject([['reply', { content: expect.stringContaining('Only who gave') }]]);
  });

  it('lose their buttons ten minutes after the last click', async () => {
    const { time, click, answers } = openPager();
    time.pass(9 * minute);
    await click(1);
    time.pass(9 * minute);
    expect(answers).toHaveLength(1);
    time.pass(minute);
    expect(answers.at(-1)).toEqual(['edit', { components: [] }]);
    expect(time.waiting.size).toBe(0);
  });

  it('ask for the command again when they are gone, and lose their buttons then', async () => {
    const { pager, click, answers } = openPager();
    pager.close();
    await click(1);
    expect(answers).toMatchObject([
      ['update', { components: [] }],
      ['follow-up', { content: expect.stringContaining('give the command again') }],
    ]);
  });

  it('leave nothing waiting at the end', () => {
    const { pager, time } = openPager();
    pager.close();
    expect(time.waiting.size).toBe(0);
  });

  it('end for an answer that Discord does not know any more without a word', async () => {
    const time = fakeTime();
    const logger = new RecordingLogger();
    const pager = createPager({ logger, later: time.later });
    const unknown = Object.assign(interaction(bob, []), {
      editReply: () => Promise.reject(new Error('Unknown Message')),
    });
    pager.open(unknown, pages);
    time.pass(10 * minute);
    await Promise.resolve();
    expect(logger.warnings).toEqual([]);
  });
});
