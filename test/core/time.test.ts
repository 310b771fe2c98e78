import * as fc from 'fast-check';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';

import {
  dayBefore,
  endableTimer,
  localDate,
  localDateTime,
  localMoment,
  machineTimeZone,
  nextDayAt,
  withTimeout,
} from '../../src/core/time.ts';
import { ManualTimer } from '../support/manual-timer.ts';
import { runs } from '../support/runs.ts';

describe('the time zone of the machine', () => {
  it.each([
    ['UTC', 'UTC'],
    ['Etc/Greenwich', 'UTC'],
    ['Europe/London', 'Europe/London'],
    ['America/Sao_Paulo', 'America/Sao_Paulo'],
  ])('is for %s %s', (own, told) => {
    vi.stubEnv('TZ', own);
    onTestFinished(() => void vi.unstubAllEnvs());
    expect(machineTimeZone()).toBe(told);
  });

  it('is read without `Intl`, which takes 8 MB, if it is UTC, and so are its dates', () => {
    vi.stubEnv('TZ', 'UTC');
    const format = vi.spyOn(Intl, 'DateTimeFormat');
    onTestFinished(() => {
      vi.unstubAllEnvs();
      format.mockRestore();
    });
    expect(localDateTime(new Date('2026-01-15T23:30:00Z'), machineTimeZone())).toBe('2026-01-15 23:30');
    expect(format).not.toHaveBeenCalled();
  });
});

describe('local dates and clock times [N5]', () => {
  it('take the day of the zone, not of UTC, on both sides of midnight', () => {
    const evening = new Date('2026-01-15T23:30:00Z');
    expect(localDate(evening, 'UTC')).toBe('2026-01-15');
    expect(localDate(evening, 'Europe/Berlin')).toBe('2026-01-16');
    const night = new Date('2026-01-15T03:30:00Z');
    expect(localDate(night, 'America/New_York')).toBe('2026-01-14');
  });

  it('write midnight as 00:00, never as 24:00', () => {
    const midnight = new Date('2026-01-15T23:00:00Z');
    expect(localDateTime(midnight, 'Europe/Berlin')).toBe('2026-01-16 00:00');
    expect(localDateTime(new Date('2026-01-15T22:59:59.999Z'), 'Europe/Berlin')).toBe('2026-01-15 23:59');
  });

  it('have their weekday for models, and no error where a text is not a time [H3]', () => {
    expect(localMoment(new Date('2026-01-15T23:30:00Z'), 'UTC')).toBe('Thu 2026-01-15 23:30');
    expect(localMoment(new Date('2026-01-15T23:30:00Z'), 'Europe/Berlin')).toBe('Fri 2026-01-16 00:30');
    expect(localMoment(new Date('2026-01-15T05:30:00Z'), 'Pacific/Honolulu')).toBe('Wed 2026-01-14 19:30');
    expect(localMoment(new Date('soon'), 'UTC')).toBe('at unknown time');
  });

  it('follow the clocks when summer time begins and ends', () => {
    expect(localDateTime(new Date('2026-03-29T00:59:00Z'), 'Europe/Berlin')).toBe('2026-03-29 01:59');
    expect(localDateTime(new Date('2026-03-29T01:00:00Z'), 'Europe/Berlin')).toBe('2026-03-29 03:00');
    expect(localDateTime(new Date('2026-10-25T00:30:00Z'), 'Europe/Berlin')).toBe('2026-10-25 02:30');
    expect(localDateTime(new Date('2026-10-25T01:30:00Z'), 'Europe/Berlin')).toBe('2026-10-25 02:30');
  });

  it('are in UTC as in a zone that always shows the same, which `Intl` tells [N5]', () => {
    const moments = fc.date({
      min: new Date('0001-01-01'),
      max: new Date('9999-12-31'),
      noInvalidDate: true,
    });
    fc.assert(
      fc.property(moments, (moment) => {
        expect(localDateTime(moment, 'UTC')).toBe(localDateTime(moment, 'Etc/GMT'));
      }),
    );
    expect(() => localDate(new Date(NaN), 'UTC')).toThrow(RangeError);
  });

  it('know zones with odd offsets', () => {
    expect(localDateTime(new Date('2026-06-30T18:20:00Z'), 'Asia/Kathmandu')).toBe('2026-07-01 00:05');
    expect(localDate(new Date('2026-06-30T10:30:00Z'), 'Pacific/Kiritimati')).toBe('2026-07-01');
  });

  it('know when the next day begins, in every time zone', () => {
    expect(nextDayAt(new Date('2026-01-15T22:59:59Z'), 'Europe/Berlin')).toEqual(
      new Date('2026-01-15T23:00:00Z'),
    );
    const anyZone = fc.constantFrom(...Intl.supportedValuesOf('timeZone'));
    const anyTime = fc.date({
      min: new Date('1980-01-01'),
      max: new Date('2040-01-01'),
      noInvalidDate: true,
    });
    fc.assert(
      fc.property(anyZone, anyTime, (timeZone, now) => {
        const next = nextDayAt(now, timeZone);
        expect(next.getTime()).toBeGreaterThan(now.getTime());
        expect(localDate(next, timeZone)).not.toBe(localDate(now, timeZone));
        expect(localDate(new Date(next.getTime() - 1), timeZone)).toBe(localDate(now, timeZone));
      }),
    );
  });

  it('change the day at midnight only, in every time zone', () => {
    const anyZone = fc.constantFrom(...Intl.supportedValuesOf('timeZone'));
    const anyQuarter = fc.integer({ min: Date.UTC(1980) / 900_000, max: Date.UTC(2040) / 900_000 });
    fc.assert(
      fc.property(anyZone, anyQuarter, (timeZone, quarter) => {
        const format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short' });
        const moments = [quarter * 900_000, (quarter + 1) * 900_000 - 1].map((at) => new Date(at));
        expect(moments.map((at) => localDate(at, timeZone))).toEqual(moments.map((at) => format.format(at)));
      }),
      { numRuns: runs(500) },
    );
  });

  it('refuse a zone that does not exist', () => {
    expect(() => localDate(new Date(0), 'Mars/Olympus')).toThrow(RangeError);
  });

  it('agree: the date-time begins with the date', () => {
    fc.assert(
      fc.property(
        fc.date({ min: new Date('1971-01-01'), max: new Date('2200-01-01'), noInvalidDate: true }),
        fc.constantFrom('UTC', 'Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Tokyo'),
        (date, zone) => {
          const written = localDateTime(date, zone);
          expect(written.slice(0, 10)).toBe(localDate(date, zone));
          expect(written).toMatch(/^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01]) ([01]\d|2[0-3]):[0-5]\d$/);
        },
      ),
    );
  });
});

describe('the day before', () => {
  it('goes over months, years and leap days', () => {
    expect(dayBefore('2026-03-01')).toBe('2026-02-28');
    expect(dayBefore('2028-03-01')).toBe('2028-02-29');
    expect(dayBefore('2026-01-01')).toBe('2025-12-31');
  });

  it('is yesterday in the days when clocks change', () => {
    expect(dayBefore(localDate(new Date('2026-03-29T22:30:00Z'), 'Europe/Berlin'))).toBe('2026-03-29');
    expect(dayBefore(localDate(new Date('2026-10-25T22:45:00Z'), 'Europe/Berlin'))).toBe('2026-10-24');
  });

  it('refuses anything but a date', () => {
    expect(() => dayBefore('yesterday')).toThrow(RangeError);
  });
});

describe('timers of one owner', () => {
  it('call back until they are ended, all at once and for good', () => {
    const clock = new ManualTimer();
    const { timer, end } = endableTimer(clock.set);
    const heard: string[] = [];
    timer(() => heard.push('early'), 10);
    timer(() => heard.push('cancelled'), 10)();
    clock.pass(10);
    timer(() => heard.push('late'), 10);
    end();
    timer(() => heard.push('after the end'), 10);
    clock.pass(100);
    expect(heard).toEqual(['early']);
  });
});

describe('work within a time', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
  });

  it('returns its result or error, and leaves no timer behind', async () => {
    const failure = new Error('failed');

    expect(await withTimeout(10, Promise.resolve('done'), 'late')).toBe('done');
    await expect(withTimeout(10, Promise.reject(failure), 'late')).rejects.toBe(failure);

    expect(vi.getTimerCount()).toBe(0);
  });

  it('times out, and its later result is ignored', async () => {
    const work = new Promise<string>((_, reject) => {
      setTimeout(() => reject(new Error('failed too late')), 20);
    });
    const result = withTimeout(10, work, 'late');

    await vi.advanceTimersByTimeAsync(30);

    expect(await result).toBe('late');
  });
});
