import type { BrowserContextOptions, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';

import { command } from '../e2e/memory-talk.ts';
import { answeringBy } from '../e2e/model-calls.ts';
import { hindrances } from './browser.ts';
import { openPages } from './pages.ts';

const environment = {
  DISCOCLAW_SUMMARY_TO_DURABLE_ENABLED: 'true',
  DISCOCLAW_SUMMARY_EVERY_N_TURNS: '1',
};
const model = answeringBy({
  summary: () => ({ text: 'They plan a trip.' }),
  extraction: ({ messages = [] }) => {
    const told = messages.flatMap(({ content }) => content.map(({ text = '' }) => text)).join('');
    const messageId = /\[(\d+)\] [^\n]*I keep an axolotl/u.exec(told)?.[1];
    const found = { kind: 'fact', quote: 'I keep an axolotl', messageId };
    return { json: { items: messageId === undefined ? [] : [found] } };
  },
});
const { stage, openPageOf } = await openPages({ environment, model });

/** Somebody with two items of one matter, a summary of their DM, and something that they are asked about. */
async function openOf(name: string, options?: BrowserContextOptions) {
  const { id } = await stage.sandbox.addPerson({ name });
  const dm = `@${name}`;
  const give = (words: string) => command(stage, '/memory', name, dm, words);
  await give('remember I live in Porto');
  await give('remember I live in Lisbon');
  await stage.ask(name, dm, 'Where shall we go?');
  await expect.poll(() => give('show')).toContain('They plan a trip.');
  await give('mode ask');
  await stage.ask(name, dm, 'I keep an axolotl');
  await expect.poll(() => give('proposals')).toContain('axolotl');
  const opened = await openPageOf(name, options);
  return { ...opened, give, notebookFile: `data/users/${id}/notebook/USER.md` };
}

const cardSaying = (page: Page, text: string) => page.getByRole('article').filter({ hasText: text });

describe('what waits, conversations and the notebook, in a browser [Y2] [Y6]', () => {
  it.each([
    ['with scripts', true],
    ['with scripts off', false],
  ])('are answered, cleared and edited by mouse, %s', async (_, javaScriptEnabled) => {
    const name = `own${String(javaScriptEnabled)}`;
    await using opened = await openOf(name, { javaScriptEnabled });
    const { page, give, notebookFile } = opened;
    const status = page.getByRole('status');

    await page.getByRole('link', { name: 'Review' }).click();
    await cardSaying(page, 'axolotl').getByRole('button', { name: 'In other words' }).click();
    await status.getByLabel('What I remember').fill('I keep two axolotls');
    await status.getByRole('button', { name: 'Save' }).click();
    await status.getByText('Remembered').waitFor();
    expect(await give('show')).toContain('I keep two axolotls');
    await cardSaying(page, 'Porto').getByRole('button', { name: 'Keep the newer' }).click();
    await page.getByText('Nothing to review.', { exact: true }).waitFor();
    expect(await give('show')).not.toContain('Porto');
    await status.getByRole('button', { name: 'Undo' }).click();
    await cardSaying(page, 'Porto').waitFor();

    await page.getByRole('link', { name: 'Conversations' }).click();
    await page.getByText('They plan a trip.').waitFor();
    await page.getByRole('link', { name: 'Our direct messages' }).click();
    await page.getByRole('link', { name: 'Open it on Discord' }).waitFor();
    await page.getByRole('button', { name: 'Clear the summary' }).click();
    await page.getByText('None yet.').waitFor();
    expect(await give('show')).not.toContain('They plan a trip.');

    await page.getByRole('link', { name: 'Notebook' }).click();
    await page.getByRole('link', { name: 'USER.md' }).click();
    const field = page.locator('main > form').getByLabel('USER.md');
    const save = page.locator('main > form').getByRole('button', { name: 'Save' });
    await field.fill('I am a baker.');
    await save.click();
    await status.getByText('Saved').waitFor();
    expect(await stage.readFile(notebookFile)).toBe('I am a baker.\n');
    await stage.writeFile(notebookFile, 'Somebody else was here.\n');
    await field.fill('I am a cook.');
    await save.click();
    await status.getByText('was changed since you opened it').waitFor();
    expect(await field.inputValue()).toBe('Somebody else was here.\n');
    await status.getByRole('button', { name: 'Save' }).click();
    await status.getByText('Saved').waitFor();
    expect(await stage.readFile(notebookFile)).toBe('I am a cook.\n');
    await status.getByRole('button', { name: 'Undo' }).click();
    await status.getByText('Undone').waitFor();
    expect(await stage.readFile(notebookFile)).toBe('Somebody else was here.\n');
    expect(opened.problems).toEqual([]);
  });

  it('are reached by keyboard alone', async () => {
    await using opened = await openOf('ownkeys');
    const { page, give, notebookFile } = opened;
    const reach = async (name: string) => {
      for (let steps = 0; steps < 60; steps += 1) {
        await page.keyboard.press('Tab');
        if ((await page.locator(':focus').textContent())?.trim() === name) return;
      }
      throw new Error(`No way to ${name} by keyboard`);
    };
    await reach('Review');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'To review' }).waitFor();
    await reach('Both');
    await page.keyboard.press('Space');
    await page.getByRole('status').getByText('Still true').waitFor();
    await reach('In other words');
    await page.keyboard.press('Enter');
    // The field has the focus, so that one writes at once.
    await expect.poll(() => page.locator(':focus').getAttribute('id')).toBe('answer');
    await page.keyboard.press('Control+End');
    await page.keyboard.type(' in a tank');
    await reach('Save');
    await page.keyboard.press('Enter');
    await page.getByRole('status').getByText('Remembered').waitFor();
    expect(await give('show')).toContain('I keep an axolotl in a tank');
    await reach('Notebook');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Your notebook' }).waitFor();
    await reach('USER.md');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'USER.md' }).waitFor();
    await page.getByLabel('USER.md').focus();
    await page.keyboard.type('I am a baker.');
    await reach('Save');
    await page.keyboard.press('Enter');
    await page.getByRole('status').getByText('Saved').waitFor();
    expect(await stage.readFile(notebookFile)).toBe('I am a baker.\n');
    expect(opened.problems).toEqual([]);
  });

  const looks = (['light', 'dark'] as const).flatMap((colorScheme) =>
    [1280, 360].map((width) => ({ colorScheme, width })),
  );

  it.each(looks)('are readable and fit: $colorScheme, $width pixels [Y5]', async ({ colorScheme, width }) => {
    await using opened = await openOf(`own${colorScheme}${width}`, {
      colorScheme,
      viewport: { width, height: 800 },
      bypassCSP: true,
    });
    const { page } = opened;
    await page.getByRole('link', { name: 'Conversations' }).click();
    const conversation = await page.getByRole('link', { name: 'Our direct messages' }).getAttribute('href');
    const paths = ['/review', '/conversations', conversation ?? '', '/notebook', '/notebook?file=USER.md'];
    const found: Record<string, readonly string[]> = {};
    for (const path of paths) {
      await page.goto(new URL(path, page.url()).href);
      found[path] = await hindrances(page);
    }
    await page.getByRole('link', { name: 'Review' }).click();
    await page.getByRole('button', { name: 'In other words' }).click();
    await page.getByRole('status').getByLabel('What I remember').waitFor();
    found['a form'] = await hindrances(page);
    expect(found).toEqual(Object.fromEntries([...paths, 'a form'].map((path) => [path, []])));
  });
});
