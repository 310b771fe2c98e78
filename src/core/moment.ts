import * as chrono from 'chrono-node';

import { createTimeSlice, localDate, wallClockIn } from './time.ts';

const mostChars = 100;
const quarterMs = 900_000;
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** Shown to people whose words name no moment. */
export const momentForms =
  'It can be 2h, 3 days, an hour ago, this morning, yesterday 18:00, friday, last week, 5 Jan, 2026-01-15 or 2026-01-15 14:30.';

/**
 * A past moment as people write it, in a time zone: what chrono-node reads, and durations such as `2h`.
 * Ambiguous words mean the past (`friday`: the newest before today), and a day, week, month or part of a day
 * its beginning. `undefined` for other words and for the future.
 * @throws {RangeError} for an unknown zone.
 */
export async function momentIn(words: string, now: Date, timeZone: string): Promise<Date | undefined> {
  const text = words.trim().replaceAll(/\s+/gu, ' ').toLowerCase();
  if (text === '' || text.length > mostChars) return undefined;
  const seconds = timestamp.exec(text)?.[1];
  if (seconds !== undefined) {
    const moment = new Date(Number(seconds) * 1000);
    return moment <= now ? moment : undefined;
  }
  const ago = duration.test(text)
    ? `${text.replace(/^(?:(?:over|in|within|during|for) )?(?:the )?(?:(?:last|past) )?/u, '')} ago`
    : text.replace('last night', 'yesterday evening');
  // chrono-node counts some days wrong in other zones, so it gets a moment at which this machine's clocks show
  // theirs.
  const shown = new Date(wallClockIn(timeZone)(now.getTime()));
  const pause = createTimeSlice();
  for (const language of languages) {
    for (const { index, text: found, start } of language.parse(ago, shown)) {
      if (!saysNoMore(ago.slice(0, index), ago.slice(index + found.length))) continue;
      const moment = isCountedInHours(start)
        ? new Date(now.getTime() - (shown.getTime() - start.date().getTime()))
        : momentOf(found, start, now, timeZone);
      if (moment !== undefined && moment <= now) return moment;
    }
    await pause();
  }
  return undefined;
}

/** Discord's timestamp markup. */
const timestamp = /^<t:(\d{1,11})(?::[a-z])?>$/u;

/** How long ago: `2h`, `1h30m`, `an hour`, `over the last two days`. */
const duration =
  /^(?:(?:over|in|within|during|for) )?(?:the )?(?:last |past )?(?:\d{1,5} ?(?:h|hrs?|hours?)(?: and)? ?)?(?:\d{1,5}|an?|one|two|three|four|five|six|seven|eight|nine|ten|half an|(?:a )?(?:couple of|few)) ?(?:mins?|minutes?|m|hrs?|hours?|h|days?|d|weeks?|w|months?|years?)$/u;

const { casual, en, de, fr, es, pt, it, nl, sv, fi, ru, uk, ja, zh, vi, id, ar } = chrono;
const others = [de, fr, es, pt, it, nl, sv, fi, ru, uk, ja, zh, vi, id, ar];

/** English reads the month before the day first, then the day before it. */
const languages: readonly chrono.Chrono[] = [casual, en.GB, ...others.map((language) => language.casual)];

/** Words around a moment that change nothing of it. */
const around = new Set(
  `since from after on at the in of earlier early late last just only about around seit ab von am um dem der depuis le la les desde el do da dal
  sinds vanaf op с со з від sedan från から より 以来 从 自从 起 以来`.split(/\s+/u),
);

function saysNoMore(...parts: readonly string[]): boolean {
  return parts.every((part) => (part.match(/[\p{L}\p{M}\p{N}]+/gu) ?? []).every((word) => around.has(word)));
}

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
  timeZone: string,
): Date | undefined {
  if (start.isCertain('timezoneOffset')) return start.date();
  const today = localDate(now, timeZone);
  const day = dayOf(text, start, today);
  const part = [...start.tags()].flatMap((tag) => partsOfDay.get(tag) ?? [])[0];
  // "3 days ago" means at this time of day.
  const hasClock = start.isCertain('hour') || isCounted(text, start);
  const hour = hasClock ? (start.get('hour') ?? 0) : (part ?? 0);
  const minute = hasClock ? (start.get('minute') ?? 0) : 0;
  const at = (date: string) => atLocal(date, hour, minute, timeZone);
  const moment = at(day);
  if (moment === undefined || moment <= now) return moment;
  // Not fixed which one is meant: the one before.
  if (start.isCertain('year')) return undefined;
  if (start.isCertain('month')) return at(`${Number(day.slice(0, 4)) - 1}${day.slice(4)}`);
  return at(daysBefore(day, start.isCertain('weekday') ? 7 : 1));
}

/** `an hour ago`. */
function isCountedInHours(start: chrono.ParsedComponents): boolean {
  return ['result/relativeDateAndTime', 'casualReference/now'].some((tag) => start.tags().has(tag));
}

/** `3 days ago`. */
function isCounted(text: string, start: chrono.ParsedComponents): boolean {
  return /\d/u.test(text) && start.tags().has('result/relativeDate');
}

const calendarWeek = /^(?:last|past|previous|this) week$/u;

/** The day meant, or the first of a month or year: `YYYY-MM-DD`. */
function dayOf(text: string, start: chrono.ParsedComponents, today: string): string {
  if (calendarWeek.test(text)) return weekBegin(text.startsWith('this') ? today : daysBefore(today, 7));
  // chrono-node takes "monday last week" for the newest Monday.
  if (/\slast week$/u.test(text) && start.isCertain('weekday'))
    return daysBefore(weekBegin(today), 7 - (((start.get('weekday') ?? 1) + 6) % 7));
  const [year = 0, month = 0, date = 0] = (['year', 'month', 'day'] as const).map(
    (part) => start.get(part) ?? 0,
  );
  const isDay = start.isCertain('day') || start.isCertain('weekday') || isCounted(text, start);
  const isWholeYear = !isDay && start.isCertain('year') && !start.isCertain('month');
  const isWholeMonth = !isDay && start.isCertain('month');
  const day = dateText(year, isWholeYear ? 1 : month, isWholeYear || isWholeMonth ? 1 : date);
  if (text.includes('weekend') && start.get('weekday') === 0) return daysBefore(day, 1);
  const isTodaysName = day === today && start.isCertain('weekday') && !start.isCertain('day');
  return isTodaysName && !start.isCertain('hour') && !text.startsWith('this') ? daysBefore(day, 7) : day;
}

function dateText(year: number, month: number, day: number): string {
  return [String(year).padStart(4, '0'), twoDigits(month), twoDigits(day)].join('-');
}

function twoDigits(number: number): string {
  return String(number).padStart(2, '0');
}

function weekBegin(day: string): string {
  return daysBefore(day, (new Date(`${day}T12:00:00Z`).getUTCDay() + 6) % 7);
}

function daysBefore(day: string, days: number): string {
  return new Date(Date.parse(`${day}T12:00:00Z`) - days * dayMs).toISOString().slice(0, 10);
}

/**
 * When clocks first show that time or a later one, as some hours are skipped. `undefined` for no such day.
 * @throws {RangeError} for an unknown zone.
 */
function atLocal(day: string, hour: number, minute: number, timeZone: string): Date | undefined {
  const begin = Date.parse(`${day}T00:00:00Z`);
  if (Number.isNaN(begin)) return undefined;
  const clock = wallClockIn(timeZone);
  const past = minute % 15;
  const wanted = `${day}T${twoDigits(hour)}:${twoDigits(minute - past)}`;
  // Clocks are at most 14 hours ahead of UTC and 12 behind it.
  for (let at = begin - 15 * hourMs; at <= begin + 37 * hourMs; at += quarterMs)
    if (clock(at) >= wanted) return new Date(at + past * 60_000);
  return undefined;
}
