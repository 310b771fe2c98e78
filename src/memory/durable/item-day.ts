import * as chrono from 'chrono-node';

import { localDate } from '../../core/time.ts';
import { itemMaxChars } from './document.ts';
import {
  comesAgain,
  countedFrom,
  daysApart,
  languagesOf,
  namesNumber,
  namesSomebody,
  namesStreet,
  next,
  tellsOfPast,
  vague,
  wordsOf,
  type Language,
} from './day-words.ts';

/** The day that a text speaks of [D7]. */
export interface SaidDay {
  /** `YYYY-MM-DD`. */
  readonly when: string;
  /** It was past when the text was said, and so is never over. */
  readonly looksBack?: true | undefined;
  /** The same text means another day if it is said on another day. */
  readonly isCounted: boolean;
}

/**
 * The one day that a text itself fixes, said at a moment by somebody in an IANA zone: `tomorrow`, a weekday, a day
 * with its month; of a range its end. `undefined` where there is none or more than one, for what comes again, and
 * where it might be another day. @throws {RangeError} for an unknown zone.
 */
export function readDay(text: string, said: Date, timeZone: string): SaidDay | undefined {
  if (text.length > itemMaxChars) return undefined;
  const words = text
    .normalize('NFKC')
    .replaceAll(/[’ʼ]/gu, "'")
    .replaceAll(/\s+/gu, ' ');
  if (comesAgain.test(words) || namesSomebody.test(words)) return undefined;
  const today = localDate(said, timeZone);
  const apart = daysApart.flatMap(({ days, pattern }): Found[] => {
    const match = pattern.exec(words)?.[0];
    return match === undefined ? [] : [{ match, day: daysAfter(today, days) }];
  });
  const left = without(words, apart);
  const found = [...apart, ...languagesOf(words).flatMap((language) => foundIn(left, language, today))];
  const when = found[0]?.day;
  if (when === undefined || found.some(({ day }) => day !== when)) return undefined;
  const isPast = tellsOfPast.test(words);
  if (isPast && when >= today && found.some(({ isOpen }) => isOpen)) return undefined;
  const looksBack = when < today || (when === today && isPast) ? true : undefined;
  return { when, looksBack, isCounted: !found.some(({ hasYear }) => hasYear) };
}

const { de, fr, es, pt, it, nl, sv, fi, ru, uk, ja, zh, vi, id, ar } = chrono;
const others = { de, fr, es, pt, it, nl, sv, fi, ru, uk, ja, zh, vi, id, ar };

function foundIn(words: string, language: Language, today: string): readonly Found[] {
  // English has the month first in one country and the day in others: where they differ, there is none.
  const readers = language === 'en' ? [chrono.casual, chrono.en.GB] : [others[language].casual];
  // No clock of this machine changes at noon.
  const noon = new Date(`${today}T12:00:00`);
  const results = readers.flatMap((reader) => daysOnly(reader).parse(words, noon));
  return results.flatMap((result) => foundBy(language, result, words, today) ?? []);
}

interface Found {
  readonly match: string;
  /** `undefined` where it cannot be told which one. */
  readonly day: string | undefined;
  /** Told of the past, the same words mean another day. */
  readonly isOpen?: boolean;
  readonly hasYear?: boolean;
}

function without(words: string, found: readonly Found[]): string {
  return found.reduce((left, { match }) => left.replace(match, () => ' '.repeat(match.length)), words);
}

/** Hours and `next month` name none, and the name of a month may be a person's. */
const unused =
  /Time(?!Unit)|RelativeDate|^\w\wMonthNameParser|SlashMonth|EndOf|YearMonthName|MonthYear|YearParser/u;

function daysOnly(language: chrono.Chrono): chrono.Chrono {
  const copy = language.clone();
  copy.parsers = copy.parsers.filter(({ constructor }) => !unused.test(constructor.name));
  return copy;
}

/** `undefined` for what names none. */
function foundBy(
  language: Language,
  { text: match, index, start, end }: chrono.ParsedResult,
  words: string,
  today: string,
): Found | undefined {
  const before = words.slice(0, index);
  const after = words.slice(index + match.length);
  if (start.isCertain('hour') || isInsideWord(before, match, after)) return undefined;
  if (countedFrom.test(before) || /^ week(?!\p{L})/iu.test(after)) return undefined;
  const { counted, weekday } = wordsOf[language];
  if (!start.isCertain('day') || !start.isCertain('month')) {
    if (end || !weekday.test(match) || isCalledSo(before, after)) return undefined;
    return { match, isOpen: true, day: weekdayAfter(today, start.get('weekday') ?? 0, next.test(words)) };
  }
  if (!start.isCertain('year') || /\d{4}/u.test(match))
    return isDate(before, match, after) ? { match, ...dateOf(end ?? start, today, words) } : undefined;
  const day = dateText(start);
  if (start.tags().has('result/relativeDate') || /[\d后後]/u.test(match))
    return counted?.test(match) === true && !vague.test(match) ? { match, day, isOpen: true } : undefined;
  return isNameOrMorning(before, match, after) ? undefined : { match, day };
}

/** Of writing with spaces between words: `ma` in `mañana`, `15 mar` in `15 março`. */
function isInsideWord(before: string, match: string, after: string): boolean {
  const letter = /[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Arabic}\d]/u;
  const areBoth = (...pair: readonly string[]): boolean => pair.every((each) => letter.test(each));
  return areBoth(before.slice(-1), match.slice(0, 1)) || areBoth(match.slice(-1), after.slice(0, 1));
}

/** `Good Friday`, `Friday is my day`. */
function isCalledSo(before: string, after: string): boolean {
  if (before.trim() === '') return /^ (?:is|are|the|ist|est|es|é|è|är|on) /iu.test(after);
  return /(?<!\p{L})\p{Lu}\p{L}* $/u.test(before);
}

/** The song `Yesterday`; German `am Morgen`, Spanish `por la mañana`. */
function isNameOrMorning(before: string, match: string, after: string): boolean {
  if (/["“”„«»‘*_]$/u.test(before) || /^(?:香| y (?:tarde|noche))/u.test(after)) return true;
  if (/^\p{Lu}/u.test(match) && /[^\s.!?:;…(]\s*$/u.test(before)) return true;
  const isMorning =
    /(?:tag|(?<!\p{L})(?:am|gestern|guten|diesen|ganzen|vom|de|deze|goede|la|las|esta|una|por)) $/iu;
  return /^(?:morgen|mañana)$/iu.test(match) && isMorning.test(before);
}

/** Not a street, a phone number, a version or `in March 3 friends came`. */
function isDate(before: string, match: string, after: string): boolean {
  if (namesStreet.test(before + after)) return false;
  if (/\d[\s./-]*$|[-+#/.:_]$/u.test(before) || /^[-/.:_]\d|^[-/_]|^ \d{3}/u.test(after)) return false;
  if (/\p{L}/u.test(match)) return !(/(?<!\p{L})in $/iu.test(before) && /^\p{L}/u.test(match));
  return !namesNumber.test(before);
}

/** Days from today after which a date without a year is rather the one before. */
const mostDaysAhead = 270;

function dateOf(components: chrono.ParsedComponents, today: string, words: string): Omit<Found, 'match'> {
  const written = dateText(components);
  const hasYear = components.isCertain('year');
  const ofYear = (year: number): string => `${year}${written.slice(4)}`;
  const thisYear = ofYear(Number(today.slice(0, 4)));
  const forward = thisYear < today ? ofYear(Number(today.slice(0, 4)) + 1) : thisYear;
  const day = hasYear ? written : forward;
  const isUnclear = !hasYear && (next.test(words) || day > daysAfter(today, mostDaysAhead));
  const isWrong =
    !/^(?:19|20)/u.test(day) ||
    daysAfter(day, 0) !== day ||
    (components.isCertain('weekday') && weekdayOf(day) !== components.get('weekday'));
  return { day: isUnclear || isWrong ? undefined : day, isOpen: !hasYear, hasYear };
}

/** `next Friday` is one day only where this week has no other one. */
function weekdayAfter(today: string, weekday: number, isNext: boolean): string | undefined {
  const present = weekdayOf(today);
  const days = (weekday - present + 7) % 7;
  const isLaterThisWeek = present === 0 || (weekday + 6) % 7 > (present + 6) % 7;
  return days === 0 || (isNext && isLaterThisWeek) ? undefined : daysAfter(today, days);
}

function dateText(components: chrono.ParsedComponents): string {
  return (['year', 'month', 'day'] as const)
    .map((part, index) => String(components.get(part) ?? 0).padStart(index === 0 ? 4 : 2, '0'))
    .join('-');
}

function daysAfter(day: string, days: number): string {
  const noon = new Date(`${day}T12:00:00Z`);
  noon.setUTCDate(noon.getUTCDate() + days);
  return Number.isNaN(noon.getTime()) ? '' : noon.toISOString().slice(0, 10);
}

function weekdayOf(day: string): number {
  return new Date(`${day}T12:00:00Z`).getUTCDay();
}
