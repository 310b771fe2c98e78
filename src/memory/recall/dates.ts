import { searchForm } from '../../core/text.ts';
import { dayBefore, localDate } from '../../core/time.ts';

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
      if (day === '') return [];
      const [year, month, ofMonth] = day.split('-').map(Number);
      const weekday = new Date(`${day}T12:00:00Z`).getUTCDay();
      const names = [day, `year-${year}`, `month-${month}`, `of-${ofMonth}`, `weekday-${weekday}`];
      return names.map((name) => prefix + name);
    },

    /** The dates in a query: `8 May 2023`, `2023-05-08`, `monday`, `yesterday`, in the languages known. */
    termsIn(query: string, now: Date): readonly string[] {
      const words = searchForm(query).match(/\d{4}-\d{2}-\d{2}|[\p{L}\p{M}']+|\d+/gu) ?? [];
      const today = localDate(now, timeZone);
      const found = words.flatMap((word): readonly string[] => {
        if (/^\d{4}-\d{2}-\d{2}$/u.test(word)) return [`${prefix}${word}`];
        if (/^(?:19|20)\d{2}$/u.test(word)) return [`${prefix}year-${word}`];
        if (todays.has(word)) return [`${prefix}${today}`];
        if (yesterdays.has(word)) return [`${prefix}${dayBefore(today)}`];
        return dateNames.get(word) ?? word.split("'").flatMap((part) => dateNames.get(part) ?? []);
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

const dateNames = new Map<string, readonly string[]>([
  ...months.flatMap((names, index) => termsByName(names, `${prefix}month-${index + 1}`)),
  ...weekdays.flatMap((names, index) => termsByName(names, `${prefix}weekday-${index}`)),
]);

function termsByName(names: string, term: string): [string, readonly string[]][] {
  return searchForm(names)
    .split(' ')
    .map((name) => [name, [term]]);
}

/** In `searchForm`; `today` and `yesterday` count too. */
export function isDateName(word: string): boolean {
  return dateNames.has(word) || todays.has(word) || yesterdays.has(word);
}

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

export function asksWhen(query: string): boolean {
  return timeQuestion.test(query);
}

/** A question of when is answered by "last week", too. */
export function tellsWhen(text: string): boolean {
  return timeExpression.test(text);
}
