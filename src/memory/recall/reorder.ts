import { searchForm } from '../../core/text.ts';
import { compareHits, type Find } from './hits.ts';
import type { QueryTerm, RecallQuery } from './words.ts';
import { isAnswer, isReply, type Ranking } from './rank.ts';
import { holds } from './segments.ts';

/** The best hits of a query are reordered; the others follow as they are. */
const mostReordered = 60;

/** Stating so many words of the query as they stand outweighs any sum of features. */
const minVerbatim = 4;
const verbatim = 20;

/** Divides log odds: several wordings of one question are alike, so each counts less. */
const caution = 3;

/**
 * Rounded from weights that were fitted to public conversations (docs/performance.md): finer ones hold for the talk
 * they were fitted to only. What has the weight 1 is added as it is.
 */
const scoreWeight = 2.5;

/**
 * The hits of all sources for a query, best first: weighted features order the best, and give each its odds
 * relative to the first as its score.
 */
export function bestFirst({ perSource, rarities }: Ranking, query: RecallQuery): readonly Find[] {
  const found = perSource.flat().toSorted(compareHits);
  const words = wordsOf(query, rarities);
  const hits = found.slice(0, mostReordered).map((find) => ({ find, held: heldBy(find, find.index, words) }));
  const times = hits.map(({ find: { facts } }) => facts.time).filter((time) => time > 0);
  const list: HitList = {
    query,
    words,
    dates: query.terms.flatMap(({ kind, term }, at) =>
      kind === 'date' ? [{ term, rarity: rarities[at] ?? 0 }] : [],
    ),
    hits,
    first: Math.min(...times),
    last: Math.max(...times),
  };
  const likely = hits.map((hit) => ({ find: hit.find, likelihood: likelihoodOf(hit, list) }));
  const best = Math.max(...likely.map(({ likelihood }) => likelihood));
  const reordered = likely
    .map(({ find, likelihood }) => ({ ...find, score: Math.exp((likelihood - best) / caution) }))
    .toSorted(compareHits);
  return [...reordered, ...found.slice(mostReordered).map((hit) => ({ ...hit, score: 0 }))];
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

/** How surely a term of each kind is the query's word; other kinds never are. */
const sureness: Readonly<Record<QueryTerm['kind'], number>> = {
  word: 1,
  beginning: 0.6,
  related: 0.5,
  author: 0,
  title: 0,
  date: 0,
};
/** A bot's word beside a person's. */
const botShare = 0.3;
/** So many words of the query in one text tell more than each by itself. */
const several = 3;
/** What a text counts for not only asking, and the share of it that has to do so. */
const stated = 2;
const leastStated = 0.02;
/** What an answer counts for its question as such; the rest for the question's words. */
const answerShare = 0.3;

/** Log odds, up to a constant. */
function likelihoodOf({ find, held }: HeldHit, { query, words, dates, hits, first, last }: HitList): number {
  const { segment, index, score, unit, facts } = find;
  const best = hits[0]?.find.score ?? score;
  const stretch = hits.filter(
    ({ find: other }) => other.segment === segment && other.unit.stretch === unit.stretch,
  );
  const exact = words.filter(({ word }) => holds(segment, word, index)).length;
  const answers = isAnswer(segment, index) && !isReply(segment, index);
  const ofQuestion = answers ? shareOf(heldBy(find, index - 1, words), words) : 0;
  const features = [
    scoreWeight * Math.log(Math.max(score / best, 1e-6)),
    // Of the query's words, by number, and whether these are several.
    held.filter((sure) => sure > 0).length / Math.max(1, words.length),
    exact * shareOfAuthor(find, index) >= several ? 1 : 0,
    // What the question before this answer of a person has.
    answers ? answerShare + (1 - answerShare) * ofQuestion : 0,
    // The words that the hits of its stretch have together.
    shareOf(
      held.map((_, at) => Math.max(...stretch.map((other) => other.held[at] ?? 0))),
      words,
    ),
    dateShare(find, dates),
    // How new it is, where the query asks for what holds now.
    query.asksNow && last > first && facts.time > 0 ? (facts.time - first) / (last - first) : 0,
    // Who asks again wants the answer, not the question.
    facts.statementShare > leastStated ? stated : 0,
    facts.statementShare > leastStated && isQuoted(find, query) ? verbatim : 0,
  ];
  return features.reduce((sum, feature) => sum + feature, 0);
}

/** Whether a text has a query of several words as it stands. */
function isQuoted({ unit }: Find, { text, words }: RecallQuery): boolean {
  return words.length >= minVerbatim && searchForm(unit.text).includes(text);
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
function heldBy(find: Find, index: number, words: readonly QueryWord[]): readonly number[] {
  const { segment } = find;
  const ofAuthor = shareOfAuthor(find, index);
  const isRepeated = isReply(segment, index);
  const isHeld = (term: string): boolean =>
    holds(segment, term, index) && !(isRepeated && holds(segment, term, index - 1));
  return words.map(({ terms }) => {
    const sure = terms.map(({ term, sure: share }) => (isHeld(term) ? share : 0));
    return ofAuthor * Math.max(0, ...sure);
  });
}

/** How much a unit's words count by who said them. */
function shareOfAuthor({ segment }: Find, index: number): number {
  return segment.units[index]?.isBot === true ? botShare : 1;
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
