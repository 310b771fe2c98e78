import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

import axe from 'axe-core';
import { chromium, type Browser, type Page } from 'playwright-core';

/** Chromium of this machine. @throws {Error} with what to install where there is none. */
export function startBrowser(): Promise<Browser> {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  const names = ['chromium', 'chromium-browser', 'google-chrome'];
  const paths = folders.flatMap((folder) => names.map((name) => join(folder, name)));
  const executablePath = paths.find((path) => existsSync(path));
  if (executablePath === undefined)
    throw new Error('These tests need Chromium: apt-get install chromium, or put it into PATH by that name.');
  // Its own sandbox cannot be had by root, or in a container.
  return chromium.launch({ executablePath, args: ['--no-sandbox'] });
}

/** What keeps people from reading or using a page: what axe-core calls serious, and lines that reach beyond its width. */
export async function hindrances(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe.source);
  const found = await page.evaluate('axe.run()');
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as axe says it
  const { violations } = found as axe.AxeResults;
  const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
  const told = serious.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
  const beyond = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
  return Number(beyond) > 0 ? [...told, `it is ${String(beyond)} pixels too wide`] : told;
}
