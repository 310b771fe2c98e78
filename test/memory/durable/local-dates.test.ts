import { expect, it } from 'vitest';

import { createLocalDates } from '../../../src/memory/durable/local-dates.ts';

it('tells the day in the time zone, also around midnight and when asked again', () => {
  const dateOf = createLocalDates('America/New_York', 2);
  const moments: readonly [string, string][] = [
    ['2026-01-16T04:59:59.999Z', '2026-01-15'],
    ['2026-01-16T05:00:00.000Z', '2026-01-16'],
    ['2026-01-16T12:00:00.000Z', '2026-01-16'],
  ];
  for (const [moment, day] of [...moments, ...moments]) expect(dateOf(new Date(moment))).toBe(day);
});
