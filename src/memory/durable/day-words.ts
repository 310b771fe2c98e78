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
    common: "the my i i'm i've an is to of and have we our it for with am at",
    counted: /^in | (?:ago|from now)$|(?:tomorrow|yesterday)$/iu,
    weekday: /^(?:on |this |next |by |until )?[a-z]{3,6}day$/iu,
  },
  de: {
    common:
      'ich der die das den dem ist mein meine meinen unser unsere am im und habe wir ein eine mit für nach',
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
    common: 'o os as de meu minha é do da no na em para eu tenho um uma nosso nossa dia com vou a',
    weekday: /(?:-feira|sábado|domingo)$/iu,
  },
  it: {
    common: 'il lo la mio mia è di ho un una per mi che sono nostro nostra del della con a',
    counted: /^(?:tra|fra) | fa$/iu,
    weekday: /(?:dì|sabato|domenica)$/iu,
  },
  nl: {
    common: 'ik de het mijn onze is een op van en heb we ben bij naar met voor',
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

export const wordsOf: Readonly<Record<Language, LanguageWords>> = words;

const latin = ['en', 'de', 'fr', 'es', 'pt', 'it', 'nl', 'sv', 'fi', 'vi', 'id'] as const;
const cyrillic = ['ru', 'uk'] as const;

/** The languages that a text can be in: by its script and its commonest words. */
export function languagesOf(text: string): readonly Language[] {
  if (/[\u3040-\u30ff]/u.test(text)) return ['ja'];
  if (/\p{Script=Han}/u.test(text)) return ['zh', 'ja'];
  if (/\p{Script=Arabic}/u.test(text)) return ['ar'];
  const of: readonly Language[] = /\p{Script=Cyrillic}/u.test(text) ? cyrillic : latin;
  const said = text.toLowerCase().match(/[\p{L}\p{M}']+/gu) ?? [];
  const counts = of.map((language) => {
    const common = new Set(wordsOf[language].common?.split(' '));
    return said.filter((word) => common.has(word)).length;
  });
  return of.filter((_, index) => counts[index] === Math.max(...counts));
}

/** Days from today in words that chrono-node does not know, or takes for others. */
export const daysApart: readonly { readonly days: number; readonly pattern: RegExp }[] = [
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
export const comesAgain = new RegExp(
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
export const tellsOfPast = new RegExp(
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
export const next =
  /(?<!\p{L})(?:next|nächst\p{L}*|prochaine?|próxim[oa]|que viene|que vem|prossim[oa]|volgende?|nästa|ensi|sau|tới|depan)(?!\p{L})|следующ|наступн|下|来週|來週|来年|明年|المقبل|القادم/iu;

/** Not a count: `in a few days`. */
export const vague =
  /(?<!\p{L})(?:few|couple|several|half|paar|einigen|quelques|un[oa]s|algun[oa]s|qualche|alcuni|enkele|muutaman|несколько|кілька|beberapa|vài|mấy)(?!\p{L})|[几幾]|(?:بعد|قبل) أيام/iu;

/** `a week from Friday`, `the day before the 15th of March`. */
export const countedFrom =
  /(?:weeks?|days?|months?|fortnight|tage?|wochen?|jours?|semaines?|d[ií]as?|semanas?|giorn[oi]|settiman[ae]|dag(?:en|ar)?|weken|veck(?:a|or)) (?:from|after|before|vor|nach|avant|après|antes|después|depois|prima|dopo|voor|na|före|efter) (?:\p{L}+ ){0,4}$/iu;

/** Where a date may be the name of a street or a number may be anything. */
export const namesStreet =
  /street|road|avenue|(?<!\p{L})(?:st|rd|ave|lane|drive|square|boulevard|rue|place|quai|calle|avenida|plaza|rua|praça|via|viale|piazza|corso|jalan|jl|đường|phố|ул|вул)(?!\p{L})|stra(?:ß|ss)e|platz|straat|plein|gatan|(?:katu|tie)(?!\p{L})|улиц|площад|вулиц|площ|丁目|路|街|شارع/iu;

export const namesNumber =
  /(?<!\p{L})(?:number|nr|phone|call|tel|telefon\p{L}*|fax|version|v|build|release|order|ticket|invoice|id|ip|nummer|numéro|número|numero|номер|số|nomor)(?!\p{L})|番号|電話|号码|电话|رقم/iu;

/** What somebody is called may be any word. */
export const namesSomebody =
  /(?<!\p{L})(?:called|named?|heißt|nenn\p{L}*|name|s'appelle|llama|chama|chiama|heet|heter|nimi|зовут|звуть|звати|tên|nama|bernama)(?!\p{L})|名前|という|叫|اسم/iu;
