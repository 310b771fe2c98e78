import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

import { chromium, type Browser } from 'playwright-core';

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
