import * as chrono from 'chrono-node';

import {
  dayText,
  daysAfter,
  hasNoSuchMonth,
  localDate,
  replaceMoments,
  wallClockIn,
  weekdayOf,
} from './time.ts';

const mostChars = 100;

/** Shown to people whose words name no moment. */
export const momentForms =
  'It can be 2h, 3 days, an hour ago, this morning, yesterday 18:00, friday, last week, 5 Jan, 2026-01-15 or 2026-01-15 14:30.';

/**
 * A past moment as people write it in English or ISO 8601, in a time zone: what chrono-node reads, and durations such as `2h`.
 * Ambiguous words mean the past (`friday`: the newest before today), and a day, week, month or part of a day
 * its beginning. `undefined` for other words and for the future.
 * @throws {RangeError} for an unknown zone.
 */
export function momentIn(words: string, now: Date, timeZone: string): Date | undefined {
  const text = replaceMoments(words, (moment) => moment.toISOString())
    .trim()
    .replaceAll(/\s+/gu, ' ')
    .toLowerCase();
  if (text === '' || text.length > mostChars) return undefined;
  // chrono-node counts some days wrong in other zones, so it gets a moment at which this machine's clocks show
  // theirs.
  const shown = new Date(wallClockIn(timeZone)(now.getTime()));
  const plain = text.replace('last night', 'yesterday evening');
  // `2h` and `an hour` are how long ago it was.
  for (const phrase of [plain, `${plain} ago`])
    for (const { index, text: found, start } of chrono.casual.parse(phrase, shown)) {
      if (hasNoSuchMonth(found)) continue;
      const rest = `${phrase.slice(0, index)} ${phrase.slice(index + found.length)}`;
      if (!(rest.match(/[\p{L}\p{M}\p{N}]+/gu) ?? []).every((word) => around.has(word))) continue;
      const moment = momentOf(found, start, now, shown, timeZone);
      if (moment !== undefined && moment <= now) return moment;
    }
  return undefined;
}

/** Words around a moment that change nothing of it. */
const around = new Set(
  'since from after on at the in of over during for past earlier early late last only about around'.split(
    ' ',
  ),
);

/** When parts of a day begin, by chrono-node's tags, early enough to leave nothing out. */
const partsOfDay = new Map([
  ['casualReference/midnight', 0],
  ['casualReference/morning', 5],
  ['casualReference/noon', 12],
  ['casualReference/afternoon', 12],
  ['casualReference/evening', 18],
  ['casualReference/tonight', 18],
  ['casualReference/night', 18],
]);

function momentOf(
  text: string,
  start: chrono.ParsedComponents,
  now: Date,
  shown: Date,
  timeZone: string,
): Date | undefined {
  const tags = [...start.tags()];
  // `an hour ago`.
  if (tags.some((tag) => /^result\/relativeDateAndTime$|\/now$/u.test(tag)))
    return new Date(now.getTime() - (shown.getTime() - start.date().getTime()));
  if (start.isCertain('timezoneOffset')) return start.date();
  const day = dayOf(text, start, localDate(now, timeZone));
  const [part = 0] = tags.flatMap((tag) => partsOfDay.get(tag) ?? []);
  // `3 days ago` means at this time of day.
  const hasClock = start.isCertain('hour') || isCounted(text, start);
  const hour = hasClock ? (start.get('hour') ?? 0) : part;
  const minute = hasClock ? (start.get('minute') ?? 0) : 0;
  const at = (date: string) => atLocal(date, hour, minute, timeZone);
  const moment = at(day);
  if (moment === undefined || moment <= now) return moment;
  // Not fixed which one is meant: the one before.
  if (start.isCertain('year')) return undefined;
  if (start.isCertain('month')) return at(`${Number(day.slice(0, 4)) - 1}${day.slice(4)}`);
  return at(daysAfter(day, start.isCertain('weekday') ? -7 : -1));
}

/** `3 days ago`, `a month ago` and `last two weeks`, but not `last month`. */
function isCounted(text: string, start: chrono.ParsedComponents): boolean {
  return /\d| ago$|^(?:last|past) \S+ /u.test(text) && start.tags().has('result/relativeDate');
}

/** The day meant, or the first of a week, month or year: `YYYY-MM-DD`. */
function dayOf(text: string, start: chrono.ParsedComponents, today: string): string {
  const monday = daysAfter(today, -((weekdayOf(today) + 6) % 7));
  if (text === 'this week') return monday;
  if (/^(?:last|past|previous) week$/u.test(text)) return daysAfter(monday, -7);
  const weekday = start.isCertain('weekday') ? start.get('weekday') : null;
  // chrono-node takes "monday last week" for the newest Monday.
  if (weekday !== null && text.endsWith(' last week')) return daysAfter(monday, ((weekday + 6) % 7) - 7);
  const [year = 0, month = 0, date = 0] = (['year', 'month', 'day'] as const).map(
    (part) => start.get(part) ?? 0,
  );
  const day = dayText(year, month, date);
  if (weekday === 0 && text.includes('weekend')) return daysAfter(day, -1);
  if (weekday !== null && day === today && !start.isCertain('hour') && !text.startsWith('this'))
    return daysAfter(day, -7);
  if (weekday !== null || start.isCertain('day') || isCounted(text, start)) return day;
  if (start.isCertain('month')) return dayText(year, month, 1);
  return start.isCertain('year') ? dayText(year, 1, 1) : day;
}

/**
 * When clocks first show that time or a later one, as some hours are skipped. `undefined` for no such day.
 * @throws {RangeError} for an unknown zone.
 */
function atLocal(day: string, hour: number, minute: number, timeZone: string): Date | undefined {
  const wall = Date.parse(`${day}T00:00Z`) + (hour * 60 + minute) * 60_000;
  if (Number.isNaN(wall)) return undefined;
  const clock = wallClockIn(timeZone);
  const nearer = (at: number): number => at + wall - Date.parse(`${clock(at)}Z`);
  const near = nearer(nearer(wall));
  // Around a time that clocks skip, these are an hour apart.
  return new Date(Math.max(near, nearer(near)));
}
