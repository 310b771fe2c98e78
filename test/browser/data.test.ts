import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';

import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { fromBufferPromise } from 'yauzl';

import { command } from '../e2e/memory-talk.ts';
import { hindrances } from './browser.ts';
import { openPages } from './pages.ts';

const { stage, openPageOf } = await openPages();

async function personWith(name: string, text: string): Promise<string> {
  await stage.sandbox.addPerson({ name });
  await command(stage, '/memory', name, `@${name}`, `remember ${text}`);
  return name;
}

/** The file that a link saves, by the paths in it. */
async function filesIn(page: Page): Promise<ReadonlyMap<string, string>> {
  const saving = page.waitForEvent('download');
  await page
    .getByRole('status')
    .getByRole('link', { name: /^discoclaw-memory-.*\.zip$/u })
    .press('Enter');
  const zip = await fromBufferPromise(await readFile(await (await saving).path()), { lazyEntries: true });
  const files = new Map<string, string>();
  for await (const entry of zip.eachEntry())
    files.set(entry.fileName, (await buffer(await zip.openReadStreamPromise(entry))).toString());
  return files;
}

describe.each([
  ['with scripts', true],
  ['with scripts off', false],
])('in a browser %s', (_, javaScriptEnabled) => {
  const suffix = javaScriptEnabled ? '1' : '0';

  it('what was said and is kept is found, with the way to it [C1]', async () => {
    const name = await personWith(`seeker${suffix}`, 'I keep seven tortoises');
    await stage.ask(name, '#general', '@Discoclaw the tortoises slept all winter');
    await using opened = await openPageOf(name, { javaScriptEnabled });
    const { page } = opened;
    await page.getByRole('link', { name: 'Search', exact: true }).click();
    await page.getByRole('searchbox').fill('tortoises');
    await page.getByRole('searchbox').press('Enter');
    const found = page.getByRole('listitem');
    await found
      .filter({ hasText: 'slept all winter' })
      .first()
      .getByRole('link', { name: 'on Discord' })
      .waitFor();
    await found.filter({ hasText: 'seven tortoises' }).getByRole('link', { name: 'the item' }).click();
    await page.getByRole('heading', { name: 'An item' }).waitFor();
    await page.goto(new URL('/search?q=zebras', page.url()).href);
    expect(await page.getByRole('main').textContent()).toContain('I found nothing about "zebras".');
  });

  it('all is taken along, erased, and brought again [K10] [K11]', async () => {
    const name = await personWith(`mover${suffix}`, 'I collect sextants');
    await using opened = await openPageOf(name, { javaScriptEnabled });
    const { page } = opened;
    await page.getByRole('link', { name: 'Your data' }).click();
    await page.getByRole('button', { name: 'Export' }).click();
    const files = await filesIn(page);
    expect(files.get('items.json')).toContain('I collect sextants');
    const path = join(stage.folder, `items-${suffix}.json`);
    await writeFile(path, files.get('items.json') ?? '');

    await page.getByRole('button', { name: 'Erase everything about me' }).click();
    await page.getByRole('status').getByRole('button', { name: 'Erase everything' }).click();
    await page.getByText('Erased: everything that I held about you').waitFor();
    await page.goto(new URL('/', page.url()).href);
    await page.getByRole('heading', { name: 'You are not signed in' }).waitFor();
    expect(await command(stage, '/memory', name, `@${name}`, 'show')).toContain('(0 items)');

    await using again = await openPageOf(name, { javaScriptEnabled });
    await again.page.getByRole('link', { name: 'Your data' }).click();
    await again.page.getByLabel('A file of at most 10 MB').setInputFiles(path);
    await again.page.getByRole('button', { name: 'Look into the file' }).click();
    await again.page.getByRole('status').getByText('1 new item').waitFor();
    expect(await command(stage, '/memory', name, `@${name}`, 'show')).toContain('(0 items)');
    await again.page.getByRole('button', { name: 'Store' }).click();
    await again.page.getByText('Imported 1 item').waitFor();
    expect(await command(stage, '/memory', name, `@${name}`, 'show')).toContain('I collect sextants');
  });
});

it('all of it goes by keyboard alone', async () => {
  const name = await personWith('typist', 'My boat is called Marlin');
  await using opened = await openPageOf(name);
  const { page } = opened;
  await page.getByRole('link', { name: 'Search', exact: true }).press('Enter');
  await page.getByRole('searchbox').focus();
  await page.keyboard.type('boat');
  await page.keyboard.press('Enter');
  await page.getByRole('listitem').filter({ hasText: 'Marlin' }).first().waitFor();
  await page.getByRole('link', { name: 'Your data' }).press('Enter');
  await page.getByRole('button', { name: 'Export' }).press('Enter');
  expect((await filesIn(page)).get('items.json')).toContain('Marlin');
  await page.getByLabel('Or a list').focus();
  await page.keyboard.type('I brew cider');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.getByRole('status').getByText('1 new item').waitFor();
  await page.getByRole('button', { name: 'Store' }).press('Enter');
  await page.getByText('Imported 1 item').waitFor();
  await page.getByLabel('Words').focus();
  await page.keyboard.type('Marlin');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Erase it' }).press('Enter');
  await page.getByText('Erased: everything that says').waitFor();
  expect(await command(stage, '/memory', name, `@${name}`, 'show')).toMatch(/^(?!.*Marlin).*cider/su);
  await page.getByRole('button', { name: 'Erase everything about me' }).press('Enter');
  await page.getByRole('status').getByRole('button', { name: 'Erase everything' }).press('Enter');
  await page.getByText('Erased: everything that I held about you').waitFor();
});

it.each(
  (['light', 'dark'] as const).flatMap((colorScheme) =>
    [1280, 360].map((width) => [colorScheme, width] as const),
  ),
)('the pages are readable and fit: %s, %i pixels [Y5]', async (colorScheme, width) => {
  const name = await personWith(`reader${colorScheme}${width}`, 'I keep four tortoises');
  await using opened = await openPageOf(name, {
    colorScheme,
    viewport: { width, height: 800 },
  });
  const { page, problems } = opened;
  for (const path of ['/search?q=tortoises', '/data']) {
    await page.goto(new URL(path, page.url()).href);
    expect(await hindrances(page)).toEqual([]);
  }
  expect(problems).toEqual([]);
});
