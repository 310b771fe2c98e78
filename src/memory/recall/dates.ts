import { searchForm } from '../../core/text.ts';
import { dayText, daysAfter, localDate, weekdayOf } from '../../core/time.ts';

/** No word of a text begins so. */
const prefix = 'date:';

export type Dates = ReturnType<typeof createDates>;

/** Dates as terms, in a local time zone, for texts and queries. */
export function createDates(timeZone: string) {
  /** `YYYY-MM-DD`; empty for an invalid time. */
  function dayOf(at: string): string {
    const date = new Date(at);
    return Number.isNaN(date.getTime()) ? '' : localDate(date, timeZone);
  }

  return {
    dayOf,

    /** Day, day of the month, weekday, month and year. */
    termsOf(at: string): readonly string[] {
      const day = dayOf(at);
      return day === '' ? [] : termsOfDay(day);
    },

    /**
     * The dates in a query: `8 May 2023`, `8.5.2023`, `2023-05-08`, `8 Jan`, `monday`, `yesterday`, in the
     * languages known.
     */
    termsIn(query: string, now: Date): readonly string[] {
      const words = searchForm(query).match(dateWord) ?? [];
      const today = localDate(now, timeZone);
      const found = words.flatMap((word, at): readonly string[] => {
        if (isYear(word)) return [`${prefix}year-${word}`];
        if (todays.has(word)) return [`${prefix}${today}`];
        if (yesterdays.has(word)) return [`${prefix}${daysAfter(today, -1)}`];
        const days = daysOfNumbers(word);
        if (days.length > 0) return days.map((day) => prefix + day);
        const named = monthAt(words, at) ?? dateNames.get(word);
        return named ?? word.split("'").flatMap((part) => dateNames.get(part) ?? []);
      });
      const namesMonth = found.some((term) => term.startsWith(`${prefix}month-`));
      const numbers = namesMonth ? words.filter(isDay).map((day) => `${prefix}of-${Number(day)}`) : [];
      return [...new Set([...found, ...numbers])];
    },
  };
}

/** `YYYY-MM-DD`. */
function termsOfDay(day: string): readonly string[] {
  const [year, month, ofMonth] = day.split('-').map(Number);
  const names = [day, `year-${year}`, `month-${month}`, `of-${ofMonth}`, `weekday-${weekdayOf(day)}`];
  return names.map((name) => prefix + name);
}

/** The terms of the days that a text names, with year or without. */
export function termsOfDaysIn(text: string): readonly string[] {
  if (!/\b\d{1,2}(?:\b|st|nd|rd|th)|\d-\d/iu.test(text)) return [];
  const words = (searchForm(text).match(dateWord) ?? []).filter((word) => !betweenDayAndMonth.has(word));
  return words.flatMap((word, at) => {
    const [month] = monthAt(words, at) ?? [];
    const day = [words[at - 1], words[at + 1]].find(isDay);
    if (month === undefined || day === undefined) return daysOfNumbers(word).flatMap(termsOfDay);
    const year = words.slice(at + 1, at + 3).find(isYear);
    if (year === undefined) return [month, `${prefix}of-${Number(day)}`];
    return termsOfDay(dayText(year, month.slice(`${prefix}month-`.length), day));
  });
}

/** A day as numbers, a name, or a number. */
const dateWord = /\d{4}-\d{1,2}-\d{1,2}|\d{1,2}([./])\d{1,2}\1\d{4}|[\p{L}\p{M}']+|\d+/gu;

const betweenDayAndMonth = new Set(['st', 'nd', 'rd', 'th', 'of', 'de']);
const isYear = (word: string): boolean => /^(?:19|20)\d{2}$/u.test(word);
const isDay = (word = ''): boolean => /^\d{1,2}$/u.test(word) && Number(word) >= 1 && Number(word) <= 31;

/** `24.1.2024`, `2024-01-24`; between slashes day and month may stand in either order. */
function daysOfNumbers(word: string): readonly string[] {
  const numbers = word.split(/[-./]/u);
  const [year, month, day] = word.includes('-') ? numbers : numbers.toReversed();
  if (year === undefined || month === undefined || day === undefined) return [];
  const orders = [[month, day], ...(word.includes('/') ? [[day, month]] : [])];
  return orders
    .filter(([one, other]) => Number(one) <= 12 && isDay(one) && isDay(other))
    .map(([one = '', other = '']) => dayText(year, one, other));
}

/** The month that a word names, a short name only beside a day. */
function monthAt(words: readonly string[], at: number): readonly string[] | undefined {
  const word = words[at] ?? '';
  const isBesideDay = isDay(words[at - 1]) || isDay(words[at + 1]);
  return fullMonths.get(word) ?? (isBesideDay ? shortMonths.get(word) : undefined);
}

const todays = new Set(['today', 'сегодня', 'heute', "aujourd'hui", 'hoy', 'oggi', 'hoje']);
const yesterdays = new Set(['yesterday', 'вчера', 'gestern', 'hier', 'ayer', 'ieri', 'ontem']);

/** Of names of months and weekdays. */
const languages = ['en', 'en-GB', 'de', 'es', 'fr', 'it', 'pt', 'nl', 'pl', 'ru', 'uk'];

type NameStyle = Pick<Intl.DateTimeFormatOptions, 'day' | 'month' | 'weekday'>;

/** By their names in all languages the terms of so many days; names of months change their form beside a day. */
function namesOf(
  part: 'month' | 'weekday',
  days: readonly Date[],
  styles: readonly NameStyle[],
): ReadonlyMap<string, readonly string[]> {
  const names = new Map<string, readonly string[]>();
  for (const language of languages)
    for (const style of styles) {
      const format = new Intl.DateTimeFormat(language, { ...style, timeZone: 'UTC' });
      for (const [index, day] of days.entries()) {
        const name = format.formatToParts(day).find(({ type }) => type === part)?.value ?? '';
        const term = `${prefix}${part}-${part === 'month' ? index + 1 : index}`;
        names.set(searchForm(name.replace(/\.$|-feira$/u, '')), [term]);
      }
    }
  return names;
}

const months = Array.from({ length: 12 }, (_, month) => new Date(Date.UTC(2023, month, 8)));
/** From a Sunday on. */
const week = Array.from({ length: 7 }, (_, day) => new Date(Date.UTC(2023, 0, 1 + day)));

const fullMonths = namesOf('month', months, [{ month: 'long' }, { month: 'long', day: 'numeric' }]);
const shortMonths = namesOf('month', months, [{ month: 'short' }, { month: 'short', day: 'numeric' }]);
const dateNames = new Map([...fullMonths, ...namesOf('weekday', week, [{ weekday: 'long' }])]);

/** In `searchForm`; `today` and `yesterday` count too. */
export function isDateName(word: string): boolean {
  return dateNames.has(word) || shortMonths.has(word) || todays.has(word) || yesterdays.has(word);
}
