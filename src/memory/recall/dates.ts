import { LRUCache } from 'lru-cache';

import { dayBefore } from '../../core/time.ts';

const quarterHour = 15 * 60 * 1000;
const keptTimes = 20_000;
const keptDays = 4000;
/** Languages whose names of months and weekdays a query may use. */
const languages = ['en', 'de', 'es', 'fr', 'it', 'pt', 'nl', 'pl', 'ru', 'uk'];

/** Marks a term as one of a date, which no word of a text is. */
const prefix = 'date:';

export type Dates = ReturnType<typeof createDates>;

/** Dates as terms, in a local time zone: what a text's time is found by, and what a query asks for. */
export function createDates(timeZone: string) {
  const known = growing<number>(keptTimes);
  const days = growing<string>(keptDays);
  // Made once: for many messages `localDate` takes longer to make its format than to use it.
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    calendar: 'gregory',
    numberingSystem: 'latn',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
  });

  function localDay(time: number): string {
    const [month = '', day = '', year = ''] = format.format(time).split('/');
    return `${year.padStart(4, '0')}-${month}-${day}`;
  }

  function termsOfDay(date: string): readonly string[] {
    const found = days.get(date) ?? dayTerms(date);
    days.set(date, found);
    return found;
  }

  return {
    /** The local day of a moment: `YYYY-MM-DD`; empty for a text that is no time. */
    dayOf(at: string): string {
      const time = Date.parse(at);
      return Number.isNaN(time) ? '' : localDay(time);
    },

    /** The terms of a moment: its day, day of the month, weekday, month and year. */
    termsOf(at: string): readonly string[] {
      const time = Date.parse(at);
      if (Number.isNaN(time)) return [];
      // Every time zone's offset is a multiple of a quarter of an hour.
      const quarter = Math.floor(time / quarterHour);
      const found = known.get(quarter) ?? termsOfDay(localDay(time));
      known.set(quarter, found);
      return found;
    },

    /** The terms that a query names: `8 May 2023`, `2023-05-08`, `monday`, `yesterday`, in the languages known. */
    termsIn(query: string, now: Date): readonly string[] {
      const words = query.toLowerCase().match(/\d{4}-\d{2}-\d{2}|[\p{L}\p{M}]+|\d+/gu) ?? [];
      const today = localDay(now.getTime());
      const found = words.flatMap((word): readonly string[] => {
        if (/^\d{4}-\d{2}-\d{2}$/u.test(word)) return [`${prefix}${word}`];
        if (/^(?:19|20)\d{2}$/u.test(word)) return [`${prefix}year-${word}`];
        if (todays.has(word)) return [`${prefix}${today}`];
        if (yesterdays.has(word)) return [`${prefix}${dayBefore(today)}`];
        return dateNames.get(word) ?? [];
      });
      const namesMonth = found.some((term) => term.startsWith(`${prefix}month-`));
      const numbers = words.filter(
        (word) => /^\d{1,2}$/u.test(word) && Number(word) >= 1 && Number(word) <= 31,
      );
      return [
        ...new Set([...found, ...(namesMonth ? numbers.map((day) => `${prefix}of-${Number(day)}`) : [])]),
      ];
    },
  };
}

/** With `max` instead of `maxSize` it would take the room for all entries at once. */
function growing<Key extends string | number>(most: number): LRUCache<Key, readonly string[]> {
  return new LRUCache({ maxSize: most, sizeCalculation: () => 1 });
}

const todays = new Set(['today', 'сегодня', 'heute', "aujourd'hui", 'hoy', 'oggi', 'hoje']);
const yesterdays = new Set(['yesterday', 'вчера', 'gestern', 'hier', 'ayer', 'ieri', 'ontem']);

function dayTerms(day: string): readonly string[] {
  const [year = '', month = '', ofMonth = ''] = day.split('-');
  const weekday = new Date(`${day}T12:00:00Z`).getUTCDay();
  return [
    `${prefix}${day}`,
    `${prefix}year-${year}`,
    `${prefix}month-${Number(month)}`,
    `${prefix}of-${Number(ofMonth)}`,
    `${prefix}weekday-${weekday}`,
  ];
}

function nameReader(
  language: string,
  part: 'month' | 'weekday',
  options: Intl.DateTimeFormatOptions,
): (time: number) => string {
  const format = new Intl.DateTimeFormat(language, { ...options, timeZone: 'UTC' });
  return (time) => {
    const parts = format.formatToParts(time);
    return parts.find(({ type }) => type === part)?.value.toLowerCase() ?? '';
  };
}

/** The names of months and weekdays, in the forms that stand alone and in dates. */
function namesOfDates(): ReadonlyMap<string, readonly string[]> {
  const names = new Map<string, readonly string[]>();
  for (const language of languages) {
    const months = nameReader(language, 'month', { month: 'long' });
    const monthsInDates = nameReader(language, 'month', { month: 'long', day: 'numeric' });
    const weekdays = nameReader(language, 'weekday', { weekday: 'long' });
    for (let month = 0; month < 12; month += 1) {
      const time = Date.UTC(2026, month, 1);
      for (const nameOf of [months, monthsInDates]) names.set(nameOf(time), [`${prefix}month-${month + 1}`]);
    }
    // The first of February 2026 is a Sunday.
    for (let day = 0; day < 7; day += 1)
      names.set(weekdays(Date.UTC(2026, 1, 1 + day)), [`${prefix}weekday-${day}`]);
  }
  return names;
}

const dateNames = namesOfDates();

const timeQuestion =
  /\b(?:when|how long|(?:what|which) (?:date|day|week|month|year|time))\b|когда|сколько времени|как долго/iu;

const timeExpression = new RegExp(
  [
    '\\b(?:yesterday|today|tonight|tomorrow|ago|last|next|recently|week|weekend|month|year|morning|evening',
    'summer|winter|spring|autumn|fall|since|(?:mon|tues|wednes|thurs|fri|satur|sun)day',
    'january|february|march|april|june|july|august|september|october|november|december|(?:19|20)\\d{2})s?\\b',
    'вчера|сегодня|завтра|назад|прошл|следующ|недел|месяц',
  ].join('|'),
  'iu',
);

/** Whether a query asks for a time. */
export function asksWhen(query: string): boolean {
  return timeQuestion.test(query);
}

/** Whether a text tells a time: who asks when something was is helped by "last week". */
export function tellsWhen(text: string): boolean {
  return timeExpression.test(text);
}
