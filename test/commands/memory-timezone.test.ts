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

  it('takes a city and an offset as people write them, and asks where letters are several zones [N5]', async () => {
    const { say, people } = createHarness();
    expect(await say('timezone new york', dmPlace)).toContain('America/New_York from now on');
    expect(await say('timezone UTC+2', dmPlace)).toBe(
      'Your days count by the time in UTC+02:00 from now on: it is Thu 2026-01-15 12:00 there.',
    );
    expect(await say('timezone bst', dmPlace)).toBe(
      [
        '"bst" is what several zones are called. Which is yours?',
        '- `!memory timezone Europe/London`: it is Thu 2026-01-15 10:00 there',
        '- `!memory timezone Asia/Dhaka`: it is Thu 2026-01-15 16:00 there',
      ].join('\n'),
    );
    expect(await people.timeZoneOf('100000000000000001')).toBe('UTC+02:00');
  });

  it.each([['Europe/Berln', 'Europe/Berlin']])(
    'suggests the names that come closest to %s',
    async (written, name) => {
      const { say, people } = createHarness();
      const answer = await say(`timezone ${written}`, dmPlace);
      expect(answer).toMatch(/^I know no time zone ".*"\. Did you mean /u);
      expect(answer).toContain(name);
      expect(await people.timeZoneOf('100000000000000001')).toBe('UTC');
    },
  );
});
