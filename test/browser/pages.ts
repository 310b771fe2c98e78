import type { Browser, BrowserContextOptions } from 'playwright-core';
import { afterAll } from 'vitest';

import { openStage, type Stage, type StageOptions } from '../e2e/stage.ts';
import { freePort } from '../support/free-port.ts';
import { startBrowser } from './browser.ts';

/** The built bot with its page, and a browser, for all tests of a file: both end after them. */
export async function openPages(options: StageOptions = {}) {
  const port = String(await freePort());
  const page = { DISCOCLAW_PAGE_PORT: port, DISCOCLAW_PAGE_URL: `http://127.0.0.1:${port}` };
  const environment = { ...page, ...options.environment };
  const stage = await openStage({ ...options, isBuilt: true, environment });
  afterAll(() => stage[Symbol.asyncDispose]());
  const browser = await startBrowser();
  afterAll(() => browser.close());
  return {
    stage,
    openPageOf: (name: string, context?: BrowserContextOptions) => openPageOf(stage, browser, name, context),
  };
}

/** Signs a person in by the link that the bot gives them, in a browser of their own. */
async function openPageOf(stage: Stage, browser: Browser, name: string, options?: BrowserContextOptions) {
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
