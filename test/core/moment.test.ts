import { describe, expect, it } from 'vitest';

import { momentIn } from '../../src/core/moment.ts';

const now = new Date('2026-01-15T14:03:00Z'); // a Thursday

function iso(words: string, timeZone = 'UTC', at = now): string | undefined {
  return momentIn(words, at, timeZone)?.toISOString();
}

describe('a past moment in words [B4]', () => {
  it.each([
    ['2h', '2026-01-15T12:03:00.000Z'],
    ['1 hour and 30 minutes ago', '2026-01-15T12:33:00.000Z'],
    ['the last hour', '2026-01-15T13:03:00.000Z'],
    ['<t:1768400000:R>', '2026-01-14T14:13:20.000Z'],
    ['3 days', '2026-01-12T14:03:00.000Z'],
    ['over the last two days', '2026-01-13T14:03:00.000Z'],
    ['a few months ago', '2025-10-15T14:03:00.000Z'],
    ['last year', '2025-01-01T00:00:00.000Z'],
    ['this morning', '2026-01-15T05:00:00.000Z'],
    ['last night', '2026-01-14T18:00:00.000Z'],
    ['since yesterday', '2026-01-14T00:00:00.000Z'],
    ['yesterday 18:30', '2026-01-14T18:30:00.000Z'],
    ['the day before yesterday', '2026-01-13T00:00:00.000Z'],
    ['Thursday', '2026-01-08T00:00:00.000Z'],
    ['thursday 9am', '2026-01-15T09:00:00.000Z'],
    ['last Friday', '2026-01-09T00:00:00.000Z'],
    ['this week', '2026-01-12T00:00:00.000Z'],
    ['last week', '2026-01-05T00:00:00.000Z'],
    ['last weekend', '2026-01-10T00:00:00.000Z'],
    ['monday last week', '2026-01-05T00:00:00.000Z'],
    ['sunday last week', '2026-01-11T00:00:00.000Z'],
    ['december', '2025-12-01T00:00:00.000Z'],
    ['5 Jan', '2026-01-05T00:00:00.000Z'],
    ['20 January', '2025-01-20T00:00:00.000Z'],
    ['10 Jan 9:00 EST', '2026-01-10T14:00:00.000Z'],
    ['23:10', '2026-01-14T23:10:00.000Z'],
    ['2026-01-10 14:30', '2026-01-10T14:30:00.000Z'],
    ['2026-01-10T08:00:00+02:00', '2026-01-10T06:00:00.000Z'],
  ])('%s', (words, moment) => {
    expect(iso(words)).toBe(moment);
  });

  it('goes by the clocks of the zone, also where they change and a day has no midnight', () => {
    expect(iso('yesterday', 'Pacific/Kiritimati')).toBe('2026-01-14T10:00:00.000Z');
    expect(iso('today', 'America/Los_Angeles')).toBe('2026-01-15T08:00:00.000Z');
    expect(iso('last night', 'Asia/Kathmandu', new Date('2026-01-15T21:00:00Z'))).toBe(
      '2026-01-15T12:15:00.000Z',
    );
    const spring = new Date('2018-11-04T20:00:00Z');
    expect(iso('today', 'America/Sao_Paulo', spring)).toBe('2018-11-04T03:00:00.000Z');
    const dayOfChange = new Date('2026-03-29T18:00:00Z');
    expect(iso('today 18:10', 'Europe/Berlin', dayOfChange)).toBe('2026-03-29T16:10:00.000Z');
    expect(iso('2 days ago', 'Europe/Berlin', dayOfChange)).toBe('2026-03-27T19:00:00.000Z');
    expect(iso('2h', 'Europe/Berlin', dayOfChange)).toBe('2026-03-29T16:00:00.000Z');
  });

  it.each([
    '',
    'soon',
    'the logo friday',
    '2026-13-40',
    '2026-02-31',
    '25:00',
    'tomorrow',
    'seit gestern',
    '2026-01-16',
    'last',
    `monday${' '.repeat(50)}${'x'.repeat(100)}`,
  ])('is not found in %j', (words) => {
    expect(iso(words)).toBeUndefined();
  });
});
