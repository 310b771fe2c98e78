import { describe, expect, it } from 'vitest';

import { createHarness, dmPlace } from './harness.ts';

describe('timezone [D7]', () => {
  it('shows the zone by which days count, and sets it by its name in any case', async () => {
    const { say } = createHarness();
    expect(await say('timezone', dmPlace)).toMatch(
      /^Your days count by the time in UTC, the default: it is Thu 2026-01-15 10:00 there\. /u,
    );
    expect(await say('timezone asia/tokyo', dmPlace)).toBe(
      'Your days count by the time in Asia/Tokyo from now on: it is Thu 2026-01-15 19:00 there.',
    );
    expect(await say('timezone', dmPlace)).toMatch(/^Your days count by the time in Asia\/Tokyo: /u);
  });

  it.each([
    ['Europe/Berln', 'Europe/Berlin'],
    ['tokyo', 'Asia/Tokyo'],
    ['new_york', 'America/New_York'],
  ])('suggests the names that come closest to %s', async (written, name) => {
    const { say, people } = createHarness();
    const answer = await say(`timezone ${written}`, dmPlace);
    expect(answer).toMatch(/^I know no time zone ".*"\. Did you mean /u);
    expect(answer).toContain(name);
    expect(await people.timeZoneOf('100000000000000001')).toBe('UTC');
  });
});
