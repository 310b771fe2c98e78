import { LRUCache } from 'lru-cache';

import { dayBefore, localDate } from '../../core/local-time.ts';

const quarterHour = 15 * 60 * 1000;
const keptTimes = 20_000;
/** Languages whose names of months and weekdays a query may use. */
const languages = ['en', 'de', 'es', 'fr', 'it', 'pt', 'nl', 'pl', 'ru', 'uk'];

/** Marks a term as one of a date, which no word of a text is. */
const prefix = 'date:';

/** Dates as terms: what a text's time is found by, and what a query asks for. */
export interface Dates {
  /** The terms of a moment: its day, day of the month, weekday, month and year in the local time zone. */
  termsOf(at: string): readonly string[];
  /** The terms that a query names: `8 May 2023`, `2023-05-08`, `monday`, `yesterday`, in the languages known. */
  termsIn(query: string, now: Date): readonly string[];
}

export function createDates(timeZone: string): Dates {
  const known = new LRUCache<number, readonly string[]>({ max: keptTimes });
  const names = dateNames();

  function termsOf(at: string): readonly string[] {
    const time = Date.parse(at);
    if (Number.isNaN(time)) return [];
    // Every time zone's offset is a multiple of a quarter of an hour.
    const quarter = Math.floor(time / quarterHour);
    const found = known.get(quarter) ?? termsOfDay(localDate(new Date(time), timeZone));
    known.set(quarter, found);
    return found;
  }

  return {
    termsOf,
    termsIn(query, now) {
      const words = query.toLowerCase().match(/\d{4}-\d{2}-\d{2}|[\p{L}\p{M}]+|\d+/gu) ?? [];
      const today = localDate(now, timeZone);
      const found = words.flatMap((word): readonly string[] => {
        if (/^\d{4}-\d{2}-\d{2}$/u.test(word)) return [`${prefix}${word}`];
        if (/^(?:19|20)\d{2}$/u.test(word)) return [`${prefix}year-${word}`];
        if (todays.has(word)) return [`${prefix}${today}`];
        if (yesterdays.has(word)) return [`${prefix}${dayBefore(today)}`];
        return names.get(word) ?? [];
      });
      const namesMonth = found.some((term) => term.startsWith(`${prefix}month-`));
      const days = words.filter((word) => /^\d{1,2}$/u.test(word) && Number(word) >= 1 && Number(word) <= 31);
      return [...new Set([...found, ...(namesMonth ? days.map((day) => `${prefix}of-${Number(day)}`) : [])])];
    },
  };
}

const todays = new Set(['today', 'сегодня', 'heute', "aujourd'hui", 'hoy', 'oggi', 'hoje']);
const yesterdays = new Set(['yesterday', 'вчера', 'gestern', 'hier', 'ayer', 'ieri', 'ontem']);

function termsOfDay(day: string): readonly string[] {
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

/** The names of months and weekdays, in the forms that stand alone and in dates. */
function dateNames(): ReadonlyMap<string, readonly string[]> {
  const names = new Map<string, readonly string[]>();
  for (const language of languages) {
    const format = (options: Intl.DateTimeFormatOptions, part: 'month' | 'weekday', date: Date): string =>
      new Intl.DateTimeFormat(language, { ...options, timeZone: 'UTC' })
        .formatToParts(date)
        .find(({ type }) => type === part)
        ?.value.toLowerCase() ?? '';
    for (let month = 0; month < 12; month += 1) {
      const date = new Date(Date.UTC(2026, month, 1));
      const term = `${prefix}month-${month + 1}`;
      names.set(format({ month: 'long' }, 'month', date), [term]);
      names.set(format({ month: 'long', day: 'numeric' }, 'month', date), [term]);
    }
    for (let day = 0; day < 7; day += 1) {
      // The first of February 2026 is a Sunday.
      const date = new Date(Date.UTC(2026, 1, 1 + day));
      names.set(format({ weekday: 'long' }, 'weekday', date), [`${prefix}weekday-${day}`]);
    }
  }
  names.delete('');
  return names;
}
