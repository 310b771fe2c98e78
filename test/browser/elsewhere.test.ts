import { describe, expect, it } from 'vitest';

import { postMcp } from '../support/mcp-client.ts';
import { hindrances } from './browser.ts';
import { openPages } from './pages.ts';

const { stage, openPageOf } = await openPages({ environment: { DISCOCLAW_PAGE_MCP: 'true' } });

describe('“Use my memory elsewhere”, in a browser [EW3] [Y6]', () => {
  it.each([
    ['with scripts, on a phone', true, 360],
    ['with scripts off', false, 1280],
  ])(
    'shows a token once, lists it by name with its last use, and revokes it, %s',
    async (_, javaScriptEnabled, width) => {
      const name = `elsewhere${width}`;
      await stage.sandbox.addPerson({ name });
      const viewport = { width, height: 800 };
      await using opened = await openPageOf(name, { javaScriptEnabled, viewport });
      const { page, problems } = opened;
      const status = page.getByRole('status');
      const tokens = page.locator('#tokens');
      // With scripts off, axe-core does not run either.
      const hindering = async () => (javaScriptEnabled ? hindrances(page) : []);
      const answerTo = async (token: string) =>
        (await postMcp(new URL(page.url()).origin, { authorization: `Bearer ${token}` })).status;

      await page.getByRole('link', { name: 'Use elsewhere' }).click();
      await page.getByRole('heading', { name: 'Use my memory elsewhere' }).waitFor();
      await tokens.getByText('None.').waitFor();
      await page.getByLabel('Which assistant it is for').fill('Claude Code');
      await page.getByRole('button', { name: 'Make a token' }).click();
      const token = (await status.getByRole('code').textContent()) ?? '';
      expect(token).toMatch(/^\d+\.[\w-]{43}$/u);
      await tokens.getByText('never used').waitFor();
      expect(await hindering()).toEqual([]);
      expect(await answerTo(token)).toBe(200);

      await page.reload();
      await tokens.getByText('Claude Code').waitFor();
      expect(await page.content()).not.toContain(token);
      await tokens.getByRole('button', { name: 'Revoke' }).click();
      await status.getByText('reads nothing any more').waitFor();
      await tokens.getByText('None.').waitFor();
      expect(await answerTo(token)).toBe(401);
      expect(await hindering()).toEqual([]);
      expect(problems).toEqual([]);
    },
  );
});
