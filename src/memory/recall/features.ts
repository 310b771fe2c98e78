import type { Find } from './hits.ts';
import type { QueryTerm, RecallQuery } from './query.ts';
import type { Ranking } from './rank.ts';
import { holds, trait, type Segment } from './segments.ts';

/** How surely a term of each kind is the query's word; other kinds never are. */
const sureness: Readonly<Record<QueryTerm['kind'], number>> = {
  word: 1,
  beginning: 0.6,
  related: 0.5,
  author: 0,
  title: 0,
  date: 0,
};
/** A bot's word beside a person's, unless the query asks for the bot's. */
const botShare = 0.3;
/** So many words of the query in one text tell more than each by itself. */
const several = 3;

/** A text that is hardly more than the match tells no less than one of twice its length. */
const mostDensity = 0.5;

/** Numbers from 0 to about 1, or logarithms. */
export type Features = ReturnType<typeof hitFeatures>;

/**
 * The features of hits, best first, from the index alone; no text is read. Units not admitted to the search
 * are ignored [V2].
 */
export function featuresOf(
  hits: readonly Find[],
  query: RecallQuery,
  rarities: Ranking['rarities'],
): readonly Features[] {
  const words = wordsOf(query, rarities);
  const held = hits.map((hit) => heldBy(hit, hit.index, words));
  const times = hits.map(timeOf).filter((time) => time > 0);
  const list: HitList = {
    query,
    words,
    best: hits[0]?.score ?? 0,
    stretches: stretchesOf(hits, held),
    first: Math.min(...times),
    last: Math.max(...times),
  };
  return hits.map((hit, at) => hitFeatures(hit, held[at] ?? heldBy(hit, hit.index, words), list));
}

interface HitList {
  readonly query: RecallQuery;
  readonly words: QueryWords;
  readonly best: number;
  readonly stretches: ReadonlyMap<Segment, ReadonlyMap<number, Stretch>>;
  /** Of the hits with a known time, in milliseconds since the epoch. */
  readonly first: number;
  readonly last: number;
}

interface Stretch {
  readonly best: number;
  /** The most of each word that any of them has. */
  readonly words: Float64Array;
  /** By the unit's index. */
  readonly scores: Map<number, number>;
}

function hitFeatures(hit: Find, { words: held, count, dates }: Held, list: HitList) {
  const { query, words, best, stretches, first, last } = list;
  const { segment, index, score } = hit;
  const { traitsOf, lengthOf, authorOf, stretchOf, statementShareOf } = segment;
  const traits = traitsOf[index] ?? 0;
  const length = Math.max(1, lengthOf[index] ?? 0);
  const statement = statementShareOf[index] ?? 0;
  const share = shareOf(held, words);
  const hasBefore = isNeighbour(hit, index - 1);
  const isAnswer =
    hasBefore && ((traitsOf[index - 1] ?? 0) & trait.asks) !== 0 && authorOf[index - 1] !== authorOf[index];
  const stretch = stretches.get(segment)?.get(stretchOf[index] ?? 0);
  const scores = stretch?.scores ?? new Map<number, number>();
  let place = 0;
  for (const other of scores.keys()) {
    if (other === index) break;
    place += 1;
  }
  const time = timeOf(hit);
  return {
    score: Math.log(Math.max(score / best, 1e-6)),
    /** The words of the query it has, by telling power; the same, squared; and by its length. */
    held: share,
    heldRare: held.reduce((sum, each, at) => sum + Math.floor(each) * words.squares(at), 0),
    several: count >= several ? 1 : 0,
    density: Math.min(count / length, mostDensity),
    densityRoot: count / Math.sqrt(length),
    /** The share that is a question, and what a statement has. */
    question: 1 - statement,
    stated: statement * share,
    /** What the question before this answer has. */
    answered: isAnswer ? shareOf(heldBy(hit, index - 1, words).words, words) : 0,
    /** Said by the bot, where the query asks for that. */
    meant: query.meansBot && (traits & trait.isBot) !== 0 ? 1 : 0,
    number: (traits & trait.hasNumber) === 0 ? 0 : 1,
    date: dates,
    /** An expression of time, and length, where the query asks when. */
    time: query.asksWhen && (traits & trait.tellsWhen) !== 0 ? 1 : 0,
    timeLength: query.asksWhen ? Math.log(1 + length) : 0,
    /** How new it is, where the query asks for what holds now. */
    now: query.asksNow && last > first && time > 0 ? (time - first) / (last - first) : 0,
    /** Its stretch: the words of all its hits, the best hit, their number, and how many precede this one. */
    heldInStretch: stretch === undefined ? share : shareOf(stretch.words, words),
    bestInStretch: (stretch?.best ?? score) / best,
    hitsInStretch: Math.log(Math.max(1, scores.size)),
    placeInStretch: Math.log(1 + place),
    /** The better of the hits two places away, mostly by the same author. */
    close: Math.max(scores.get(index - 2) ?? 0, scores.get(index + 2) ?? 0) / best,
    begins: hasBefore ? 0 : 1,
    ends: isNeighbour(hit, index + 1) ? 0 : 1,
  };
}

/** Whether a unit is of the hit's stretch and admitted. */
function isNeighbour({ segment, index, admits }: Find, other: number): boolean {
  const stretch = segment.stretchOf[other];
  return stretch !== undefined && stretch === segment.stretchOf[index] && admits?.(other) !== false;
}

function timeOf({ segment, index }: Find): number {
  return segment.timeOf[index] ?? 0;
}

/** The query's words without authors' names, and how units are found to have them. */
interface QueryWords {
  /** Each word's share of what all tell, and the same of squares. */
  readonly values: Float64Array;
  readonly squares: (at: number) => number;
  /** Terms that occur: of the query's, which; for which word (-1: a date); how surely. */
  readonly terms: readonly {
    readonly at: number;
    readonly word: number;
    readonly sure: number;
    readonly rarity: number;
  }[];
  readonly dates: number;
  readonly botCounts: number;
}

function wordsOf({ terms, meansBot }: RecallQuery, rarities: readonly number[]): QueryWords {
  const words = new Map<string, number>();
  for (const { kind, word } of terms) if (kind === 'word') words.set(word, words.get(word) ?? words.size);
  const known = terms.flatMap(({ kind, word }, at) => {
    const place = kind === 'date' ? -1 : words.get(word);
    const [sure, rarity] = [sureness[kind], rarities[at] ?? 0];
    return place === undefined || rarity === 0 || (place !== -1 && sure === 0)
      ? []
      : [{ at, word: place, sure, rarity }];
  });
  const rarityOf = Float64Array.from(words.values(), (word) => {
    // A word that never occurs tells as much as those like it.
    const likes = known.filter((each) => each.word === word);
    const own = likes.find(({ sure }) => sure === 1);
    return own?.rarity ?? Math.min(...likes.map(({ rarity }) => rarity), Infinity);
  }).map((rarity) => (rarity === Infinity ? 0 : rarity));
  const sum = rarityOf.reduce((all, rarity) => all + rarity, 0) || 1;
  const ofSquares = rarityOf.reduce((all, rarity) => all + rarity ** 2, 0) || 1;
  return {
    values: rarityOf.map((rarity) => rarity / sum),
    squares: (at) => (rarityOf[at] ?? 0) ** 2 / ofSquares,
    terms: known,
    dates: known.reduce((all, { word, rarity }) => all + (word === -1 ? rarity : 0), 0),
    botCounts: meansBot ? 1 : botShare,
  };
}

/** What a unit has of a query. */
interface Held {
  /** From 0 to how surely it is that word. */
  readonly words: Float64Array;
  /** Exact words. */
  readonly count: number;
  /** The share of possible dates. */
  readonly dates: number;
}

function heldBy(
  { segment, places }: Find,
  index: number,
  { values, terms, dates, botCounts }: QueryWords,
): Held {
  const words = new Float64Array(values.length);
  const counts = ((segment.traitsOf[index] ?? 0) & trait.isBot) === 0 ? 1 : botCounts;
  let [count, ofDates] = [0, 0];
  for (const { at, word, sure, rarity } of terms) {
    if (!holds(segment, places[at] ?? -1, index)) continue;
    if (word === -1) ofDates += rarity;
    else words[word] = Math.max(words[word] ?? 0, counts * sure);
    if (sure === 1) count += counts;
  }
  return { words, count, dates: dates === 0 ? 0 : ofDates / dates };
}

/** The telling share of words held by one or more units. */
function shareOf(held: Float64Array, { values }: QueryWords): number {
  let sum = 0;
  for (const [at, value] of values.entries()) sum += value * (held[at] ?? 0);
  return sum;
}

function stretchesOf(hits: readonly Find[], held: readonly Held[]): HitList['stretches'] {
  const all = new Map<Segment, Map<number, Stretch>>();
  for (const [at, { segment, index, score }] of hits.entries()) {
    const ofSegment = all.get(segment) ?? new Map<number, Stretch>();
    all.set(segment, ofSegment);
    const number = segment.stretchOf[index] ?? 0;
    const words = held[at]?.words ?? new Float64Array();
    const known = ofSegment.get(number);
    const stretch = known ?? { best: score, words: words.slice(), scores: new Map<number, number>() };
    ofSegment.set(number, stretch);
    stretch.scores.set(index, score);
    for (const [word, share] of words.entries())
      stretch.words[word] = Math.max(stretch.words[word] ?? 0, share);
  }
  return all;
}
