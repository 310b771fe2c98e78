import { Temporal } from 'temporal-polyfill';
import { describe, expect, it } from 'vitest';

import { localDateTime } from '../../../src/core/time.ts';
import { nextAfter, type Repeat } from '../../../src/memory/reminders/wall-clock.ts';

/** When a reminder comes that was first due then, so many times, in the zone's own time. */
function comes(first: string, repeat: Repeat, timeZone: string, times: number): readonly string[] {
  const came: string[] = [];
  const wall = Temporal.PlainDateTime.from(first);
  let after = new Date(wall.toZonedDateTime(timeZone).epochMilliseconds - 1);
  for (let count = 0; count < times; count += 1) {
    after = nextAfter(first, repeat, after, timeZone);
    came.push(localDateTime(after, timeZone));
  }
  return came;
}

describe('what comes again [RM6]', () => {
  it.each([
    ['Europe/Berlin', '2027-03-27', '2027-03-28'],
    ['America/New_York', '2027-03-13', '2027-03-14'],
    ['Australia/Sydney', '2026-10-03', '2026-10-04'],
    ['America/Santiago', '2026-09-05', '2026-09-06'],
    ['Asia/Kolkata', '2026-09-05', '2026-09-06'],
  ])('keeps its hour in %s when clocks are put forward', (zone, before, day) => {
    expect(comes(`${before}T09:00`, 'daily', zone, 2)).toEqual([`${before} 09:00`, `${day} 09:00`]);
  });

  it.each([
    ['Europe/Berlin', '2026-10-24', '2026-10-25'],
    ['America/New_York', '2026-10-31', '2026-11-01'],
    ['Australia/Sydney', '2027-04-03', '2027-04-04'],
    ['America/Santiago', '2027-04-03', '2027-04-04'],
    ['Europe/London', '2026-10-24', '2026-10-25'],
  ])('keeps its hour in %s when they are put back', (zone, before, day) => {
    expect(comes(`${before}T09:00`, 'daily', zone, 2)).toEqual([`${before} 09:00`, `${day} 09:00`]);
  });

  it('comes at the end of the gap where its hour is not there, and at its hour the day after', () => {
    expect(comes('2027-03-27T02:30', 'daily', 'Europe/Berlin', 3)).toEqual([
      '2027-03-27 02:30',
      '2027-03-28 03:00',
      '2027-03-29 02:30',
    ]);
  });

  it('comes once where its hour is there twice, the first time', () => {
    const first = '2026-10-24T02:30';
    const twice = nextAfter(first, 'daily', new Date('2026-10-24T12:00Z'), 'Europe/Berlin');
    expect(twice.toISOString()).toBe('2026-10-25T00:30:00.000Z');
    expect(nextAfter(first, 'daily', twice, 'Europe/Berlin').toISOString()).toBe('2026-10-26T01:30:00.000Z');
  });

  it.each<[Repeat, string, readonly string[]]>([
    ['monthly', '2026-12-31', ['2026-12-31', '2027-01-31', '2027-02-28', '2027-03-31', '2027-04-30']],
    ['yearly', '2028-02-29', ['2028-02-29', '2029-02-28', '2030-02-28', '2031-02-28', '2032-02-29']],
    ['weekdays', '2026-11-26', ['2026-11-26', '2026-11-27', '2026-11-30', '2026-12-01', '2026-12-02']],
    ['weekly', '2026-11-26', ['2026-11-26', '2026-12-03', '2026-12-10', '2026-12-17', '2026-12-24']],
  ])('%s from %s', (repeat, first, days) => {
    expect(comes(`${first}T09:00`, repeat, 'UTC', 5)).toEqual(days.map((day) => `${day} 09:00`));
  });

  it('is the newest once after a year in which nobody looked', () => {
    const first = '2020-01-31T09:00';
    const next = nextAfter(first, 'monthly', new Date('2026-11-26T09:00Z'), 'UTC');
    expect(next.toISOString()).toBe('2026-11-30T09:00:00.000Z');
  });

  it('works in a zone that belongs to no country', () => {
    expect(comes('2026-11-26T09:00', 'daily', 'UTC', 1)).toEqual(['2026-11-26 09:00']);
    const first = '2026-11-26T09:00';
    const next = nextAfter(first, 'daily', new Date('2026-11-25T00:00Z'), 'UTC+05:30');
    expect(next.toISOString()).toBe('2026-11-26T03:30:00.000Z');
  });
});
