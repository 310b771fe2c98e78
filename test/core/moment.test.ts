import { describe, expect, it } from 'vitest';

import { momentIn } from '../../src/core/time.ts';

const now = new Date('2026-01-15T14:03:00Z'); // a Thursday

function iso(words: string, timeZone = 'UTC'): string | undefined {
  return momentIn(words, now, timeZone)?.toISOString();
}

describe('a past moment in words', () => {
  it.each([
    ['2h', '2026-01-15T12:03:00.000Z'],
    ['30 minutes ago', '2026-01-15T13:33:00.000Z'],
    ['last 3 days', '2026-01-12T14:03:00.000Z'],
    ['1w', '2026-01-08T14:03:00.000Z'],
    ['today', '2026-01-15T00:00:00.000Z'],
    ['since yesterday', '2026-01-14T00:00:00.000Z'],
    ['yesterday 18:30', '2026-01-14T18:30:00.000Z'],
    ['Thursday', '2026-01-08T00:00:00.000Z'],
    ['monday', '2026-01-12T00:00:00.000Z'],
    ['9:15', '2026-01-15T09:15:00.000Z'],
    ['2026-01-10', '2026-01-10T00:00:00.000Z'],
    ['2026-01-10T08:00:00+02:00', '2026-01-10T06:00:00.000Z'],
  ])('%s', (words, moment) => {
    expect(iso(words)).toBe(moment);
  });

  it('goes by the clocks of the zone, also where a day has no midnight', () => {
    expect(iso('yesterday', 'Pacific/Kiritimati')).toBe('2026-01-14T10:00:00.000Z');
    expect(iso('today', 'America/Los_Angeles')).toBe('2026-01-15T08:00:00.000Z');
    const spring = new Date('2018-11-04T20:00:00Z');
    expect(momentIn('today', spring, 'America/Sao_Paulo')?.toISOString()).toBe('2018-11-04T03:00:00.000Z');
  });

  it.each(['', 'soon', '2026-13-40', '2026-02-31', '25:00', 'tomorrow', '2026-01-16', 'last'])(
    'is none in %j',
    (words) => {
      expect(iso(words)).toBeUndefined();
    },
  );
});
