import type { BrowserContextOptions } from 'playwright-core';
import { describe, expect, it } from 'vitest';

import { command } from '../e2e/memory-talk.ts';
import { hindrances } from './browser.ts';
import { openPages } from './pages.ts';

const { stage, openPageOf } = await openPages();

/** The page of a person who was answered in their DM and in a channel. */
async function openOf(name: string, options?: BrowserContextOptions) {
  await stage.sandbox.addPerson({ name });
  await command(stage, '/memory', name, `@${name}`, 'remember I grow apples');
  await stage.ask(name, `@${name}`, 'What do I grow?');
  await stage.ask(name, '#general', 'What do I like?');
  return openPageOf(name, options);
}

describe('what the bot was given, in a browser [Y2a] [Y6]', () => {
  it.each([
    ['with scripts', true],
    ['with scripts off', false],
  ])('is looked at by mouse, %s, as it is by now', async (_, javaScriptEnabled) => {
    const name = `saw${String(javaScriptEnabled)}`;
    await using opened = await openOf(name, { javaScriptEnabled });
    const { page } = opened;
    await page.getByRole('link', { name: 'Answers' }).click();
    await expect.poll(() => page.getByRole('img', { name: /^Characters: .*Your message/u }).count()).toBe(2);
    await page.getByRole('link', { name: 'All parts' }).last().click();
    await page.getByRole('row', { name: /^Items .*\d of|^Items \d/u }).waitFor();
    await page.getByText('Your message', { exact: true }).last().click();
    await page.getByText('What do I grow?').waitFor();
    const items = page.locator('details').filter({ hasText: 'Items' });
    await items.locator('summary').click();
    await items.getByText('I grow apples').waitFor();
    await command(stage, '/memory', name, `@${name}`, 'forget apples');
    if (!javaScriptEnabled) await page.reload();
    if (!javaScriptEnabled) await items.locator('summary').click();
    await items.getByText('1 item that was forgotten since').waitFor();
    expect(await page.getByText('I grow apples').count()).toBe(0);
    expect(opened.problems).toEqual([]);
  });

  it('is opened by keyboard alone', async () => {
    await using opened = await openOf('sawkeys');
    const { page } = opened;
    await page.getByRole('link', { name: 'Answers' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'What I was given' }).waitFor();
    await page.getByRole('link', { name: 'All parts' }).last().focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'One answer' }).waitFor();
    await page.locator('summary').first().focus();
    await page.keyboard.press('Enter');
    await page.getByText('What do I grow?').waitFor();
    expect(opened.problems).toEqual([]);
  });

  it.each([
    ['light', 1280],
    ['dark', 1280],
    ['light', 360],
    ['dark', 360],
  ] as const)('keeps nobody from using it: %s, %d pixels wide', async (colorScheme, width) => {
    await using opened = await openOf(`saw${colorScheme}${width}`, {
      colorScheme,
      viewport: { width, height: 800 },
    });
    const { page } = opened;
    await page.getByRole('link', { name: 'Answers' }).click();
    await page.getByRole('heading', { name: 'What I was given' }).waitFor();
    expect(await hindrances(page)).toEqual([]);
    await page.getByRole('link', { name: 'All parts' }).last().click();
    await page.getByRole('heading', { name: 'One answer' }).waitFor();
    for (const summary of await page.locator('summary').all()) await summary.click();
    expect(await hindrances(page)).toEqual([]);
  });
});
