import { searchForm } from '../../core/text.ts';
import { createTimeSlice } from '../../core/time.ts';
import type { Reach } from '../../core/visibility.ts';
import { TopHits, type Find } from './hits.ts';
import type { QueryTerm, RecallQuery } from './query.ts';
import { createSheet, scoreSegment, type Candidate, type RankingWeights, type Scoring } from './score.ts';
import { eachWith, messageTerm, type Segment } from './segments.ts';
import type { SourceName } from './sources.ts';

/** Hits of a source that are looked at, usually and where most repeat others. */
export const depths = { usual: 100, greatest: 1000 } as const;

export interface SourceSegments {
  readonly source: SourceName;
  /** Oldest first. */
  readonly segments: readonly Segment[];
}

export interface SearchView {
  readonly mayUse: (reach: Reach) => boolean;
  /** Messages of the turn itself, which must not be found. */
  readonly excluded: ReadonlySet<string>;
}

/** What was found for a query, and by what. */
export interface Ranking {
  /** Best first. */
  readonly perSource: readonly (readonly Find[])[];
  /** How telling each term is: the rarer the more; 0 where it never occurs. */
  readonly rarities: readonly number[];
}

/**
 * The best units of each source, best first, newer first among equals. A hit has a word of the query or
 * answers a question that has one; neighbours matter too. Rarity is over all sources, so scores compare.
 */
export async function rank(
  sources: readonly SourceSegments[],
  query: RecallQuery,
  view: SearchView,
  weights: RankingWeights,
  depth: number = depths.usual,
): Promise<Ranking> {
  const pause = createTimeSlice();
  const perSource = sources.map((source) => candidatesOf(source, view));
  const candidates = perSource.flat();
  let [units, termCount] = [0, 0];
  for (const { segment } of candidates) {
    units += segment.units.length;
    termCount += segment.termCount;
  }
  const rarities = query.terms.map((term) => rarity(holdingOf(candidates, term), units));
  const terms = query.terms.map((term, at) => {
    return { ...term, value: (rarities[at] ?? 0) * valueOf(term.kind, weights) };
  });
  const scoring: Scoring = {
    query,
    terms: terms.filter(({ value }) => value > 0),
    weights,
    meanLength: Math.max(1, termCount / Math.max(1, units)),
    sheet: createSheet(
      Math.max(0, ...candidates.map(({ segment }) => segment.units.length)),
      new Set(terms.map(({ word }) => word)).size,
    ),
    ...(query.asksNow ? timesOf(candidates) : { first: 0, last: 0 }),
  };
  const found: (readonly Find[])[] = [];
  for (const ofSource of perSource) {
    const top = new TopHits(depth);
    for (const candidate of ofSource) {
      if (!terms.some(({ term }) => candidate.segment.postings.has(term))) continue;
      scoreSegment(candidate, scoring, top);
      await pause();
    }
    found.push(top.inOrder());
  }
  return { perSource: found, rarities };
}

/** The segments that may be used. */
function candidatesOf(
  { source, segments }: SourceSegments,
  { mayUse, excluded }: SearchView,
): readonly Candidate[] {
  return segments
    .filter(({ reach }) => mayUse(reach))
    .map((segment) => {
      const leftOut = [...excluded].flatMap((id) => segment.postings.get(messageTerm(id)) ?? []);
      return { source, segment, leftOut: new Set(leftOut) };
    });
}

function timesOf(candidates: readonly Candidate[]): Pick<Scoring, 'first' | 'last'> {
  let [first, last] = [Infinity, 0];
  for (const { segment } of candidates)
    for (const { time } of segment.facts) {
      if (time > 0 && time < first) first = time;
      if (time > last) last = time;
    }
  return { first, last };
}

/** How many units have a term. */
function holdingOf(candidates: readonly Candidate[], { term }: QueryTerm): number {
  let count = 0;
  for (const { segment, leftOut } of candidates)
    eachWith(segment, term, leftOut, () => {
      count += 1;
    });
  return count;
}

function valueOf(kind: QueryTerm['kind'], weights: RankingWeights): number {
  const { authorTerm: author, related, title, date, beginning } = weights;
  return { word: 1, author, related, title, date, beginning }[kind];
}

/** Inverse document frequency as in BM25; 0 where none has it. */
function rarity(holding: number, units: number): number {
  if (holding === 0) return 0;
  return Math.log(1 + (Math.max(0, units - holding) + 0.5) / (holding + 0.5));
}

/**
 * Texts that hold the query verbatim, newest first: for queries without usable words, such as `???` or `to be
 * or not to be`.
 */
export async function literalHits(
  sources: readonly SourceSegments[],
  { text: wanted }: RecallQuery,
  view: SearchView,
  depth: number,
): Promise<Ranking> {
  const pause = createTimeSlice();
  const perSource: (readonly Find[])[] = [];
  for (const ofSource of sources.map((each) => candidatesOf(each, view))) {
    const top = new TopHits(depth);
    for (const { source, segment, leftOut } of ofSource)
      for (const [index, unit] of segment.units.entries()) {
        await pause();
        const facts = segment.facts[index];
        if (wanted === '' || facts === undefined || leftOut.has(index)) continue;
        if (searchForm(unit.text).includes(wanted))
          top.add({ source, score: 1, segment, index, unit, facts, leftOut });
      }
    perSource.push(top.inOrder());
  }
  return { perSource, rarities: [] };
}
