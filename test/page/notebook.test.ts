import { expect, it } from 'vitest';

import { aliceId } from '../support/incoming.ts';
import { alice, bob, openPage } from './page-harness.ts';

const key = `users/${aliceId}/notebook/USER.md`;
const back = '/notebook?file=USER.md';

/** What the form of the page's file gives: its command, and what stands in its field. */
function formIn(page: string) {
  const { line = '', value = '' } =
    /name="line" value="memory (?<line>notebook-write [^"]+)"[\s\S]*?<textarea[^>]*>\n?(?<value>[^<]*)<\/textarea>/u.exec(
      page,
    )?.groups ?? {};
  return { line, value };
}

it('the notebook is listed, edited by hand and brought back; a text that comes too late is shown again [Y2] [N9]', async () => {
  await using place = await openPage();
  const { store } = place.harness;
  await store.writeText(key, '- likes <tea>\n');
  const browser = await place.browserOf(alice);
  expect(await browser.text('/notebook')).toContain('href="/notebook?file=USER.md"');
  const first = formIn(await browser.text(back));
  expect(first.value).toBe('- likes &lt;tea&gt;\n');
  const saved = await browser.give(first.line, { text: '- likes\r\n- bees', back });
  expect(saved).toContain('Saved <code>USER.md</code>: 15 bytes.');
  expect(await store.readText(key)).toBe('- likes\n- bees\n');
  expect(formIn(saved).value).toBe('- likes\n- bees\n');

  const late = await browser.give(first.line, { text: 'my own words', back });
  expect(late).toContain('USER.md was changed since you opened it, so nothing was written.');
  expect(formIn(late).value).toBe('my own words');
  // What the file says now stands below it.
  expect(late).toContain('- likes\n- bees\n</textarea>');
  expect(await store.readText(key)).toBe('- likes\n- bees\n');
  await browser.give(formIn(late).line, { text: 'my own words', back });
  expect(await store.readText(key)).toBe('my own words\n');
  await browser.give('undo', { back });
  expect(await store.readText(key)).toBe('- likes\n- bees\n');

  const other = await place.browserOf(bob);
  expect(formIn(await other.text(back)).value).toBe('');
});

it('a path that names no file of the notebook is refused with the reason', async () => {
  await using place = await openPage();
  const browser = await place.browserOf(alice);
  for (const path of ['../durable.json', 'SOUL.md', 'overview.md', 'two words'])
    expect(await browser.text(`/notebook?file=${encodeURIComponent(path)}`)).not.toContain('<textarea');
});
