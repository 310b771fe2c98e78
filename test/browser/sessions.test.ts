import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';

import { command, idIn } from '../e2e/memory-talk.ts';
import { openPages } from './pages.ts';

const { stage, openPageOf } = await openPages();

const give = (name: string, words: string) => command(stage, '/memory', name, `@${name}`, words);

async function personWith(name: string, text: string): Promise<string> {
  await stage.sandbox.addPerson({ name });
  return idIn(await give(name, `remember ${text}`));
}

/** Another tab of the same browser. */
async function tabBeside(page: Page, path = '/'): Promise<Page> {
  const tab = await page.context().newPage();
  await tab.goto(new URL(path, page.url()).href);
  return tab;
}

describe('what is being written is not lost [Y1]', () => {
  it('where another tab signs out: its page goes, and so do all others', async () => {
    await personWith('sam', 'I keep bees');
    await using opened = await openPageOf('sam');
    const { page } = opened;
    const editor = await tabBeside(page, '/notebook?file=USER.md');
    await editor.getByLabel('USER.md').fill('A long text of mine.');
    const idle = await tabBeside(page);
    await idle.getByText('I keep bees').waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    for (const tab of [editor, idle])
      await tab.getByRole('heading', { name: 'You are not signed in' }).waitFor();
    expect(await editor.getByLabel('What you were writing').inputValue()).toBe('A long text of mine.');
    expect(await idle.getByText('I keep bees').count()).toBe(0);
  });

  it.each([
    ['with scripts', true],
    ['with scripts off', false],
  ])('where it comes too late, or is refused, %s', async (_, javaScriptEnabled) => {
    const name = `late${String(javaScriptEnabled)}`;
    await personWith(name, 'I keep bees');
    await using opened = await openPageOf(name, { javaScriptEnabled });
    const { page } = opened;
    const field = page.getByLabel('Remember something');
    const long = `I keep ${'very '.repeat(98)}`;
    await field.fill(`${long}\n`.slice(0, 500));
    await give(name, 'pause');
    // It moves what is below it.
    if (javaScriptEnabled) await page.getByRole('button', { name: 'Resume' }).waitFor();
    await page.getByRole('button', { name: 'Remember', exact: true }).click();
    await page.getByRole('status').getByText('Your memory is paused here').waitFor();
    expect(await page.getByLabel('What you wrote').inputValue()).toContain(long.slice(0, 480));
    await give(name, 'resume');
    if (javaScriptEnabled) await page.getByRole('button', { name: 'Pause' }).waitFor();
    await page.getByLabel('What you wrote').fill('I keep hens');
    await page.getByRole('button', { name: 'Send again' }).click();
    await page.getByRole('status').getByText('Remembered').waitFor();
    await field.fill('I keep\ngeese');
    await page.context().clearCookies();
    await page.getByRole('button', { name: 'Remember', exact: true }).click();
    await page.getByRole('heading', { name: 'You are not signed in' }).waitFor();
    expect(await page.getByLabel('What you wrote').inputValue()).toBe('I keep\ngeese');
  });

  it('where its item goes, or its page is loaded again; nor is what was chosen', async () => {
    const id = await personWith('rita', 'I keep bees');
    await using opened = await openPageOf('rita');
    const { page, problems } = opened;
    await page.getByLabel('Remember something').fill('I keep hens');
    await page.getByLabel('Mode').selectOption('ask');
    await give('rita', 'remember I keep geese');
    await page.getByText('I keep geese').waitFor();
    expect(await page.getByLabel('Mode').inputValue()).toBe('ask');
    await page.reload();
    expect(await page.getByLabel('Remember something').inputValue()).toBe('I keep hens');
    await page.getByRole('article').filter({ hasText: 'geese' }).getByRole('button', { name: 'Pin' }).click();
    await page.getByRole('status').getByText('Pinned').waitFor();
    expect(await page.getByLabel('Remember something').inputValue()).toBe('I keep hens');
    await page.getByRole('button', { name: 'Remember', exact: true }).click();
    await page.getByRole('status').getByText('Remembered').waitFor();
    expect(await page.getByLabel('Remember something').inputValue()).toBe('');
    await page.goto(new URL(`/items/${id}`, page.url()).href);
    await page.getByLabel('What I remember').fill('I keep wasps');
    await give('rita', `forget ${id}`);
    await page.getByRole('heading', { name: 'Not there' }).waitFor();
    expect(await page.getByLabel('What you were writing').inputValue()).toBe('I keep wasps');
    expect(problems.filter((problem) => !problem.includes('404'))).toEqual([]);
  });

  it('without a word: the page says before its time is over', async () => {
    await personWith('ed', 'I keep bees');
    await using opened = await openPageOf('ed');
    const { page } = opened;
    await page.clock.install();
    await page.reload();
    await page.getByText('Signed in until').waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
    await page.clock.fastForward('56:00');
    await page.getByRole('alert').getByText('Your time here is nearly over').waitFor();
    const asked = page.waitForRequest((request) => request.headers()['x-live'] === undefined);
    await page.getByRole('button', { name: 'Stay signed in' }).click();
    await page.clock.fastForward('00:01');
    expect((await asked).method()).toBe('GET');
  });
});

describe('a browser', () => {
  it('with eight tabs follows in each what changes, and their buttons work [Y3]', async () => {
    await personWith('tab', 'I keep bees');
    await using opened = await openPageOf('tab');
    const { page } = opened;
    const tabs = [page];
    while (tabs.length < 8) tabs.push(await tabBeside(page));
    await give('tab', 'remember I keep geese');
    for (const tab of tabs) await tab.getByText('I keep geese').waitFor();
    // The one that hears of changes goes.
    await page.close();
    await tabs[7]?.getByRole('button', { name: 'Pause' }).click();
    for (const tab of tabs.slice(1)) await tab.getByRole('button', { name: 'Resume' }).waitFor();
    expect(await give('tab', 'show')).toContain('aused');
  });

  it.each([
    ['with scripts', true],
    ['with scripts off', false],
  ])('does once what is clicked twice, %s', async (_, javaScriptEnabled) => {
    const name = `twice${String(javaScriptEnabled)}`;
    await personWith(name, 'I keep bees');
    await using opened = await openPageOf(name, { javaScriptEnabled });
    const { page } = opened;
    await page.getByRole('button', { name: 'Forget' }).dblclick();
    await page.getByRole('status').getByText('Deprecated 1 item').waitFor();
    await page.getByRole('button', { name: 'Undo' }).dblclick();
    await page.getByRole('status').getByText('Undone').waitFor();
    await page.getByRole('link', { name: 'Your data' }).click();
    await page.getByRole('button', { name: 'Erase everything about me' }).dblclick();
    await page.getByRole('status').getByRole('button', { name: 'Erase everything' }).dblclick();
    await page.getByText('Erased: everything that I held about you').waitFor();
    expect(await give(name, 'show')).toContain('(0 items)');
  });

  it('lays out what was written from right to left in that direction [Y5]', async () => {
    await personWith('noa', 'אני גרה בחיפה');
    await using opened = await openPageOf('noa');
    const { page } = opened;
    const directionOf = (selector: string) =>
      page.evaluate(`getComputedStyle(document.querySelector('${selector}')).direction`);
    const all = async () => [
      await directionOf('.text'),
      await directionOf('textarea'),
      await directionOf('nav'),
    ];
    await page.getByLabel('Remember something').fill('שלום');
    expect(await all()).toEqual(['rtl', 'rtl', 'ltr']);
    expect(await page.getByRole('searchbox').getAttribute('id')).toBe('q');
  });
});
