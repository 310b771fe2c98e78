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

/** Names of months and weekdays in ten languages, in all their forms. */
const months = [
  'january januar enero janvier gennaio janeiro januari styczeń stycznia январь января січень січня',
  'february februar febrero février febbraio fevereiro februari luty lutego февраль февраля лютий лютого',
  'march märz marzo mars março maart marzec marca март марта березень березня',
  'april abril avril aprile kwiecień kwietnia апрель апреля квітень квітня',
  'may mai mayo maggio maio mei maj maja май мая травень травня',
  'june juni junio juin giugno junho czerwiec czerwca июнь июня червень червня',
  'july juli julio juillet luglio julho lipiec lipca июль июля липень липня',
  'august agosto août augustus sierpień sierpnia август августа серпень серпня',
  'september septiembre septembre settembre setembro wrzesień września сентябрь сентября вересень вересня',
  'october oktober octubre octobre ottobre outubro październik października октябрь октября жовтень жовтня',
  'november noviembre novembre novembro listopad listopada ноябрь ноября листопад листопада',
  'december dezember diciembre décembre dicembre dezembro grudzień grudnia декабрь декабря грудень грудня',
];
const weekdays = [
  'sunday sonntag domingo dimanche domenica zondag niedziela воскресенье неділя',
  'monday montag lunes lundi lunedì maandag poniedziałek понедельник понеділок',
  'tuesday dienstag martes mardi martedì dinsdag wtorek вторник вівторок',
  'wednesday mittwoch miércoles mercredi mercoledì woensdag środa среда середа',
  'thursday donnerstag jueves jeudi giovedì donderdag czwartek четверг четвер',
  'friday freitag viernes vendredi venerdì vrijdag piątek пятница пʼятниця',
  'saturday samstag sábado samedi sabato zaterdag sobota суббота субота',
];

const fullMonths = new Map(
  months.flatMap((names, index) => termsByName(names, `${prefix}month-${index + 1}`)),
);
/** In English, German, Spanish, French and Russian. */
const shortMonths = new Map(
  'jan ene janv янв|feb fevr февр|mar marz|apr abr avr апр|mai|jun июн|jul juil июл|aug ago авг|sep sept сент|oct okt окт|nov нояб|dec dez dic дек'
    .split('|')
    .flatMap((names, index) => termsByName(names, `${prefix}month-${index + 1}`)),
);
const dateNames = new Map<string, readonly string[]>([
  ...fullMonths,
  ...weekdays.flatMap((names, index) => termsByName(names, `${prefix}weekday-${index}`)),
]);

function termsByName(names: string, term: string): [string, readonly string[]][] {
  return searchForm(names)
    .split(' ')
    .map((name) => [name, [term]]);
}

/** In `searchForm`; `today` and `yesterday` count too. */
export function isDateName(word: string): boolean {
  return dateNames.has(word) || shortMonths.has(word) || todays.has(word) || yesterdays.has(word);
}
