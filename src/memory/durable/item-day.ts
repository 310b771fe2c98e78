import * as chrono from 'chrono-node';

import {
  daysAfter,
  dayText,
  hasNoSuchMonth,
  isCalendarDay,
  localDate,
  replaceMoments,
  weekdayOf,
} from '../../core/time.ts';
import { itemMaxChars } from './document.ts';

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
export function readDay(text: string, sentAt: Date, timeZone: string): SaidDay | undefined {
  if (text.length > itemMaxChars) return undefined;
  const words = replaceMoments(text, (moment) => localDate(moment, timeZone))
    .normalize('NFKC')
    .replaceAll(/[’ʼ]/gu, "'")
    .replaceAll(/\s+/gu, ' ');
  if (comesAgain.test(words) || namesSomebody.test(words)) return undefined;
  const today = localDate(sentAt, timeZone);
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
  const day = dayOf(start);
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
  if (namesStreet.test(before + after) || hasNoSuchMonth(match)) return false;
  if (/\d[\s./-]*$|[-+#/.:_]$/u.test(before) || /^[-/.:_]\d|^[-/_]|^ \d{3}/u.test(after)) return false;
  if (/\p{L}/u.test(match)) return !(/(?<!\p{L})in $/iu.test(before) && /^\p{L}/u.test(match));
  return !namesNumber.test(before);
}

/** Days from today after which a date without a year is rather the one before. */
const mostDaysAhead = 270;

function dateOf(components: chrono.ParsedComponents, today: string, words: string): Omit<Found, 'match'> {
  const written = dayOf(components);
  const hasYear = components.isCertain('year');
  const ofYear = (year: number): string => `${year}${written.slice(4)}`;
  const thisYear = ofYear(Number(today.slice(0, 4)));
  const forward = thisYear < today ? ofYear(Number(today.slice(0, 4)) + 1) : thisYear;
  const day = hasYear ? written : forward;
  const isUnclear = !hasYear && (next.test(words) || day > daysAfter(today, mostDaysAhead));
  const isWrong =
    !/^(?:19|20)/u.test(day) ||
    !isCalendarDay(day) ||
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

function dayOf(components: chrono.ParsedComponents): string {
  return dayText(...(['year', 'month', 'day'] as const).map((part) => components.get(part) ?? 0));
}

/** The words that decide what is read as a day [D7], in the languages that chrono-node reads. */

interface LanguageWords {
  /** The commonest ones, by which the language of a text is told. */
  readonly common?: string;
  /** How it counts days from now; other counts are lengths of time. */
  readonly counted?: RegExp;
  /** How it writes a weekday in full that means one day. */
  readonly weekday: RegExp;
}

const words = {
  en: {
    common: "the my i i'm i've a an is to of and have we our it for with am at on in me do be by",
    counted: /^in | (?:ago|from now)$|(?:tomorrow|yesterday)$/iu,
    weekday: /^(?:on |this |next |by |until )?[a-z]{3,6}day$/iu,
  },
  de: {
    common:
      'ich der die das den dem ist mein meine meinen unser unsere am im in und habe wir ein eine mit für nach',
    counted: /^(?:in|vor) /iu,
    weekday: /(?:tag|abend|woch)$/iu,
  },
  fr: {
    common: "je j'ai le la les mon ma mes notre est un une de du et pour nous à au chez",
    counted: /^(?:dans|il y a) /iu,
    weekday: /(?:di|dimanche)$/iu,
  },
  es: {
    common: 'mi mis el la los las es me de en y tengo un una yo que nuestra para a',
    counted: /^(?:en|dentro de) /iu,
    weekday: /(?:es|sábado|domingo)$/iu,
  },
  pt: {
    common: 'o os as de meu minha é do da no na em para eu tenho um uma nosso nossa dia com vou a me',
    weekday: /(?:-feira|sábado|domingo)$/iu,
  },
  it: {
    common: 'il lo la mio mia è di ho un una per mi che sono nostro nostra del della con a in me',
    counted: /^(?:tra|fra) | fa$/iu,
    weekday: /(?:dì|sabato|domenica)$/iu,
  },
  nl: {
    common: 'ik de het mijn onze is een op van en heb we ben bij naar met voor in',
    counted: /^over | geleden$/iu,
    weekday: /dag$/iu,
  },
  sv: {
    common: 'jag min mitt mina vår är den det en ett på har och i till för med om',
    weekday: /^på .*dag$/iu,
  },
  fi: {
    common: 'minun minulla mun meidän on ja olen menen se',
    counted: / (?:päästä|kuluttua|sitten)$/iu,
    weekday: /(?:taina|stina|kkona)$/iu,
  },
  vi: {
    common: 'tôi của là có và chúng ngày đi sẽ mình',
    counted: / (?:nữa|trước)$/iu,
    weekday: /^chủ nhật$/iu,
  },
  id: {
    common: 'saya adalah di dan yang akan ke punya aku kami ada tanggal pada',
    counted: /^dalam | (?:lagi|lalu)$/iu,
    weekday: /^(?:pada |hari )/iu,
  },
  ru: { common: 'я и не меня мой моя у на по с в', counted: /^через | назад$/iu, weekday: /^во? /iu },
  uk: { common: 'я і й не мене мій моя у на в з', counted: /^через | тому$/iu, weekday: /^[ув] /iu },
  ja: { weekday: /曜日$/u },
  zh: { counted: /^[\d一二两三四五六七八九十]+[天日][后後]$/u, weekday: /^(?:星期|礼拜|禮拜)/u },
  ar: { counted: /^(?:بعد|قبل) \S+ /u, weekday: /^يوم /u },
} as const satisfies Record<string, LanguageWords>;

export type Language = keyof typeof words;

const wordsOf: Readonly<Record<Language, LanguageWords>> = words;

const latin = ['en', 'de', 'fr', 'es', 'pt', 'it', 'nl', 'sv', 'fi', 'vi', 'id'] as const;
const cyrillic = ['ru', 'uk'] as const;

/** The languages that a text can be in: by its script and its commonest words. */
function languagesOf(text: string): readonly Language[] {
  if (/[\u3040-\u30ff]/u.test(text)) return ['ja'];
  if (/\p{Script=Han}/u.test(text)) return ['zh', 'ja'];
  if (/\p{Script=Arabic}/u.test(text)) return ['ar'];
  const of: readonly Language[] = /\p{Script=Cyrillic}/u.test(text) ? cyrillic : latin;
  const tokens = text.toLowerCase().match(/[\p{L}\p{M}']+/gu) ?? [];
  const counts = of.map((language) => {
    const common = new Set(wordsOf[language].common?.split(' '));
    return tokens.filter((word) => common.has(word)).length;
  });
  return of.filter((_, index) => counts[index] === Math.max(...counts));
}

/** Days from today in words that chrono-node does not know, or takes for others. */
const daysApart: readonly { readonly days: number; readonly pattern: RegExp }[] = [
  { days: 3, pattern: /大后天|大後天/u },
  {
    days: 2,
    pattern:
      /(?<!\p{L})(?:après[- ]demain|pasado mañana|depois de amanhã|overmorgen|(?:i )?övermorgon)(?!\p{L})|明後日|あさって|[后後]天/iu,
  },
  { days: 1, pattern: /(?<!\p{L})i morgon(?!\p{L})/iu },
  { days: -1, pattern: /(?<!\p{L})i går(?!\p{L})/iu },
  {
    days: -2,
    pattern:
      /(?<!\p{L})(?:avant[- ]hier|anteayer|antier|anteontem|l'altro ieri|ieri l'altro|eergisteren|i förrgår)(?!\p{L})|一昨日|おととい|前天/iu,
  },
];

/** Habits, and what comes back every year: never over. */
const comesAgain = new RegExp(
  [
    String.raw`(?<!\p{L})(?:every|each|daily|weekly|monthly|yearly|annual(?:ly)?|always|usually|often|birthdays?|anniversar(?:y|ies)|born|(?:mon|tues|wednes|thurs|fri|satur|sun)days|day off|weekends?)(?!\p{L})`,
    String.raw`(?<!\p{L})(?:jede[rnsm]?|täglich|wöchentlich|monatlich|jährlich|immer|meistens|geburtstag\p{L}*|jahrestag\p{L}*|hochzeitstag|geboren|(?:mon|diens|donners|frei|sams|sonn)tags|mittwochs|sonnabends|morgens|abends)(?!\p{L})`,
    String.raw`(?<!\p{L})(?:chaque|tou(?:s|tes) les|toujours|souvent|anniversaire|née?|(?:lun|mar|mercre|jeu|vendre|same)dis|dimanches)(?!\p{L})`,
    String.raw`(?<!\p{L})(?:cada|tod[oa]s (?:l?[oa]s)|todo|toda|siempre|los (?:lunes|martes|miércoles|jueves|viernes|sábados|domingos)|cumpleaños|anivers[aá]rio|nací|nasci|sempre|(?:segundas|terças|quartas|quintas|sextas)(?:-feiras)?|sábados|domingos)(?!\p{L})`,
    String.raw`(?<!\p{L})(?:ogni|tutti i|tutte le|compleanno|nat[oa]|di (?:lunedì|martedì|mercoledì|giovedì|venerdì|sabato|domenica))(?!\p{L})`,
    String.raw`(?<!\p{L})(?:elke?|iedere?|altijd|verjaardag|jubileum|geboren|(?:maan|dins|woens|donder|vrij|zater|zon)dags|'s)(?!\p{L})`,
    String.raw`(?<!\p{L})(?:varje|varannan|alltid|födelsedag\p{L}*|årsdag\p{L}*|född|(?:mån|tis|ons|tors|fre|lör|sön)dagar(?:na)?)(?!\p{L})`,
    String.raw`(?<!\p{L})(?:joka|aina|syntymäpäiv\p{L}+|vuosipäiv\p{L}+|syn(?:nyin|tynyt)|\p{L}+isin)(?!\p{L})`,
    String.raw`кажд|ежедневн|еженедельн|всегда|обычно|по (?:понедельник|вторник|сред|четверг|пятниц|суббот|воскресен)|день рожден|годовщин|родил`,
    String.raw`кожн|щодня|щотиж|що(?:понеділ|вівтор|серед|четвер|п'ятниц|субот|неділ)|завжди|зазвичай|день народжен|річниц|народив|народил`,
    '毎|誕生|記念日|いつも|ごと|生まれ|每|生日|纪念日|紀念日|总是|總是|出生',
    String.raw`(?<!\p{L})(?:mỗi|hằng|hàng|luôn|sinh|kỷ niệm|setiap|tiap|selalu|ulang tahun|lahir)(?!\p{L})`,
    'كل|عيد|ميلاد|ذكرى|دائما|ولدت',
  ].join('|'),
  'iu',
);

/** A verb or word of the past: with it a weekday is the one before. */
const tellsOfPast = new RegExp(
  [
    String.raw`(?<!\p{L})(?:was|were|been|had|did|went|(?<!(?:have|has|'ve|'s) )got|came|took|made|(?:i|we) met|left|began|bought|saw|lost|broke|won|gave|found|told|said|thought|became|fell|ago|since|last|agreed|read|wrote|built|spent|quit)(?!\p{L})`,
    String.raw`(?<!(?:am|is|are|be|being|get|gets|getting|'m|'re|'s) )(?<!\p{L})\p{L}{2,}(?<!e)ed(?!\p{L})`,
    String.raw`(?<!\p{L})(?:war|waren|hatten?|wurden?|ging|kam|bekam|fand|begann|seit|letzt\p{L}*|vergangen\p{L}*|vorig\p{L}*|waren|hadden?|werd|kwam|sinds|vorige|afgelopen|\p{L}*ge\p{L}{3,}(?:t|en|d))(?!\p{L})`,
    String.raw`(?<!\p{L})(?:hab|habe|hat|haben|bin|ist|sind|heb|heeft|hebben|ben|is|zijn) (?:.+ )?(?:be|er|ver|ent|zer|an|auf|aus|ein|her|ont|über|unter)\p{L}+(?:t|en|d)(?!\p{L})`,
    String.raw`(?<!\p{L})(?:ai|as|a|avons|avez|ont|suis|est|sommes|sont|ho|hai|ha|abbiamo|sono|è|siamo) (?:\p{L}+ )?(?!sabato|\p{L}+di(?!\p{L}))(?:eu|vu|\p{L}{2,}(?:é|ée|és|ées|i|is|it|u|ue|us|ert|[aiu]t[oaie]|s[oa]|st[oa]|tt[oa]))(?!\p{L})`,
    String.raw`(?<!\p{L})(?:étai[ts]|étaient|avai[ts]|fut|depuis|derni(?:er|ère)|passée?|era|ero|erano|stat[oaie]|avev[oa]|scors[oaie]|fu[ie]?|foi|estaba|estava|estuve|tuve|tive|tinha|había|desde|hace|pasad[oa]|passad[oa]|últim[oa]|\p{L}{2,}(?:aron|ieron|ó|(?<!r)é|(?<![rw])ei)|\p{L}{2,}(?<!est)ou|\p{L}{3,}eu)(?!\p{L})`,
    String.raw`(?<!\p{L})(?:var|hade|blev|fick|gick|kom|tog|sedan|sen|förra|\p{L}+(?:ade|dde|tte|pte|kte)|har \p{L}+(?:at|it|tt)|oli\p{L}*|sitten|viime|\p{L}{2,}(?:tin|sin|[aeiouyäö]nin|lin|tti|imme|ivat))(?!\p{L})`,
    String.raw`\p{Script=Cyrillic}{2}(?:л|ла|ло|ли|лся|лась|лось|лись|[аиіїу]в)(?!\p{L})|назад|прошл|минул`,
    'ました|でした|だった|[っいんし]た|た(?:[。！!]|$)|先週|去年|了|过|過|上周|上週|上星期|去年|以前',
    String.raw`(?<!\p{L})(?:đã|vừa|hồi|trước|từng|sudah|telah|tadi|pernah|sejak|lalu)(?!\p{L})|كان|كنت|منذ|الماضي|\p{Script=Arabic}{3}ت(?!\p{L})`,
  ].join('|'),
  'iu',
);

/** With them a weekday may be that of this week or the next, and a date that of another year. */
const next =
  /(?<!\p{L})(?:next|nächst\p{L}*|prochaine?|próxim[oa]|que viene|que vem|prossim[oa]|volgende?|nästa|ensi|sau|tới|depan)(?!\p{L})|следующ|наступн|下|来週|來週|来年|明年|المقبل|القادم/iu;

/** Not a count: `in a few days`. */
const vague =
  /(?<!\p{L})(?:few|couple|several|half|paar|einigen|quelques|un[oa]s|algun[oa]s|qualche|alcuni|enkele|muutaman|несколько|кілька|beberapa|vài|mấy)(?!\p{L})|[几幾]|(?:بعد|قبل) أيام/iu;

/** `a week from Friday`, `the day before the 15th of March`. */
const countedFrom =
  /(?:weeks?|days?|months?|fortnight|tage?|wochen?|jours?|semaines?|d[ií]as?|semanas?|giorn[oi]|settiman[ae]|dag(?:en|ar)?|weken|veck(?:a|or)) (?:from|after|before|vor|nach|avant|après|antes|después|depois|prima|dopo|voor|na|före|efter) (?:\p{L}+ ){0,4}$/iu;

/** Where a date may be the name of a street or a number may be anything. */
const namesStreet =
  /street|road|avenue|(?<!\p{L})(?:st|rd|ave|lane|drive|square|boulevard|rue|place|quai|calle|avenida|plaza|rua|praça|via|viale|piazza|corso|jalan|jl|đường|phố|ул|вул)(?!\p{L})|stra(?:ß|ss)e|platz|straat|plein|gatan|(?:katu|tie)(?!\p{L})|улиц|площад|вулиц|площ|丁目|路|街|شارع/iu;

const namesNumber =
  /(?<!\p{L})(?:number|nr|phone|call|tel|telefon\p{L}*|fax|version|v|build|release|order|ticket|invoice|id|ip|nummer|numéro|número|numero|номер|số|nomor)(?!\p{L})|番号|電話|号码|电话|رقم/iu;

/** What somebody is called may be any word. */
const namesSomebody =
  /(?<!\p{L})(?:called|named?|heißt|nenn\p{L}*|name|s'appelle|llama|chama|chiama|heet|heter|nimi|зовут|звуть|звати|tên|nama|bernama)(?!\p{L})|名前|という|叫|اسم/iu;
