import * as fc from 'fast-check';
import { describe, expect, it, onTestFinished, vi } from 'vitest';

import { localDateTime } from '../../src/core/time.ts';
import { machineTimeZone, timeZoneNamed, timeZonesNamed } from '../../src/core/time-zone.ts';
import { runs } from '../support/runs.ts';

describe('the time zone of the machine [N5]', () => {
  it.each([
    ['UTC', 'UTC'],
    ['Europe/London', 'Europe/London'],
    // Node.js calls it `GMT+02:00`, which it refuses, and its clock is behind.
    ['GMT+2', 'UTC-02:00'],
    ['GMT-14', 'UTC+14:00'],
    ['XYZ5', 'UTC-05:00'],
    ['Europe/Nowhere', 'UTC'],
    ['', 'UTC'],
  ])('is for TZ=%s %s', (own, told) => {
    vi.stubEnv('TZ', own);
    onTestFinished(() => void vi.unstubAllEnvs());
    expect(machineTimeZone()).toBe(told);
  });

  it('always shows what its clock shows, whatever TZ is', () => {
    onTestFinished(() => void vi.unstubAllEnvs());
    const posix = fc
      .tuple(fc.constantFrom('GMT', 'UTC', 'ABC', 'EST'), fc.constantFrom('+', '-', ''), fc.nat(14))
      .map((parts) => parts.join(''));
    const now = new Date();
    fc.assert(
      fc.property(
        fc.oneof(
          posix,
          fc.string({ maxLength: 8 }).filter((text) => !text.includes('\0')),
        ),
        (own) => {
          vi.stubEnv('TZ', own);
          const shown = new Date(now.getTime() - now.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
          expect(localDateTime(now, machineTimeZone(now))).toBe(shown.replace('T', ' '));
        },
      ),
      { numRuns: runs(50) },
    );
  });
});

describe('zones as people write them [N5]', () => {
  it.each([
    ['europe/berlin', 'Europe/Berlin'],
    ['Berlin', 'Europe/Berlin'],
    ['new york', 'America/New_York'],
    ['São Paulo', 'America/Sao_Paulo'],
    ['Japan', 'Asia/Tokyo'],
    ['UTC+2', 'UTC+02:00'],
    ['gmt-3:30', 'UTC-03:30'],
    ['+0545', 'UTC+05:45'],
    ['UTC−8', 'UTC-08:00'],
    ['Etc/GMT+2', 'Etc/GMT+2'],
    ['CEST', 'Europe/Paris'],
  ])('%s is %s', (written, zone) => {
    expect(timeZoneNamed(written)).toBe(zone);
    // What is stored is read again.
    expect(timeZoneNamed(zone)).toBe(zone);
  });

  it.each(['BST', 'ist', 'CST', 'EST', 'MST', 'PST', 'AST', 'SST'])('%s may be one of several', (written) => {
    expect(timeZonesNamed(written).length).toBeGreaterThan(1);
    expect(timeZoneNamed(written)).toBeUndefined();
  });

  it.each(['UTC+15', '+2:75', 'PLT', 'MIT', 'soon', '', '5', '/', 'Europe/', 'x'.repeat(2000)])(
    '%s is none',
    (written) => {
      expect(timeZonesNamed(written)).toEqual([]);
    },
  );
});
