import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';

import { install } from '@sinonjs/fake-timers';
import type { Page } from 'playwright-core';
import sharp from 'sharp';

import { startBrowser } from '../test/browser/browser.ts';
import { pagesFrom } from '../test/support/long-history.ts';
import { picturedNow, talk, writePicturedPerson } from './pictured-person.ts';
import { withSandboxBot } from './sandbox-bot.ts';

/** Takes pictures of every page that the running bot shows a made-up person in the sandbox [Y6], wide and narrow, for docs/pictures. */
const folder = join(import.meta.dirname, '../docs/pictures');
const sizes = [
  { width: 1280, height: 900 },
  { width: 360, height: 740 },
];
/** What is looked for where a page has a search. */
const searched: Readonly<Record<string, string>> = { '/search': '?q=tomatoes' };

// The pages tell times, which are the same each time then.
install({ now: picturedNow, toFake: ['Date'], shouldAdvanceTime: true });
await mkdir(folder, { recursive: true });
const browser = await startBrowser();
try {
  await withSandboxBot(writePicturedPerson, async (sandbox, bot) => {
    const { owner } = await sandbox.info();
    await talk(sandbox, bot);
    for (const viewport of sizes) {
      const context = await browser.newContext({
        viewport,
        timezoneId: 'UTC',
        locale: 'en-GB',
        colorScheme: 'light',
      });
      const page = await context.newPage();
      await page.goto((await bot.pageLink({ ...owner, isOwner: true })) ?? '');
      await page.getByRole('button').click();
      await page.getByRole('heading', { level: 1 }).waitFor();
      const home = page.url();
      const read = async (path: string) => (await page.request.get(new URL(path, home).href)).text();
      for (const path of await pagesFrom(read)) {
        if (path.startsWith('/status?')) continue;
        await page.goto(new URL(path + (searched[path] ?? ''), home).href);
        const [, name = '', ...below] = path.split(/[/?]/u);
        await take(page, `${name || 'items'}${below.length > 0 ? '-one' : ''}-${viewport.width}.png`);
      }
      await context.close();
    }
  });
} finally {
  await browser.close();
}

async function take(page: Page, name: string): Promise<void> {
  const taken = await page.screenshot({ caret: 'hide' });
  await sharp(taken).png({ palette: true, colours: 64, effort: 10 }).toFile(join(folder, name));
  console.log(name);
}

// The clock and the model's server would go on.
process.exit();
