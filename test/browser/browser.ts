import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

import axe from 'axe-core';
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core';

import type { Stage } from '../e2e/stage.ts';

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

/** Signs a person in by the link that the bot gives them, in a browser of their own. */
export async function openPageOf(
  stage: Stage,
  browser: Browser,
  name: string,
  options?: BrowserContextOptions,
) {
  const context = await browser.newContext(options);
  context.setDefaultTimeout(20_000);
  const page = await context.newPage();
  const problems: string[] = [];
  page.on('pageerror', ({ message }) => problems.push(message));
  page.on('console', (message) => {
    if (message.type() === 'error' && !message.location().url.endsWith('/favicon.ico'))
      problems.push(message.text());
  });
  // What the policy stopped.
  await page.addInitScript(
    "addEventListener('securitypolicyviolation', ({ blockedURI, violatedDirective }) => console.error(violatedDirective + ' ' + blockedURI))",
  );
  const { answer } = await stage.sandbox.slash({
    as: name,
    in: `@${name}`,
    name: 'memory',
    subcommand: 'page',
  });
  await page.goto(answer?.components.rows[0]?.buttons[0]?.url ?? '');
  await page.getByRole('button', { name: 'Open my memory' }).click();
  await page.getByRole('heading', { name: 'Your memory' }).waitFor();
  return { page, problems, [Symbol.asyncDispose]: () => context.close() };
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
