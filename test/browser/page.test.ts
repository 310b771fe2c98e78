import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';

import { command, idIn } from '../e2e/memory-talk.ts';
import { hindrances } from './browser.ts';
import { openPages } from './pages.ts';

const { stage, openPageOf } = await openPages();

/** A person who has these items. */
async function personWith(name: string, ...texts: readonly string[]) {
  await stage.sandbox.addPerson({ name });
  const ids: string[] = [];
  for (const text of texts)
    ids.push(idIn(await command(stage, '/memory', name, `@${name}`, `remember ${text}`)));
  return { ids, show: () => command(stage, '/memory', name, `@${name}`, 'show') };
}

/** The item that says something. */
function itemSaying(page: Page, text: string) {
  return page.getByRole('article').filter({ hasText: text });
}

describe('in a browser [Y6]', () => {
  it.each([
    ['with scripts', true],
    ['with scripts off', false],
  ])('forgets and brings back by mouse, %s', async (_, javaScriptEnabled) => {
    const name = `mouse${String(javaScriptEnabled)}`;
    const { show } = await personWith(name, 'I drink green tea', 'I keep bees');
    await using opened = await openPageOf(name, { javaScriptEnabled });
    const { page } = opened;
    await itemSaying(page, 'green tea').getByRole('button', { name: 'Forget' }).click();
    await page.getByRole('status').getByText('Deprecated 1 item').waitFor();
    expect(await itemSaying(page, 'green tea').count()).toBe(0);
    expect(await show()).not.toContain('green tea');
    await page.getByRole('button', { name: 'Undo' }).click();
    await itemSaying(page, 'green tea').waitFor();
    expect(await show()).toContain('green tea');
    await page.getByLabel('Search').fill('bees');
    if (!javaScriptEnabled) await page.getByRole('button', { name: 'Show' }).click();
    await expect.poll(() => page.getByRole('article').count()).toBe(1);
    expect(page.url()).toContain('q=bees');
    await page.getByRole('link', { name: 'Edit and why' }).click();
    await page.getByText('How: you told me to remember it').waitFor();
    await page.getByLabel('What I remember').fill('I keep hens');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('status').getByText('Edited:').waitFor();
    await page.locator('#why p').filter({ hasText: ': I keep bees' }).waitFor();
    expect(await show()).toContain('I keep hens');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Signed out' }).waitFor();
    expect(opened.problems).toEqual([]);
  });

  it('forgets and brings back by keyboard alone', async () => {
    const { show } = await personWith('keys', 'I play the zither');
    await using opened = await openPageOf('keys');
    const { page } = opened;
    const reach = async (accessibleName: string) => {
      for (let steps = 0; steps < 60; steps += 1) {
        await page.keyboard.press('Tab');
        const held = page.locator(':focus');
        const name = (await held.getAttribute('aria-label')) ?? (await held.textContent());
        if (name?.trim().startsWith(accessibleName) === true) return;
      }
      throw new Error(`No way to ${accessibleName} by keyboard`);
    };
    await reach('Forget');
    await page.keyboard.press('Enter');
    await page.getByRole('status').getByText('Deprecated 1 item').waitFor();
    expect(await show()).not.toContain('zither');
    await reach('Undo');
    await page.keyboard.press('Space');
    await itemSaying(page, 'zither').waitFor();
    expect(await show()).toContain('zither');
  });

  it('shows within two seconds what changes on Discord, and the other way round [Y3]', async () => {
    const { ids, show } = await personWith('liv', 'I live in Porto');
    await using opened = await openPageOf('liv');
    const { page } = opened;
    const within = { timeout: 2000 };
    await itemSaying(page, 'Porto').getByRole('link', { name: 'Edit and why' }).focus();
    await command(stage, '/memory', 'liv', '@liv', 'remember I own a canoe');
    await itemSaying(page, 'canoe').waitFor(within);
    // Somebody who is about to press something stays there.
    expect(await page.locator(':focus').getAttribute('href')).toBe(`/items/${ids[0]}`);
    await command(stage, '/memory', 'liv', '@liv', `forget ${ids[0]}`);
    await itemSaying(page, 'Porto').waitFor({ state: 'detached', ...within });
    await command(stage, '/memory', 'liv', '@liv', 'pause');
    await page.getByRole('button', { name: 'Resume' }).waitFor(within);
    await command(stage, '/memory', 'liv', '@liv', 'mode ask');
    await page.getByRole('button', { name: 'Resume' }).click();
    await expect.poll(show).not.toContain('Paused');
    expect(await page.getByLabel('Mode').inputValue()).toBe('ask');
    expect(opened.problems).toEqual([]);
  });

  it('does what was pressed before something changed, and released after [Y3]', async () => {
    await personWith('ned', 'I keep bees');
    await using opened = await openPageOf('ned');
    const { page } = opened;
    const box = await itemSaying(page, 'bees').getByRole('button', { name: 'Pin' }).boundingBox();
    await page.mouse.move((box?.x ?? 0) + 5, (box?.y ?? 0) + 5);
    await page.mouse.down();
    await command(stage, '/memory', 'ned', '@ned', 'remember I own a kayak');
    // The page hears of it at once, and would show it 150 ms later.
    await page.waitForTimeout(800);
    await page.mouse.up();
    await page.getByRole('status').getByText('Pinned').waitFor();
    await itemSaying(page, 'kayak').waitFor();
    expect(opened.problems).toEqual([]);
  });

  it('runs nothing that an item says', async () => {
    await personWith('mallory', '<img src=x onerror="document.title=1"><script>document.title=2</script>');
    await using opened = await openPageOf('mallory');
    await itemSaying(opened.page, '<script>').waitFor();
    expect(await opened.page.title()).toBe('Your memory');
    expect(await opened.page.locator('main img, main script').count()).toBe(0);
  });

  const looks = (['light', 'dark'] as const).flatMap((colorScheme) =>
    [1280, 360].map((width) => ({ colorScheme, width })),
  );

  it.each(looks)('is readable and fits: $colorScheme, $width pixels [Y5]', async ({ colorScheme, width }) => {
    const name = `${colorScheme}${width}`;
    const long = 'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft';
    const { ids } = await personWith(name, `I work for the ${long}`, 'I keep bees');
    await using opened = await openPageOf(name, {
      colorScheme,
      viewport: { width, height: 800 },
      bypassCSP: true,
    });
    const { page } = opened;
    await itemSaying(page, 'bees').getByRole('button', { name: 'Pin' }).click();
    await page.getByRole('status').getByText('Pinned').waitFor();
    for (const path of [
      page.url(),
      new URL(`/items/${ids[0]}`, page.url()).href,
      new URL('/sign-in/x', page.url()).href,
    ]) {
      await page.goto(path);
      expect(await hindrances(page)).toEqual([]);
    }
  });
});
