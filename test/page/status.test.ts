import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import type { PeriodUsage } from '../../src/core/model.ts';
import { chart, statusPage } from '../../src/page/status.ts';
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
    expect(page).toContain('2 running, 3 waiting, 1 stopped');
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

  it('have no scripts and no styles of their own, which the policy would refuse [Y5]', async () => {
    expect(await pageOver(days)).not.toMatch(/<script|<style|style=|on\w+=/u);
  });

  it('stay inside of their picture, whatever the amounts, and lose none of them', () => {
    const amounts = fc.array(fc.double({ min: 0, max: 1e9, noNaN: true }), { minLength: 30, maxLength: 30 });
    fc.assert(
      fc.property(fc.array(amounts, { minLength: 1, maxLength: 12 }), (lists) => {
        const periods = Array.from({ length: 30 }, (_, index) => `day ${index}`);
        const parts = Object.fromEntries(lists.map((list, index) => [`part ${index}`, list]));
        const shown = String(chart({ title: 't', periods, parts, shown: (amount) => amount.toFixed(0) }));
        const outlines = Array.from(
          shown.matchAll(/<path class="part\d" d="([^"]+)"/gu),
          ([, outline = '']) => outline,
        );
        expect(outlines).toHaveLength(lists.length);
        for (const [, x, bottom, top, right] of outlines.flatMap((outline) => [
          ...outline.matchAll(/M(\S+) (\S+)V(\S+)H(\S+)V/gu),
        ])) {
          expect(Number(x)).toBeLessThan(Number(right));
          expect(Number(right)).toBeLessThanOrEqual(600);
          expect(Number(top)).toBeGreaterThanOrEqual(0);
          expect(Number(top)).toBeLessThanOrEqual(Number(bottom));
          expect(Number(bottom)).toBeLessThanOrEqual(120);
        }
        const total = lists.flat().reduce((sum, amount) => sum + amount, 0);
        expect(shown).toContain(total > 0 ? `<h2>t: ${total.toFixed(0)}</h2>` : '<h2>t</h2>');
      }),
    );
  });
});
