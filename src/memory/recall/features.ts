import type { Find } from './hits.ts';
import type { QueryTerm, RecallQuery } from './query.ts';
import type { Ranking } from './rank.ts';
import { isAnswer } from './score.ts';
import { holds } from './segments.ts';

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

/** The features of hits, best first. Units left out of the search are ignored [V2]. */
export function featuresOf(
  hits: readonly Find[],
  query: RecallQuery,
  rarities: Ranking['rarities'],
): readonly Features[] {
  const words = wordsOf(query, rarities);
  const times = hits.map(({ facts }) => facts.time).filter((time) => time > 0);
  const list: HitList = {
    query,
    words,
    dates: query.terms.flatMap(({ kind, term }, at) =>
      kind === 'date' ? [{ term, rarity: rarities[at] ?? 0 }] : [],
    ),
    hits: hits.map((find) => ({ find, held: heldBy(find, find.index, words, query) })),
    first: Math.min(...times),
    last: Math.max(...times),
  };
  return list.hits.map((hit) => hitFeatures(hit, list));
}

interface HitList {
  readonly query: RecallQuery;
  readonly words: readonly QueryWord[];
  readonly dates: readonly { readonly term: string; readonly rarity: number }[];
  /** Best first. */
  readonly hits: readonly HeldHit[];
  /** Of the hits with a known time, in milliseconds since the epoch. */
  readonly first: number;
  readonly last: number;
}

interface HeldHit {
  readonly find: Find;
  /** Of each word of the query: from 0 to how surely the unit has it. */
  readonly held: readonly number[];
}

function hitFeatures(hit: HeldHit, list: HitList) {
  const { query, words, hits, first, last } = list;
  const { find, held } = hit;
  const { segment, index, score, unit, facts } = find;
  const length = Math.max(1, segment.lengths[index] ?? 0);
  const share = shareOf(held, words);
  const exact = words.filter(({ word }) => holds(segment, word, index)).length;
  const count = exact * shareOfAuthor(find, index, query);
  const best = hits[0]?.find.score ?? score;
  const stretch = hits.filter(
    ({ find: other }) => other.segment === segment && other.unit.stretch === unit.stretch,
  );
  const scoreAt = (at: number): number => stretch.find((other) => other.find.index === at)?.find.score ?? 0;
  const hasBefore = isNeighbour(find, index - 1);
  const answers = hasBefore && isAnswer(segment, index);
  return {
    score: Math.log(Math.max(score / best, 1e-6)),
    /** The words of the query it has, by telling power; the same, squared; and by its length. */
    held: share,
    heldRare: held.reduce((sum, each, at) => sum + Math.floor(each) * (words[at]?.squareShare ?? 0), 0),
    several: count >= several ? 1 : 0,
    density: Math.min(count / length, mostDensity),
    densityRoot: count / Math.sqrt(length),
    /** The share that is a question, and what a statement has. */
    question: 1 - facts.statementShare,
    stated: facts.statementShare * share,
    /** What the question before this answer has. */
    answered: answers ? shareOf(heldBy(find, index - 1, words, query), words) : 0,
    /** Said by the bot, where the query asks for that. */
    meant: query.meansBot && unit.isBot ? 1 : 0,
    number: facts.hasNumber ? 1 : 0,
    date: dateShare(find, list.dates),
    /** An expression of time, and length, where the query asks when. */
    time: query.asksWhen && facts.tellsWhen ? 1 : 0,
    timeLength: query.asksWhen ? Math.log(1 + length) : 0,
    /** How new it is, where the query asks for what holds now. */
    now: query.asksNow && last > first && facts.time > 0 ? (facts.time - first) / (last - first) : 0,
    /** Its stretch: the words of all its hits, the best hit, their number, and how many precede this one. */
    heldInStretch: shareOf(
      held.map((_, at) => Math.max(...stretch.map((other) => other.held[at] ?? 0))),
      words,
    ),
    bestInStretch: (stretch[0]?.find.score ?? score) / best,
    hitsInStretch: Math.log(stretch.length),
    placeInStretch: Math.log(1 + stretch.indexOf(hit)),
    /** The better of the hits two places away, mostly by the same author. */
    close: Math.max(scoreAt(index - 2), scoreAt(index + 2)) / best,
    begins: hasBefore ? 0 : 1,
    ends: isNeighbour(find, index + 1) ? 0 : 1,
  };
}

/** Whether a unit is of the hit's stretch and not left out. */
function isNeighbour({ segment, unit, leftOut }: Find, other: number): boolean {
  return segment.units[other]?.stretch === unit.stretch && !leftOut.has(other);
}

/** A word of the query that is not an author's name. */
interface QueryWord {
  readonly word: string;
  /** Terms that stand for it, and how surely. */
  readonly terms: readonly { readonly term: string; readonly sure: number }[];
  /** What it tells, as a share of what all words tell, and the same of squares. */
  readonly share: number;
  readonly squareShare: number;
}

function wordsOf({ terms }: RecallQuery, rarities: readonly number[]): readonly QueryWord[] {
  const words = terms
    .filter(({ kind }) => kind === 'word')
    .map(({ word }) => {
      const likes = terms
        .map(({ term, word: standsFor, kind }, at) => {
          return { term, standsFor, sure: sureness[kind], rarity: rarities[at] ?? 0 };
        })
        .filter(({ standsFor, sure, rarity }) => standsFor === word && sure > 0 && rarity > 0);
      // A word that never occurs tells as much as those like it.
      const own = likes.find(({ sure }) => sure === 1);
      const rarity = own?.rarity ?? Math.min(...likes.map((like) => like.rarity));
      return { word, terms: likes, rarity: likes.length === 0 ? 0 : rarity };
    });
  const sum = words.reduce((all, { rarity }) => all + rarity, 0) || 1;
  const ofSquares = words.reduce((all, { rarity }) => all + rarity ** 2, 0) || 1;
  return words.map(({ word, terms: likes, rarity }) => {
    return { word, terms: likes, share: rarity / sum, squareShare: rarity ** 2 / ofSquares };
  });
}

/** What a unit of the hit's segment has of each word. */
function heldBy(
  find: Find,
  index: number,
  words: readonly QueryWord[],
  query: RecallQuery,
): readonly number[] {
  const ofAuthor = shareOfAuthor(find, index, query);
  return words.map(({ terms }) => {
    const sure = terms.map((each) => (holds(find.segment, each.term, index) ? each.sure : 0));
    return ofAuthor * Math.max(0, ...sure);
  });
}

/** How much a unit's words count by who said them. */
function shareOfAuthor({ segment }: Find, index: number, { meansBot }: RecallQuery): number {
  return segment.units[index]?.isBot === true && !meansBot ? botShare : 1;
}

/** The share of the possible dates that the unit is of, by how much each tells. */
function dateShare({ segment, index }: Find, dates: HitList['dates']): number {
  const all = dates.reduce((sum, { rarity }) => sum + rarity, 0);
  const held = dates.filter(({ term }) => holds(segment, term, index));
  return all === 0 ? 0 : held.reduce((sum, { rarity }) => sum + rarity, 0) / all;
}

/** The telling share of words held by one or more units. */
function shareOf(held: readonly number[], words: readonly QueryWord[]): number {
  return words.reduce((sum, { share }, at) => sum + share * (held[at] ?? 0), 0);
}
