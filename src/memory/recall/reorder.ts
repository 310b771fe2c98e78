import { searchForm } from '../../core/text.ts';
import { compareHits, type Find } from './hits.ts';
import type { QueryTerm, RecallQuery } from './query.ts';
import { isAnswer, isReply, type Ranking } from './rank.ts';
import { holds, type TextFacts } from './segments.ts';

/** The best hits of a query are reordered; the others follow as they are. */
export const mostReordered = 60;

/** What a hit that has the whole query gets besides, as a share of the best one's score. */
const phraseShare = 1;

/** Quoting so many words of the query outweighs any sum of features. */
const minVerbatim = 4;
const verbatim = 20;

/** Divides log odds: several wordings of one question are alike, so each counts less. */
const caution = 3;

/** Rounded from weights that were fitted to public conversations (docs/performance.md): finer ones hold for the talk they were fitted to only. */
const orderWeights: OrderWeights = {
  score: 2.5,
  words: 1,
  several: 1,
  stated: 0.5,
  states: 2,
  answered: 1,
  inStretch: 1,
  date: 1,
  now: 1,
};

type OrderWeights = Readonly<Record<keyof Features, number>>;

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- these are all of its names
const featureNames = Object.keys(orderWeights) as readonly (keyof Features)[];

/**
 * The hits of all sources for a query, best first: weighted features order the best, and give each its odds
 * relative to the first as its score.
 */
export function bestFirst({ perSource, rarities }: Ranking, query: RecallQuery): readonly Find[] {
  const found = perSource.flat().toSorted(compareHits);
  const bestScore = found[0]?.score ?? 0;
  const isPhrase = ({ unit, facts }: Find): boolean =>
    query.words.length > 1 && states(facts) && searchForm(unit.text).includes(query.text);
  const looked = found
    .slice(0, mostReordered)
    .map((hit) => (isPhrase(hit) ? { ...hit, score: hit.score + phraseShare * bestScore } : hit))
    .toSorted(compareHits);
  const isQuote = query.words.length >= minVerbatim;
  const sums = featuresOf(looked, query, rarities).map((features, at) => {
    const hit = looked[at];
    return weighted(features) + (isQuote && hit !== undefined && isPhrase(hit) ? verbatim : 0);
  });
  const best = Math.max(...sums);
  const reordered = looked
    .map((hit, at) => ({ ...hit, score: Math.exp(((sums[at] ?? 0) - best) / caution) }))
    .toSorted(compareHits);
  return [...reordered, ...found.slice(mostReordered).map((hit) => ({ ...hit, score: 0 }))];
}

function weighted(features: Features): number {
  return featureNames.reduce((sum, name) => sum + orderWeights[name] * features[name], 0);
}

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
/** What an answer counts for its question as such; the rest for the question's words. */
const answerShare = 0.3;

/** Shares from 0 to 1, but for the score. */
type Features = ReturnType<typeof hitFeatures>;

/** The features of hits, best first. Units left out of the search are ignored [V2]. */
function featuresOf(
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

function hitFeatures(hit: HeldHit, { query, words, dates, hits, first, last }: HitList) {
  const { find, held } = hit;
  const { segment, index, score, unit, facts, leftOut } = find;
  const best = hits[0]?.find.score ?? score;
  const stretch = hits.filter(
    ({ find: other }) => other.segment === segment && other.unit.stretch === unit.stretch,
  );
  const exact = words.filter(({ word }) => holds(segment, word, index)).length;
  const answers = isAnswer(segment, index) && !leftOut.has(index - 1) && !isReply(segment, index, query);
  const ofQuestion = answers ? shareOf(heldBy(find, index - 1, words, query), words) : 0;
  return {
    /** The logarithm of its share of the best one's. */
    score: Math.log(Math.max(score / best, 1e-6)),
    /** Of the query's words, by number; whether these are several; and by telling power in what it states. */
    words: held.filter((sure) => sure > 0).length / Math.max(1, words.length),
    several: exact * shareOfAuthor(find, index, query) >= several ? 1 : 0,
    stated: facts.statementShare * shareOf(held, words),
    states: states(facts) ? 1 : 0,
    /** What the question before this answer of a person has. */
    answered: answers ? answerShare + (1 - answerShare) * ofQuestion : 0,
    /** The words that the hits of its stretch have together. */
    inStretch: shareOf(
      held.map((_, at) => Math.max(...stretch.map((other) => other.held[at] ?? 0))),
      words,
    ),
    date: dateShare(find, dates),
    /** How new it is, where the query asks for what holds now. */
    now: query.asksNow && last > first && facts.time > 0 ? (facts.time - first) / (last - first) : 0,
  };
}

/** Whether a text does more than ask: who asks again wants the answer, not the question. */
function states({ statementShare }: TextFacts): boolean {
  return statementShare > 0.02;
}

/** A word of the query that is not an author's name. */
interface QueryWord {
  readonly word: string;
  /** Terms that stand for it, and how surely. */
  readonly terms: readonly { readonly term: string; readonly sure: number }[];
  /** What it tells, as a share of what all words tell. */
  readonly share: number;
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
  return words.map(({ word, terms: likes, rarity }) => ({ word, terms: likes, share: rarity / sum }));
}

/** What a unit of the hit's segment has of each word. */
function heldBy(
  find: Find,
  index: number,
  words: readonly QueryWord[],
  query: RecallQuery,
): readonly number[] {
  const { segment, leftOut } = find;
  const ofAuthor = shareOfAuthor(find, index, query);
  const isRepeated = isReply(segment, index, query) && !leftOut.has(index - 1);
  const isHeld = ({ term }: { readonly term: string }): boolean =>
    holds(segment, term, index) && !(isRepeated && holds(segment, term, index - 1));
  return words.map(({ terms }) => {
    const sure = terms.map((each) => (isHeld(each) ? each.sure : 0));
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
