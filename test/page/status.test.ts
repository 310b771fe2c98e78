import { describe, expect, it } from 'vitest';

import type { PeriodUsage } from '../../src/core/model.ts';
import { statusPage } from '../../src/page/status.ts';
import { usage } from '../support/status-facts.ts';
import { alice, bob, openPage } from './page-harness.ts';

describe("the owner's page [Y4]", () => {
  it('is opened by its link, and stands in the navigation', async () => {
    await using place = await openPage();
    const browser = place.openBrowser();
    const link = await place.linkPath(bob, '/status');
    const opened = await browser.post(link);
    expect(opened.headers.get('location')).toBe('/status');
    const page = await browser.text('/status');
    expect(page).toContain('<a href="/status" aria-current=page>Status</a>');
    expect(page).toContain('All is well.');
    expect(page).toContain('2 running, 3 waiting');
    expect(await browser.text('/')).toContain('<a href="/status" >Status</a>');
  });

  it('is not there for anybody else, whatever link they come by', async () => {
    await using place = await openPage();
    const browser = place.openBrowser();
    await browser.post(await place.linkPath(alice, '/status'));
    for (const address of ['/status', '/status?over=day']) {
      const answer = await browser.ask(address);
      expect(answer.status).toBe(404);
      expect(await answer.text()).not.toMatch(/gateway|sonnet/iu);
    }
    expect(await browser.text('/')).not.toContain('/status');
    expect((await place.openBrowser().ask('/status')).status).toBe(401);
  });
});

/** The page over these days and hours. */
async function pageOver(days: readonly PeriodUsage[], query = '') {
  const page = await statusPage({
    query: new URLSearchParams(query),
    context: { csrf: '', back: '' },
    isAlone: true,
    give: async () => ({
      text: 'x',
      data: {
        kind: 'status',
        facts: [{ title: 'Store', text: 'the last write failed', isBad: true }],
        usage: { ...usage, days, hours: days.slice(-1) },
      },
    }),
  });
  return String(page);
}

const day = (period: string, changes: Partial<PeriodUsage> = {}): PeriodUsage => ({
  ...usage.today,
  period,
  ...changes,
});

describe('its charts [Y4]', () => {
  const days = [
    day('2026-01-14', { waited: { turns: 3 } }),
    day('2026-01-15', { turns: { answered: 4 }, errors: {} }),
  ];

  it('show cost, tokens, the share of the cache, turns and errors, with the same as tables', async () => {
    const page = await pageOver(days);
    for (const title of [
      'Cost by model: $2.47',
      'Cost by purpose: $2.47',
      'Tokens by model: 21,000',
      'Tokens by purpose: 21,000',
      'Input from the cache: 80%',
      'Turns: 14',
      'Waited in a queue: 3',
      'Errors: 2',
    ])
      expect(page).toContain(`<h2>${title}</h2>`);
    expect(page).toContain('Worth a look: Store.');
    expect(page).toMatch(/<th scope="row">2026-01-14<\/th>\s*<td>\$0\.0340<\/td><td>\$1\.20<\/td>/u);
    expect(page.match(/<table>/gu)).toHaveLength(8);
  });
});
