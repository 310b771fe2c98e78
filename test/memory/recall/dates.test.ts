import { describe, expect, it } from 'vitest';

import { createDates, termsOfDaysIn } from '../../../src/memory/recall/dates.ts';

const now = new Date('2026-03-10T12:00:00Z');

/** Whether a text of this moment is found by all dates that the query names. */
function matches(query: string, at: string, timeZone = 'UTC'): boolean {
  const dates = createDates(timeZone);
  const wanted = dates.termsIn(query, now);
  const present = new Set(dates.termsOf(at));
  return wanted.length > 0 && wanted.every((term) => present.has(term));
}

describe('dates of queries', () => {
  it.each([
    'on May 8, 2023',
    'in 2023',
    'a Monday in May',
    '8 мая',
    'am 8. Mai 2023',
    '8.5.2023',
    '2023-5-8',
  ])('%s is the 8th of May 2023', (query) => {
    expect(matches(query, '2023-05-08T13:56:00.000Z')).toBe(true);
    expect(matches(query, '2024-06-12T13:56:00.000Z')).toBe(false);
  });

  it.each([
    ['15 fevrier', '2024-02-15T12:00:00Z'],
    ['8 sierpien', '2024-08-08T12:00:00Z'],
    ['aujourd’hui', '2026-03-10T12:00:00Z'],
    ['п’ятниця', '2024-03-08T12:00:00Z'],
  ])('%s is understood without its marks, and with any apostrophe [D2]', (query, at) => {
    expect(matches(query, at)).toBe(true);
  });

  it('count today and yesterday from now', () => {
    expect(matches('yesterday', '2026-03-09T23:59:00.000Z')).toBe(true);
    expect(matches('today', '2026-03-09T23:59:00.000Z')).toBe(false);
  });

  it('are local [N5]', () => {
    const at = '2026-03-09T23:59:00.000Z';
    expect(matches('today', at, 'Europe/Berlin')).toBe(true);
    expect(matches('March 9', at, 'America/New_York')).toBe(true);
  });

  it.each(['Jan 24', '24. Jan 2024', '24 янв', '1/24/2024', '24/01/2024'])(
    '%s is the 24th of January 2024',
    (query) => {
      expect(matches(query, '2024-01-24T12:00:00Z')).toBe(true);
      expect(matches(query, '2024-02-25T12:00:00Z')).toBe(false);
    },
  );

  it('take a short name for a month only beside a day, and possible days only', () => {
    expect(createDates('UTC').termsIn('is Jan at the sea (mar) or at sea?', now)).toEqual([]);
    expect(createDates('UTC').termsIn('05/08/2023', now)).toEqual(['date:2023-08-05', 'date:2023-05-08']);
    expect(createDates('UTC').termsIn('33.01.2024 or 2024-13-01', now)).toEqual([]);
  });
});

describe('the days that a text names', () => {
  it.each(['by 24.01.2024', 'am 24. Januar 2024', 'on the 24th of Jan 2024'])(
    '%j is found by its day in numbers',
    (text) => {
      expect(termsOfDaysIn(text)).toEqual(
        expect.arrayContaining([...createDates('UTC').termsIn('2024-01-24', now)]),
      );
    },
  );

  it('need no year, and are neither hours, versions nor addresses', () => {
    expect(termsOfDaysIn('due 24 Jan')).toEqual(createDates('UTC').termsIn('January 24', now));
    expect(termsOfDaysIn('at 10:24 version 10.24 on 104.16.21.36 with Jan, in May')).toEqual([]);
  });
});
