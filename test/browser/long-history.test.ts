import { beforeAll, describe, expect, it } from 'vitest';

import { usualText } from '../support/large-memory.ts';
import { pagesFrom, writeLongHistory } from '../support/long-history.ts';
import { hindrances } from './browser.ts';
import { openPages } from './pages.ts';

const { stage, openPageOf } = await openPages({ model: () => ({ text: 'Understood.' }) });

beforeAll(async () => {
  await stage.stopBot();
  await writeLongHistory(stage.folder, stage.sandbox, stage.info.owner.id);
  await stage.startBot();
  for (let turn = 0; turn < 20; turn += 1) await stage.ask(stage.info.owner.name, 'dm', usualText(turn));
});

/** The largest page that is sent, in bytes. */
const mostBytes = 200_000;

describe('with 200 items, 20 conversations and 5,000 messages', () => {
  const looks = [
    { colorScheme: 'dark', width: 360 },
    { colorScheme: 'light', width: 1280 },
  ] as const;

  it.each(looks)(
    'every page is small, and fits and is readable: $colorScheme, $width pixels [Y5] [Y6]',
    async ({ colorScheme, width }) => {
      const options = { colorScheme, viewport: { width, height: 800 }, bypassCSP: true };
      await using opened = await openPageOf(stage.info.owner.name, options);
      const { page } = opened;
      const home = page.url();
      const read = async (path: string) => (await page.request.get(new URL(path, home).href)).text();
      const paths = await pagesFrom(read);
      expect(paths).toEqual(expect.arrayContaining(['/', '/status', expect.stringMatching(/^\/items\//u)]));
      const found: Record<string, readonly string[]> = {};
      for (const path of paths) {
        const bytes = Buffer.byteLength(await read(path));
        await page.goto(new URL(path, home).href);
        found[path] = [...(await hindrances(page)), ...(bytes > mostBytes ? [`it has ${bytes} bytes`] : [])];
      }
      expect(found).toEqual(Object.fromEntries(paths.map((path) => [path, []])));
      expect(opened.problems).toEqual([]);
    },
  );
});
