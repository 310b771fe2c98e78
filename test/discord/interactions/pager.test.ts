import type { ButtonInteraction, CommandInteraction } from 'discord.js';
import { describe, expect, it } from 'vitest';

import { createPager, pageButtons, readPageButton } from '../../../src/discord/interactions/pager.ts';

/** Each too long for a message to hold two of them. */
const pages = ['one', 'two', 'three'].map((page) => page.padEnd(1500, '.'));
const pagerId = '100000000000000001';
const bob = '100000000000000002';
const eve = '100000000000000003';

/** What an interaction was answered with, in order. */
function interaction(
  userId: string,
  answers: [string, { readonly components?: unknown[] }][],
  customId = '',
) {
  const record = (kind: string) => (answer: { readonly components?: unknown[] }) => {
    answers.push([kind, answer]);
    return Promise.resolve();
  };
  const fake = {
    id: pagerId,
    user: { id: userId },
    customId,
    editReply: record('edit'),
    update: record('update'),
    reply: record('reply'),
    followUp: record('follow-up'),
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- all that is looked at
  return fake as unknown as CommandInteraction & ButtonInteraction;
}

function openPager() {
  const answers: [string, { readonly components?: unknown[] }][] = [];
  const pager = createPager();
  const first = pager.show(interaction(bob, answers), { text: pages.join('\n\n') });
  const click = (page: number, userId = bob) =>
    pager.click(interaction(userId, answers, `page:${pagerId}:${bob}:${page}`));
  return { pager, answers, first, click };
}

describe('pages', () => {
  it('are turned by their asker', async () => {
    const { first, click, answers } = openPager();
    expect(first.content).toBe(pages[0]);
    await click(1);
    await click(2);
    await click(1);
    expect(answers).toMatchObject([
      ['update', { content: pages[1] }],
      ['update', { content: pages[2] }],
      ['update', { content: pages[1] }],
    ]);
  });

  it('are turned by nobody else', async () => {
    const { click, answers } = openPager();
    await click(1, eve);
    expect(answers).toMatchObject([
      ['reply', { content: expect.stringContaining('Only the person who used') }],
    ]);
  });

  it('are turned by nobody else, though the button names them', async () => {
    const { pager, answers } = openPager();
    await pager.click(interaction(eve, answers, `page:${pagerId}:${eve}:1`));
    expect(answers).toMatchObject([
      ['reply', { content: expect.stringContaining('Only the person who used') }],
    ]);
  });

  it('are no pages where one message holds it all', () => {
    const { pager, answers } = openPager();
    expect(pager.show(interaction(bob, answers), { text: 'short' })).toMatchObject({
      content: 'short',
      components: [],
    });
  });

  it('leave out buttons that find no room beside those that turn them', () => {
    const { pager } = openPager();
    const many = Array.from({ length: 25 }, (_, index) => ({
      label: String(index),
      line: `memory why ${index}`,
    }));
    const paged = pager.show(interaction(bob, []), { text: pages.join('\n\n'), buttons: many });
    expect(paged.components).toHaveLength(5);
    expect(JSON.stringify(paged.components)).toMatch(/Page 1 of 3.*memory why 19/u);
    expect(pager.show(interaction(bob, []), { text: 'short', buttons: many }).components).toHaveLength(5);
  });

  it('leave a button of something else alone', async () => {
    const { pager, answers } = openPager();
    expect(await pager.click(interaction(bob, answers, 'vote:1:2:3'))).toBe(false);
    expect(answers).toEqual([]);
  });

  it('ask for the command again after a restart, and lose their buttons then', async () => {
    const { answers } = openPager();
    await createPager().click(interaction(bob, answers, `page:${pagerId}:${bob}:1`));
    expect(answers).toMatchObject([
      ['update', { components: [] }],
      ['follow-up', { content: expect.stringContaining('use the command again') }],
    ]);
  });
});

const ids = { pagerId: '100000000000000001', askerId: '100000000000000002' };

function buttons(page: number, count: number) {
  return pageButtons(ids, page, count).components.map((button) => ({
    label: 'label' in button ? button.label : '',
    isDisabled: button.disabled,
    leadsTo: 'custom_id' in button ? readPageButton(button.custom_id)?.page : undefined,
  }));
}

describe('the buttons under a page', () => {
  it('lead one page back and forth, and say where one is', () => {
    expect(buttons(1, 3)).toEqual([
      { label: '◀', isDisabled: false, leadsTo: 0 },
      { label: 'Page 2 of 3', isDisabled: true, leadsTo: undefined },
      { label: '▶', isDisabled: false, leadsTo: 2 },
    ]);
  });

  it('lead nowhere at the ends', () => {
    expect(buttons(0, 2).map(({ isDisabled }) => isDisabled)).toEqual([true, true, false]);
    expect(buttons(1, 2).map(({ isDisabled }) => isDisabled)).toEqual([false, true, true]);
  });

  it('have ids of their own, which say whose they are', () => {
    const customIds = pageButtons(ids, 0, 2).components.map((button) =>
      'custom_id' in button ? button.custom_id : '',
    );
    expect(new Set(customIds).size).toBe(3);
    expect(readPageButton(customIds[2] ?? '')).toEqual({ ...ids, page: 1 });
  });

  it.each(['', 'page:1:2', 'page:1:2:-1', 'page:1:2:3:4', 'vote:1:2:3'])('are not %j', (customId) => {
    expect(readPageButton(customId)).toBeUndefined();
  });
});
