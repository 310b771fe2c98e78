import { normalizeText } from '../../core/text.ts';
import { createTimeSlice } from '../../core/time.ts';
import type { Reach } from '../../core/visibility.ts';
import { TopHits, compareHits, type Hit } from './hits.ts';
import type { QueryTerm, RecallQuery } from './query.ts';
import { SegmentScores, createScoreSheet, type Admits, type RankingWeights } from './score.ts';
import { unitOf, type Segment } from './segments.ts';
import type { SourceName } from './sources.ts';
import type { TermReader } from './words.ts';

/** Hits of a source that are looked at closely. */
const depth = 100;
const lookedBack = 100;

export interface SourceSegments {
  readonly source: SourceName;
  /** Oldest first. */
  readonly segments: readonly Segment[];
}

/** What a search may find. */
export interface SearchView {
  readonly mayUse: (reach: Reach) => boolean;
  /** Messages that are no finds: those of the turn itself. */
  readonly excluded: ReadonlySet<string>;
}

/**
 * The best units of each source for a query, best first, the newer first among equals. A hit has a word of the query, or answers a question
 * that has one; how it ranks depends on its neighbours too. What is rare is so among all sources, so scores of one compare with another's.
 */
export async function rank(
  sources: readonly SourceSegments[],
  query: RecallQuery,
  view: SearchView,
  weights: RankingWeights,
): Promise<readonly (readonly Hit[])[]> {
  const pause = createTimeSlice();
  const segments = sources.flatMap((source) => source.segments);
  const admission = new Map(segments.map((segment) => [segment, admitted(segment, view)]));
  const totals = totalsOf(segments, view.mayUse);
  if (totals.units === 0) return [];
  const values: (QueryTerm & { readonly value: number })[] = [];
  for (const term of query.terms) {
    let holding = 0;
    for (const [segment, admits] of admission) holding += holdingOf(segment.postings(term.term), admits);
    values.push({
      ...term,
      value: holding === 0 ? 0 : rarity(holding, totals.units) * weightOf(term, weights),
    });
    await pause();
  }
  const sheet = createScoreSheet(Math.max(...segments.map(({ traits }) => traits.length)));
  const meanLength = Math.max(1, totals.terms / totals.units);
  const found: (readonly Hit[])[] = [];
  for (const { source, segments: ofSource } of sources) {
    const top = new TopHits(depth);
    for (const [order, segment] of ofSource.entries()) {
      await pause();
      if (!query.terms.some(({ term }) => segment.postings(term).length > 0)) continue;
      const scores = new SegmentScores(segment, admission.get(segment), weights, meanLength, sheet);
      for (const { term, kind, value } of values) {
        const postings = segment.postings(term);
        if (postings.length === 0 || value === 0) continue;
        if (kind === 'title' || kind === 'date') scores.addField(postings, value);
        else scores.addWord(postings, value);
        await pause();
      }
      scores.collect(query, source, order, top);
    }
    found.push(top.inOrder());
  }
  return found;
}

function weightOf({ kind }: QueryTerm, weights: RankingWeights): number {
  switch (kind) {
    case 'word':
      return 1;
    case 'author':
      return weights.authorTerm;
    case 'related':
      return weights.related;
    case 'title':
      return weights.title;
    case 'date':
      return weights.date;
  }
}

/** `undefined` where all units are admitted. */
function admitted(segment: Segment, { mayUse, excluded }: SearchView): Admits | undefined {
  const usable = segment.reaches.map(({ reach }) => mayUse(reach));
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
    for (const { reach, units, terms } of segment.reaches) {
      if (!mayUse(reach)) continue;
      totals.units += units;
      totals.terms += terms;
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

/** How far apart two words of a pair may stand. */
const pairReach = 2;

/** Looks closer at the best hits: words of the query side by side, and the query word for word, count more. */
export async function rerank(
  hits: readonly Hit[],
  query: RecallQuery,
  reader: TermReader,
  weights: RankingWeights,
): Promise<readonly Hit[]> {
  const pairs = pairsOf(query);
  const best = hits[0]?.score ?? 0;
  const isPhrase = query.words.length > 1;
  if (pairs.length === 0 && !isPhrase) return hits;
  const pause = createTimeSlice();
  const ranked: Hit[] = [];
  for (const hit of hits) {
    const { text } = hit.unit;
    const share = pairs.length === 0 ? 0 : pairShare(reader.read(text), pairs);
    const phrase = isPhrase && normalizeText(text).includes(query.text) ? weights.phrase : 0;
    ranked.push({ ...hit, score: hit.score + best * (weights.pair * share + phrase) });
    await pause();
  }
  return ranked.toSorted(compareHits);
}

type Pair = readonly [string, string];

function pairsOf({ words, authorTerms }: RecallQuery): readonly Pair[] {
  return words.slice(1).flatMap((word, index): readonly Pair[] => {
    const before = words[index];
    if (before === undefined || before === word) return [];
    return authorTerms.has(before) || authorTerms.has(word) ? [] : [[before, word]];
  });
}

/** How many of the pairs stand in the text, as a share. */
function pairShare(terms: readonly string[], pairs: readonly Pair[]): number {
  const after = new Map<string, Set<string>>();
  for (const [index, term] of terms.entries()) {
    const following = after.get(term) ?? new Set();
    for (const next of terms.slice(index + 1, index + 1 + pairReach)) following.add(next);
    after.set(term, following);
  }
  const found = pairs.filter(([first, second]) => after.get(first)?.has(second) === true);
  return found.length / pairs.length;
}

/**
 * Texts of each source that hold the query word for word, newest first: for queries that have no words to go by, such as `???` or
 * `to be or not to be`.
 */
export async function literalHits(
  sources: readonly SourceSegments[],
  { text: wanted }: RecallQuery,
  { mayUse, excluded }: SearchView,
): Promise<readonly (readonly Hit[])[]> {
  if (wanted === '') return [];
  const pause = createTimeSlice();
  const found: (readonly Hit[])[] = [];
  for (const { source, segments } of sources) {
    const top = new TopHits(depth);
    for (const [order, segment] of segments.entries()) {
      const usable = segment.reaches.map(({ reach }) => mayUse(reach));
      for (const [index, { unit, reach }] of segment.traits.entries()) {
        await pause();
        if (usable[reach] !== true || !normalizeText(unit.text).includes(wanted)) continue;
        if (unit.reference.kind === 'message' && excluded.has(unit.reference.messageId)) continue;
        top.add({ source, unit, score: 1, segment, index, order });
      }
    }
    found.push(top.inOrder());
  }
  return found;
}
