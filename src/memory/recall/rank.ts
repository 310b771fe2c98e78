import type { RankingWeights } from './ranking-weights.ts';
import type { RecallQuery } from './recall-query.ts';
import type { Reach, SourceName } from './recall-unit.ts';
import { unitOf } from './segment.ts';
import type { Segment } from './segment.ts';
import { SegmentScores, createScoreSheet } from './segment-scores.ts';
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
  const sheet = createScoreSheet(Math.max(...segments.map(({ traits }) => traits.length)));
  const meanLength = Math.max(1, totals.terms / totals.units);
  return sources.map(({ source, segments: ofSource }) => {
    const top = new TopHits(source, options.depth);
    for (const [order, segment] of ofSource.entries()) {
      if (!query.terms.some(({ term }) => segment.postings(term).length > 0)) continue;
      const scores = new SegmentScores(segment, admission.get(segment), options.weights, meanLength, sheet);
      for (const [{ term, isField }, value] of inverses) {
        const postings = segment.postings(term);
        if (postings.length === 0 || value === 0) continue;
        if (isField) scores.addField(postings, value);
        else scores.addWord(postings, value);
      }
      scores.collect(query, options.isNamedAuthor, top.of(segment, order));
    }
    return top.inOrder();
  });
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
