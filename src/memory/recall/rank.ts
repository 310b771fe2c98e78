import type { RankingWeights } from './ranking-weights.ts';
import type { QueryTerm, RecallQuery } from './recall-query.ts';
import type { Reach, SourceName } from './recall-unit.ts';
import { countOf, unitOf } from './segment.ts';
import type { Segment } from './segment.ts';
import { SegmentScores } from './segment-scores.ts';
import type { Admits } from './segment-scores.ts';
import { TopHits } from './top-hits.ts';
import type { Hit } from './top-hits.ts';

const lookedBack = 100;

export interface SourceSegments {
  readonly source: SourceName;
  /** Oldest first. */
  readonly segments: readonly Segment[];
}

export interface RankOptions {
  readonly mayUse: (reach: Reach) => boolean;
  /** Messages that are no finds: those of the turn itself. */
  readonly excluded: ReadonlySet<string>;
  /** Whether the query names an author. */
  readonly isNamedAuthor: (author: string) => boolean;
  readonly weights: RankingWeights;
  /** Hits at most. */
  readonly depth: number;
}

/**
 * The best units of each source for a query, best first, the newer first among equals. A hit has a word of the query, or answers a question
 * that has one; how it ranks depends on its neighbours too. What is rare is so among all sources, so scores of one compare with another's.
 */
export function rank(
  sources: readonly SourceSegments[],
  query: RecallQuery,
  options: RankOptions,
): readonly (readonly Hit[])[] {
  const segments = sources.flatMap((source) => source.segments);
  const admission = new Map(segments.map((segment) => [segment, admitted(segment, options)]));
  const totals = totalsOf(segments, options.mayUse);
  if (totals.units === 0) return [];
  const inverses = new Map(
    query.terms.map((term) => {
      let holding = 0;
      for (const [segment, admits] of admission) holding += holdingOf(segment.postings(term.term), admits);
      return [term, holding === 0 ? 0 : rarity(holding, totals.units) * term.weight] as const;
    }),
  );
  const { weights, depth, isNamedAuthor } = options;
  return sources.map(({ source, segments: ofSource }) => {
    const top = new TopHits(depth);
    for (const [order, segment] of ofSource.entries()) {
      const admits = admission.get(segment);
      const scores = scoresOf(segment, admits, query.terms, inverses, totals, weights);
      scores?.collect(query, { admits, isNamedAuthor }, (index, score) =>
        top.add({ source, segment, index, score, order }),
      );
    }
    return top.inOrder();
  });
}

function scoresOf(
  segment: Segment,
  admits: Admits | undefined,
  terms: readonly QueryTerm[],
  inverses: ReadonlyMap<QueryTerm, number>,
  { units, terms: length }: { readonly units: number; readonly terms: number },
  weights: RankingWeights,
): SegmentScores | undefined {
  let scores: SegmentScores | undefined;
  const meanLength = Math.max(1, length / units);
  for (const term of terms) {
    const postings = segment.postings(term.term);
    const inverse = inverses.get(term) ?? 0;
    if (postings.length === 0 || inverse === 0) continue;
    scores ??= new SegmentScores(segment, weights);
    for (const posting of postings) {
      const index = unitOf(posting);
      if (admits !== undefined && !admits(index)) continue;
      if (term.isField) scores.addField(index, inverse);
      else scores.addWord(index, inverse * scores.strength(index, countOf(posting), meanLength));
    }
    scores.endTerm();
  }
  return scores;
}

/** `undefined` where all units are admitted. */
function admitted(segment: Segment, { mayUse, excluded }: RankOptions): Admits | undefined {
  const usable = segment.reaches.map(mayUse);
  const left = excludedIn(segment, excluded);
  if (left.size === 0 && usable.every(Boolean)) return undefined;
  return (index) => usable[segment.traits[index]?.reach ?? -1] === true && !left.has(index);
}

/** What is excluded was said last, so it is looked for at the end only. */
function excludedIn({ traits }: Segment, excluded: ReadonlySet<string>): ReadonlySet<number> {
  const found = new Set<number>();
  for (let index = traits.length - 1; index >= Math.max(0, traits.length - lookedBack); index -= 1) {
    const reference = traits[index]?.unit.reference;
    if (reference?.kind === 'message' && excluded.has(reference.messageId)) found.add(index);
  }
  return found;
}

function totalsOf(segments: readonly Segment[], mayUse: (reach: Reach) => boolean) {
  const totals = { units: 0, terms: 0 };
  for (const segment of segments) {
    for (const [index, reach] of segment.reaches.entries()) {
      const count = segment.reachCounts[index];
      if (count === undefined || !mayUse(reach)) continue;
      totals.units += count.units;
      totals.terms += count.terms;
    }
  }
  return totals;
}

function holdingOf(postings: readonly number[], admits: Admits | undefined): number {
  if (admits === undefined) return postings.length;
  let holding = 0;
  for (const posting of postings) if (admits(unitOf(posting))) holding += 1;
  return holding;
}

/** Inverse document frequency as in BM25. */
function rarity(holding: number, units: number): number {
  return Math.log(1 + (Math.max(0, units - holding) + 0.5) / (holding + 0.5));
}
