import * as fc from 'fast-check';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';

import {
  daysAfter,
  growingPause,
  retry,
  localDate,
  localDateTime,
  localMoment,
  nextDayAt,
  withTimeout,
} from '../../src/core/time.ts';
import { runs } from '../support/runs.ts';

describe('local dates and clock times [N5]', () => {
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
});

describe('the day before', () => {
  it('goes over months, years and leap days', () => {
    expect(daysAfter('2026-03-01', -1)).toBe('2026-02-28');
    expect(daysAfter('2028-03-01', -1)).toBe('2028-02-29');
    expect(daysAfter('2026-01-01', -1)).toBe('2025-12-31');
  });
});

describe('work within a time', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
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

function failing(times: number) {
  let tries = 0;
  return async () => {
    tries += 1;
    if (tries <= times) throw new Error(`failure ${tries}`);
    return tries;
  };
}

function untilSecond(error: unknown, failures: number): number {
  if (failures === 2) throw error;
  return 0;
}

describe('what is tried again', () => {
  it('waits longer after each failure, until it succeeds', async () => {
    const waits: number[] = [];
    const wait = async (ms: number) => void waits.push(ms);
    expect(await retry(failing(6), (_, failures) => growingPause(failures, 100, 1000), { wait })).toBe(7);
    expect(waits).toEqual([100, 200, 400, 800, 1000, 1000]);
  });

  it('ends with what is thrown instead of a pause', async () => {
    await expect(retry(failing(5), untilSecond)).rejects.toThrow('failure 2');
  });

  it('ends at once when it is aborted, with the last failure', async () => {
    const signal = AbortSignal.timeout(1);
    await expect(retry(failing(5), () => 60_000, { signal })).rejects.toThrow('failure 1');
    await expect(retry(failing(5), () => 60_000, { signal })).rejects.toThrow('failure 1');
  });
});
