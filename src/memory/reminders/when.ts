import * as chrono from 'chrono-node';
import { Temporal } from 'temporal-polyfill';

import { hasNoSuchMonth, replaceMoments } from '../../core/time.ts';
import { momentOf, wallTimeIn } from './wall-clock.ts';

const mostChars = 100;
/** Milliseconds ahead that a reminder must at least be [RM1]. */
const leastMs = 30_000;
const mostYears = 5;
/** Of a day without an hour. */
const usualHour = 9;
const hourOfPart = new Map([
  ['casualReference/morning', usualHour],
  ['casualReference/noon', 12],
  ['casualReference/afternoon', 15],
  ['casualReference/evening', 18],
  ['casualReference/tonight', 20],
]);

const { de, fr, es, pt, it, nl, sv, ru, uk, ja, zh } = chrono;
/** English has the month first in one country and the day in others. */
const readers = [
  chrono.casual,
  chrono.en.GB,
  ...[de, fr, es, pt, it, nl, sv, ru, uk, ja, zh].map((each) => each.casual),
];

/** `past` also where it is nearly now, `far` where it is years ahead. */
type Unset = 'unreadable' | 'ambiguous' | 'past' | 'far';

/**
 * The one moment that words name, said now by somebody in an IANA zone [RM1]: with an hour or without, which is nine
 * o'clock then; counted days keep the hour of now. Every word has to belong to it. @throws {RangeError} for an unknown zone.
 */
export function readMoment(words: string, now: Date, timeZone: string): Date | Unset {
  const text = withHours(
    replaceMoments(words, (moment) => moment.toISOString())
      .normalize('NFKC')
      .replaceAll(/[’ʼ]/gu, "'")
      .replaceAll(/\s+/gu, ' ')
      .trim(),
  );
  if (text.length > mostChars || hasNoSuchMonth(text) || vague.test(text)) return 'unreadable';
  const wall = wallTimeIn(now, timeZone);
  // chrono-node reads by the clock of this machine, and counts hours wrong in a night in which that is changed.
  const reference = new Date(wall.toString({ smallestUnit: 'millisecond' }));
  const read = [reference, unchanged]
    .flatMap((from) => readers.flatMap((reader) => reader.parse(text, from, { forwardDate: true })))
    .filter((result) => isWhole(text, result) && hasHours(result) === (result.refDate === unchanged))
    .map((result) => momentBy(result, now, timeZone));
  const moments = read.flatMap((each) => (each instanceof Date ? each : []));
  const [at] = moments;
  if (at === undefined) return read.find((each) => typeof each === 'string') ?? 'unreadable';
  if (moments.some((each) => each.getTime() !== at.getTime())) return 'ambiguous';
  if (at.getTime() < now.getTime() + leastMs) return 'past';
  const latest = momentOf(wall.add({ years: mostYears }), timeZone);
  return at > latest ? 'far' : at;
}

/** Around it, no machine's clock is put forward or back. */
const unchanged = new Date('2001-01-10T12:00');

/** `in 2 hours`. */
function hasHours({ start }: chrono.ParsedResult): boolean {
  return start.tags().has('result/relativeDateAndTime');
}

function momentBy(
  { text, start, end, refDate }: chrono.ParsedResult,
  now: Date,
  timeZone: string,
): Date | 'unreadable' | 'ambiguous' {
  const wall = wallTimeIn(now, timeZone);
  const has = (part: chrono.Component): boolean => start.isCertain(part);
  const tags = start.tags();
  if (end !== undefined && end !== null) return 'unreadable';
  if (refDate === unchanged) return new Date(now.getTime() + start.date().getTime() - refDate.getTime());
  if (has('timezoneOffset')) return start.date();
  const isCounted = tags.has('result/relativeDate');
  const isNext = next.test(text);
  if (isCounted && isNext) return 'unreadable';
  if (has('hour') && couldBeAfternoon(text, start)) return 'ambiguous';
  const part = [...tags].flatMap((tag) => hourOfPart.get(tag) ?? [])[0];
  const counted = isCounted ? wall.toPlainTime() : new Temporal.PlainTime(part ?? usualHour);
  const time = has('hour')
    ? new Temporal.PlainTime(start.get('hour') ?? 0, start.get('minute') ?? 0)
    : counted;
  const at = (day: Temporal.PlainDate): Date => momentOf(day.toPlainDateTime(time), timeZone);
  const [year, month, day] = (['year', 'month', 'day'] as const).map((each) => start.get(each) ?? 0);
  const date = new Temporal.PlainDate(year ?? 0, month ?? 0, day ?? 0);
  const today = wall.toPlainDate();
  if (isCounted || (has('month') && has('day'))) return at(date);
  if (has('month')) return 'unreadable';
  if (has('weekday')) {
    if (!has('hour') && /^\p{Script=Latin}{1,4}$/u.test(text)) return 'unreadable';
    const ahead = ((start.get('weekday') ?? 0) - (wall.dayOfWeek % 7) + 7) % 7;
    const isLaterThisWeek = ahead > 0 && wall.dayOfWeek + ahead <= 7;
    return ahead === 0 || (isNext && isLaterThisWeek) ? 'ambiguous' : at(today.add({ days: ahead }));
  }
  if (!has('hour') && part === undefined) return 'unreadable';
  if (at(today) > now) return at(today);
  // In the evening the same hour may be meant, unless that has passed too.
  const isMorning = has('hour') && !has('meridiem') && !/\d[:.]\d/u.test(text) && time.hour < 12;
  const evening = isMorning ? momentOf(today.toPlainDateTime(time.add({ hours: 12 })), timeZone) : now;
  return evening > now ? 'ambiguous' : at(today.add({ days: 1 }));
}

/** `3`, `4:30`: at night or in the afternoon. */
function couldBeAfternoon(text: string, start: chrono.ParsedComponents): boolean {
  const hour = start.get('hour') ?? 0;
  return hour > 0 && hour < 7 && !start.isCertain('meridiem') && !/(?<!\d)0[1-6](?!\d)/u.test(text);
}

/** Whether nothing but small words stands around it. */
function isWhole(text: string, { index, text: match }: chrono.ParsedResult): boolean {
  const rest = `${text.slice(0, index)} ${text.slice(index + match.length)}`;
  const isInWord =
    /\p{L}$/u.test(text.slice(0, index)) && /^\p{L}/u.test(match) && !/\p{Script=Han}/u.test(match);
  return (
    !isInWord && (rest.match(/[\p{L}\p{M}\p{N}]+/gu) ?? []).every((word) => around.has(word.toLowerCase()))
  );
}

const around = new Set(
  'on at the el la le il den am um der à a alle las o dia in em no na kl uur uhr'.split(' '),
);

/** As most of its readers know it: `9h`, `kl. 9` and `às 9` behind a day, and days that chrono-node does not know. */
function withHours(text: string): string {
  return text
    .replace(/(?<!\p{L})i morgon(?!\p{L})/iu, 'imorgon')
    .replace(
      /(?<=(?:à|às|as|alle|kl\.?|at|um|om) )(\d{1,2}) ?h(?: ?(\d{2}))?(?!\p{L})/iu,
      (_, hour: string, minute = '00') => `${hour}:${minute}`,
    );
}

/** With them a weekday may be that of this week or the next, and a week has seven days. */
const next =
  /(?<!\p{L})(?:next|nächst\p{L}*|prochaine?|próxim[oa]|que viene|que vem|prossim[oa]|volgende?|nästa|this|dies\p{L}*)(?!\p{L})|следующ|наступн|下|来週|來週/iu;

/** Not a count. */
const vague =
  /(?<!\p{L})(?:few|couple|several|paar|einigen|quelques|un[oa]s|algun[oa]s|qualche|alcuni|enkele)(?!\p{L})|несколько|кілька|[几幾数]/iu;

const reasons = {
  unreadable: 'I cannot tell when that is.',
  ambiguous: 'That could be one of two moments.',
  past: 'That has passed, or is now.',
  far: `That is more than ${mostYears} years ahead.`,
};

/** What people are told where it cannot be set, with two examples [RM1]. */
export function whyNot(unset: Unset): string {
  return `${reasons[unset]} Say it like \`tomorrow at 9:00\` or \`15 March at 18:30\`.`;
}
