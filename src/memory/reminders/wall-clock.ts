import { Temporal } from 'temporal-polyfill';

import { offsetOfFixed } from '../../core/time.ts';

/** A day and an hour as the clock on the wall shows them. */
type WallTime = Temporal.PlainDateTime;

export function wallTimeIn(moment: Date, timeZone: string): WallTime {
  return Temporal.Instant.fromEpochMilliseconds(moment.getTime())
    .toZonedDateTimeISO(zoneOf(timeZone))
    .toPlainDateTime();
}

/**
 * When the clock shows that [RM6]: the first time where it does twice, and the end of the gap where it is put forward
 * past it. @throws {RangeError} for an unknown zone.
 */
export function momentOf(wall: WallTime, timeZone: string): Date {
  const zoned = wall.toZonedDateTime(zoneOf(timeZone), { disambiguation: 'earlier' });
  const isShown = zoned.toPlainDateTime().equals(wall);
  const shown = isShown ? zoned : (zoned.getTimeZoneTransition('next') ?? zoned);
  return new Date(shown.epochMilliseconds);
}

/** Of zones that belong to no country, `Temporal` knows the offset alone. */
function zoneOf(timeZone: string): string {
  return offsetOfFixed(timeZone) === undefined ? timeZone : timeZone.replace(/^UTC(?=[+-])/u, '');
}

/** How a reminder comes again [RM6]. */
export const repeats = ['daily', 'weekdays', 'weekly', 'monthly', 'yearly'] as const;

export type Repeat = (typeof repeats)[number];

/**
 * When it comes next after a moment, counted from when it came first, so that the 31st and 29 February stay what
 * they are behind a shorter month.
 */
export function nextAfter(first: string, repeat: Repeat, after: Date, timeZone: string): Date {
  const from = Temporal.PlainDateTime.from(first);
  const now = wallTimeIn(after, timeZone);
  const unit = {
    daily: 'days',
    weekdays: 'days',
    weekly: 'weeks',
    monthly: 'months',
    yearly: 'years',
  } as const;
  // From a little before, since clocks may be put back between.
  const passed = Math.floor(from.until(now, { largestUnit: unit[repeat] })[unit[repeat]]);
  for (let count = Math.max(0, passed - 1); ; count += 1) {
    const wall = from.add({ [unit[repeat]]: count });
    const moment = momentOf(wall, timeZone);
    if (moment > after && (repeat !== 'weekdays' || wall.dayOfWeek <= 5)) return moment;
  }
}
