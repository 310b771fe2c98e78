import { contentTerms, searchForm, talkTerms, terms, wordsIn } from '../../core/text.ts';
import type { Dates } from './dates.ts';

const keptWords = 50_000;
const interjections = new Set(terms('hey hi hello wow yeah oh ok okay really ну да ага'));

/** Reads texts as recall's terms; caches stems, which take most of the time. */
export class TermReader {
  readonly #known = new Map<string, Word>();
  /** Made at the first query: it takes some milliseconds. */
  static #related: ReadonlyMap<string, ReadonlySet<string>> | undefined;

  /**
   * In order, repeated ones included: stemmed, irregular forms by their base form, without words that say
   * nothing.
   */
  read(text: string): string[] {
    return this.readWhole(text).terms;
  }

  /**
   * With the beginnings of telling words, each once, and its first word's term: for compounds and forms that
   * stemmers miss.
   */
  readWhole(text: string): { readonly terms: string[]; readonly beginnings: ReadonlyMap<string, string> } {
    const all: string[] = [];
    const beginnings = new Map<string, string>();
    for (const word of wordsIn(text)) {
      const read = this.#read(word);
      for (const term of read.terms) all.push(term);
      const [term] = read.terms;
      if (read.beginning !== undefined && term !== undefined && !beginnings.has(read.beginning))
        beginnings.set(read.beginning, term);
    }
    return { terms: all, beginnings };
  }

  /** Few, common and English: weighted far below the query's words. */
  related(term: string): Iterable<string> {
    TermReader.#related ??= relatedTerms(new TermReader());
    return TermReader.#related.get(term) ?? [];
  }

  /** Drops all cached words. */
  drop(): void {
    this.#known.clear();
  }

  #read(word: string): Word {
    const known = this.#known.get(word);
    if (known !== undefined) return known;
    const base = baseForms.get(word) ?? word;
    const found = contentTerms(base).filter((term) => !interjections.has(term));
    const read: Word =
      found.length === 1 && beginsLike.test(base)
        ? { terms: found, beginning: `~${base.slice(0, beginningChars)}` }
        : { terms: found };
    if (this.#known.size >= keptWords) this.#known.clear();
    this.#known.set(word, read);
    return read;
  }
}

/** A term of a file's name. */
export function titleTerm(term: string): string {
  return `title:${term}`;
}

/** A term to look for; ranking weighs its kind. */
export interface QueryTerm {
  readonly term: string;
  /** The word of the query that it stands for. */
  readonly word: string;
  readonly kind: 'word' | 'author' | 'related' | 'title' | 'date' | 'beginning';
}

/** A parsed query; literal text, nothing in it is a pattern [C1]. */
export interface RecallQuery {
  /** In `searchForm`. */
  readonly text: string;
  readonly terms: readonly QueryTerm[];
  /** In order, without related terms. */
  readonly words: readonly string[];
  /** Whom the query names; none where it names them all. */
  readonly namedAuthors: ReadonlySet<string>;
  /** Asks for what holds now, or was last. */
  readonly asksNow: boolean;
}

/** In languages that separate words, and in others. */
const nowWords = new Set(
  searchForm(`now nowadays current currently latest newest recent recently still today anymore jetzt aktuell aktuelle aktuellen derzeit momentan inzwischen
  zuletzt ahora actualmente todavía últimamente maintenant actuellement dernièrement adesso attualmente ancora agora atualmente сейчас теперь
  нынче последний последняя последнее текущий 지금 현재 요즘`).split(' '),
);
const nowPart = /今|現在|最新|最近|现在|目前/u;

/** `query` is in {@link searchForm}. */
function asksNow(query: string): boolean {
  const found = query.match(/[\p{L}\p{M}]+/gu) ?? [];
  return nowPart.test(query) || found.some((word) => nowWords.has(word));
}

/** `authors` are all there are. */
export function readQuery(
  query: string,
  now: Date,
  authors: Iterable<string>,
  { terms: reader, dates }: { readonly terms: TermReader; readonly dates: Dates },
): RecallQuery {
  const { terms: words, beginnings } = reader.readWhole(query);
  const text = searchForm(query);
  const names = new Map(Array.from(authors, (author) => [author, reader.read(author)]));
  const nameTerms = new Set([...names.values()].flat());
  const own = new Set(words);
  const found = new Map<string, QueryTerm>();
  const add = (term: string, kind: QueryTerm['kind'], word = term): void => {
    if (!found.has(term)) found.set(term, { term, kind, word });
  };
  for (const term of own) add(term, nameTerms.has(term) ? 'author' : 'word');
  for (const term of own) {
    add(titleTerm(term), 'title');
    if (nameTerms.has(term)) continue;
    for (const other of reader.related(term)) add(other, 'related', term);
  }
  for (const [beginning, term] of beginnings) add(beginning, 'beginning', term);
  for (const term of dates.termsIn(query, now)) add(term, 'date');
  const named = new Set(
    [...names].flatMap(([author, name]) => (name.some((term) => own.has(term)) ? [author] : [])),
  );
  return {
    text,
    terms: [...found.values()],
    words,
    namedAuthors: named.size === names.size ? new Set() : named,
    asksNow: asksNow(text),
  };
}

/** Too common in questions and items to tell much. */
const common = new Set(terms('prefer like love enjoy hate dislike use live work have want need'));

/**
 * Tells which share of a question's telling words a text has, 0 to 1; related words count half, common verbs
 * little. Keeps no word of either.
 */
export function shareOf(question: string): (text: string) => number {
  const reader = new TermReader();
  const telling = reader.read(question).filter((term) => !talkTerms.has(term));
  const queried = [...new Set(telling)].map((term) => {
    return { term, related: [...reader.related(term)], weight: common.has(term) ? 0.3 : 1 };
  });
  const whole = queried.reduce((sum, { weight }) => sum + weight, 0);
  return (text) => {
    const held = new Set(reader.read(text));
    const found = queried.map(({ term, related, weight }) => {
      if (held.has(term)) return weight;
      return related.some((other) => held.has(other)) ? weight / 2 : 0;
    });
    return whole === 0 ? 0 : found.reduce((sum, each) => sum + each, 0) / whole;
  };
}

interface Word {
  readonly terms: readonly string[];
  /** The marked first letters; absent for short words and scripts without letters. */
  readonly beginning?: string;
}

const beginningChars = 4;
/** Long enough words, in scripts that separate words. */
const beginsLike =
  /^[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Georgian}\p{Script=Hangul}\p{M}]{4,}$/u;

function relatedTerms(reader: TermReader): ReadonlyMap<string, ReadonlySet<string>> {
  const related = new Map<string, Set<string>>();
  const term = (word: string): string => reader.read(word)[0] ?? word;
  const relate = (from: string, to: string): void => {
    if (from === to) return;
    const known = related.get(from) ?? new Set();
    related.set(from, known.add(to));
  };
  for (const group of groupsOf(likes)) {
    const alike = group.split(' ').map(term);
    for (const from of alike) for (const to of alike) relate(from, to);
  }
  for (const group of groupsOf(kinds)) {
    const [kind = '', things = ''] = group.split(': ');
    for (const thing of things.split(' ')) relate(term(kind), term(thing));
  }
  return related;
}

function groupsOf(text: string): readonly string[] {
  return text
    .trim()
    .split(/[|\n]/u)
    .map((group) => group.trim());
}

const irregularForms = `
become became | begin began begun | bite bit bitten | blow blew blown | break broke broken | bring brought | build built
buy bought | catch caught | choose chose chosen | come came | deal dealt | dig dug | draw drew drawn | drink drank drunk
drive drove driven | eat ate eaten | fall fell fallen | feed fed | feel felt | fight fought | find found | fly flew flown
forget forgot forgotten | freeze froze frozen | get got gotten | give gave given | go went gone goes | grow grew grown
hang hung | hear heard | hide hid hidden | hold held | keep kept | know knew known | lead led | learn learnt | leave left
lend lent | lie lay lain | light lit | lose lost | make made | mean meant | meet met | pay paid | ride rode ridden
ring rang rung | rise rose risen | run ran | say said | see saw seen | seek sought | sell sold | send sent | shake shook shaken
shine shone | shoot shot | show shown | sing sang sung | sink sank sunk | sit sat | sleep slept | speak spoke spoken
spend spent | stand stood | steal stole stolen | stick stuck | strike struck | swear swore sworn | sweep swept
swim swam swum | swing swung | take took taken | teach taught | tear tore torn | tell told | think thought | throw threw thrown
understand understood | wake woke woken | wear wore worn | win won | write wrote written
child children | person people | man men | woman women | wife wives | knife knives | leaf leaves | shelf shelves
foot feet | tooth teeth | mouse mice | goose geese | good better best | bad worse worst
`;

/** English forms that no stemmer brings together, by their base form: `went` is `go`. */
const baseForms: ReadonlyMap<string, string> = new Map(
  groupsOf(irregularForms).flatMap((group) => {
    const [base = '', ...forms] = group.split(' ');
    return forms.map((form) => [form, base] as const);
  }),
);

/** Words of everyday talk that stand for each other. */
const likes = `
kid child son daughter boy girl baby toddler | mom mother mum parent | dad father parent | grandma grandmother granny
grandpa grandfather | wife husband spouse partner | boyfriend girlfriend partner fiance date | friend buddy pal mate
job work career profession occupation employment | boss manager supervisor | coworker colleague
company firm business employer startup | buy purchase order shop | movie film cinema | tv show series
book novel read story | song music track album | picture photo image pic photograph | car vehicle auto truck
bike bicycle cycle | house home apartment flat | trip travel vacation holiday journey tour | visit trip | country nation
town city village | store shop mall market | food meal dish | meal dinner lunch breakfast | restaurant cafe diner
doctor physician hospital clinic | sick ill disease illness | health medical condition
exercise workout gym fitness train | hobby interest pastime activity | pet dog cat puppy kitten animal | dog puppy pup
cat kitten kitty | happy glad joy excite thrill | sad upset depress unhappy | worry anxious stress nervous
scare afraid fear frighten | angry mad annoy | like love enjoy favorite prefer fan | hate dislike
begin start join launch | end finish complete stop quit | begin start sign | fix repair | break damage crash
injury hurt injure wound | accident crash | win award prize trophy | competition contest tournament race | game match
school college university class course | teach lesson class instructor | study learn course education degree | exam test
plan intend hope goal dream aim | idea suggestion | advice tip suggest recommend recommendation
help support assist volunteer | charity donate fundraise fundraiser volunteer | event party festival ceremony concert
marry wedding marriage | birthday anniversary | gift present | money financial cash pay afford | price cost
computer laptop pc | phone mobile smartphone | program programming code coding software | draw paint sketch art
art paint sculpture pottery artwork | garden plant flower | cook bake recipe | dance dancing ballet | hike walk trail
camp tent campfire | sport soccer football basketball tennis swimming running | ocean sea beach coast
mountain hill peak | weather rain storm snow | religion church faith spiritual | meet encounter
talk speak chat discuss speech | write writing author | make create build | big large huge | small little tiny
pretty beautiful gorgeous | move relocate | allergy allergic | diet weight | kind type sort | place location
live home reside address | allergic avoid eat | name call
struggle difficult hard challenge tough problem issue | relax destress calm unwind | old age elderly | new latest
instrument guitar piano violin drum flute clarinet
`;

/** A kind and its members: asking for the kind finds a member, not the other way round. */
const kinds = `
pet: dog cat puppy kitten hamster rabbit fish bird parrot turtle snake lizard
animal: dog cat puppy kitten bird horse fish bear
instrument: guitar piano violin drum flute clarinet cello saxophone trumpet keyboard bass ukulele
sport: soccer football basketball tennis swimming running baseball hockey golf volleyball ski surf climb yoga box
exercise: yoga running swimming gym weights cycling boxing hike
martial: karate judo taekwondo kickboxing jiujitsu boxing
activity: hike camp swimming running paint cook dance read bike kayak ski surf climb yoga fish garden museum pottery walk
hobby: paint cook dance read garden photography knit pottery fish guitar game chess hike
art: paint sculpture pottery draw photography sketch
family: mom dad mother father sister brother son daughter kid child parent wife husband aunt uncle cousin grandma grandpa
child: son daughter kid baby toddler
country: america usa england france germany spain italy japan china canada mexico india australia ireland sweden brazil greece thailand
state: california texas florida oregon washington colorado michigan minnesota alaska hawaii
city: paris london tokyo rome boston chicago seattle barcelona berlin york
food: pizza pasta salad soup cake bread chicken sushi ice cream cookie sandwich nut peanut gluten fish egg cheese
dessert: cake pie ice cream cookie chocolate | drink: coffee tea beer wine juice soda
vehicle: car truck bike bus van motorcycle | job: teacher engineer nurse doctor manager lawyer designer developer
health: doctor hospital sick pain injury surgery diagnose | emotion: happy sad angry scare proud grateful anxious
feel: happy sad angry scare proud grateful anxious | game: chess console video board | weather: rain snow storm sun wind
clothes: shirt dress shoes jacket hat | language: english french spanish german italian japanese chinese russian rust python java javascript typescript
season: summer winter spring autumn fall | day: monday tuesday wednesday thursday friday saturday sunday
event: parade festival concert party wedding conference workshop fundraiser ceremony
music: song band concert album guitar piano | device: phone laptop computer tablet watch
furniture: chair table desk couch sofa | subject: math history science biology chemistry physics
religion: church pray faith god temple mosque | politics: election vote campaign office conservative liberal
`;
