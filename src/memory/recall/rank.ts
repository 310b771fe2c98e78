import { searchForm } from '../../core/text.ts';
import { createTimeSlice } from '../../core/time.ts';
import type { Reach } from '../../core/visibility.ts';
import { TopHits, compareHits, type Admits, type Find } from './hits.ts';
import type { QueryTerm, RecallQuery } from './query.ts';
import {
  SegmentScores,
  createScoreSheet,
  highestFactorsOf,
  type Candidate,
  type RankingWeights,
} from './score.ts';
import { holds, keyOf, messageTerm, placeOf, postingsAt, unitOf, type Segment } from './segments.ts';
import type { SourceName } from './sources.ts';
import type { TermReader } from './words.ts';

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

/** What was found for one query, and by what. */
export interface Ranking {
  /** Best first. */
  readonly perSource: readonly (readonly Find[])[];
  /** How telling each term is: the rarer the more; 0 where it never occurs. */
  readonly rarities: readonly number[];
}

/** A segment with at least one of the query's terms. */
interface LookedAt extends Pick<Candidate, 'segment' | 'order' | 'admits'> {
  /** Each distinct term's place in the segment, -1 where absent. */
  readonly places: readonly number[];
}

/**
 * For each query the best units of each source, best first, newer first among equals. A hit has a word of the
 * query or answers a question that has one; neighbours matter too. Rarity is over all sources, so scores
 * compare. One pass serves all queries without affecting results.
 */
export async function rank(
  sources: readonly SourceSegments[],
  queries: readonly RecallQuery[],
  view: SearchView,
  weights: RankingWeights,
  depth: number = depths.usual,
): Promise<readonly Ranking[]> {
  const pause = createTimeSlice();
  const segments = sources.flatMap((source) => source.segments);
  const usable = segments.flatMap(({ reaches }) => reaches.filter(({ reach }) => view.mayUse(reach)));
  const units = usable.reduce((sum, each) => sum + each.units, 0);
  if (units === 0) return queries.map(() => ({ perSource: [], rarities: [] }));
  const terms = [
    ...new Map(queries.flatMap((query) => query.terms.map((each) => [each.term, each]))).values(),
  ];
  const slots = new Map(terms.map(({ term }, slot) => [term, slot]));
  const { looked, holding } = await lookUp(sources, terms, view, pause);
  const meanLength = Math.max(1, usable.reduce((sum, each) => sum + each.terms, 0) / units);
  const size = Math.max(...segments.map(({ lengthOf }) => lengthOf.length));
  const words = Math.max(...queries.map(({ terms: of }) => new Set(of.map(({ word }) => word)).size));
  const sheet = createScoreSheet({ size, words, meanLength }, weights);
  const first = Math.min(...usable.map((each) => each.first));
  const last = Math.max(...usable.map((each) => each.last));
  const wordings = queries.map((query) => {
    const ofTerms = query.terms.map(({ term }) => slots.get(term) ?? -1);
    const times = query.asksNow && last > first ? { first, last } : undefined;
    const highestFactors = highestFactorsOf(query, weights);
    const rarities = ofTerms.map((slot) => rarity(holding[slot] ?? 0, units));
    return {
      query,
      ofTerms,
      rarities,
      values: query.terms.map(({ kind }, at) => (rarities[at] ?? 0) * valueOf(kind, weights)),
      scoring: { weights, meanLength, sheet, highestFactors, ...(times && { times }) },
      perSource: [] as (readonly Find[])[],
    };
  });
  for (const [ofSource, { source }] of sources.entries()) {
    const tops = wordings.map(() => new TopHits(depth));
    for (const { segment, order, admits, places: ofAll } of looked[ofSource] ?? []) {
      for (const [at, { query, ofTerms, values, scoring }] of wordings.entries()) {
        const top = tops[at];
        const places = ofTerms.map((slot) => ofAll[slot] ?? -1);
        if (top === undefined || places.every((place) => place === -1)) continue;
        await pause();
        const scores = new SegmentScores({ source, order, segment, admits, places }, scoring);
        addTerms(scores, query, places, values);
        scores.collect(query, top);
      }
    }
    for (const [at, { perSource }] of wordings.entries()) perSource.push(tops[at]?.inOrder() ?? []);
  }
  return wordings.map(({ perSource, rarities }) => ({ perSource, rarities }));
}

function addTerms(
  scores: SegmentScores,
  { terms }: RecallQuery,
  places: readonly number[],
  values: readonly number[],
): void {
  for (const [at, { kind, word }] of terms.entries()) {
    const [place = -1, value = 0] = [places[at], values[at]];
    if (place === -1 || value === 0) continue;
    if (kind === 'title' || kind === 'date') scores.addField(place, value);
    else scores.addWord(place, value, word);
  }
}

/** Each source's segments with any of the terms, and how many admitted units have each. */
async function lookUp(
  sources: readonly SourceSegments[],
  terms: readonly QueryTerm[],
  { mayUse, excluded }: SearchView,
  pause: () => Promise<void>,
): Promise<{ readonly looked: readonly (readonly LookedAt[])[]; readonly holding: readonly number[] }> {
  const keys = terms.map(({ term }) => keyOf(term));
  const excludedKeys = Array.from(excluded, (id) => keyOf(messageTerm(id)));
  const holding = keys.map(() => 0);
  const looked: (readonly LookedAt[])[] = [];
  for (const { source, segments } of sources) {
    const ofSource: LookedAt[] = [];
    for (const [order, segment] of segments.entries()) {
      await pause();
      const places = keys.map((key, at) =>
        source === 'messages' && terms[at]?.kind === 'title' ? -1 : placeOf(segment, key),
      );
      if (places.every((place) => place === -1)) continue;
      const admits = admitted(segment, mayUse, excludedKeys);
      for (const [at, place] of places.entries())
        if (place !== -1) holding[at] = (holding[at] ?? 0) + holdingOf(segment, place, admits);
      ofSource.push({ order, segment, admits, places });
    }
    looked.push(ofSource);
  }
  return { looked, holding };
}

function valueOf(kind: QueryTerm['kind'], weights: RankingWeights): number {
  const { authorTerm: author, related, title, date, beginning } = weights;
  return { word: 1, author, related, title, date, beginning }[kind];
}

/** `undefined` where all units are admitted; `excluded` are keys of messages that are not. */
function admitted(
  segment: Segment,
  mayUse: SearchView['mayUse'],
  excluded: readonly number[],
): Admits | undefined {
  const { reaches, reachOf } = segment;
  const usable = reaches.map(({ reach }) => mayUse(reach));
  const left = new Set(
    excluded.flatMap((key) => Array.from(postingsAt(segment, placeOf(segment, key)), unitOf)),
  );
  if (left.size === 0 && usable.every(Boolean)) return undefined;
  return (index) => usable[reachOf[index] ?? -1] === true && !left.has(index);
}

function holdingOf(segment: Segment, place: number, admits: Admits | undefined): number {
  if (admits === undefined) return (segment.starts[place + 1] ?? 0) - (segment.starts[place] ?? 0);
  return postingsAt(segment, place).filter((each) => admits(unitOf(each))).length;
}

/** Inverse document frequency as in BM25; 0 where none has it. */
function rarity(holding: number, units: number): number {
  if (holding === 0) return 0;
  return Math.log(1 + (Math.max(0, units - holding) + 0.5) / (holding + 0.5));
}

/** From so many words on, a text with just these in this order comes first: the query quotes a line. */
const leastVerbatim = 4;
/** How far apart two words of a pair may stand. */
const pairReach = 2;

/**
 * A closer look at the best hits: words of the query side by side, and the query word for word, count more.
 */
export async function rerank(
  hits: readonly Find[],
  query: RecallQuery,
  reader: TermReader,
  weights: RankingWeights,
): Promise<readonly Find[]> {
  const pairs = pairsOf(query);
  const best = hits[0]?.score ?? 0;
  const isPhrase = query.words.length > 1;
  // A verbatim match has the inner words whole.
  const inner = reader.read((query.text.match(/[\p{L}\p{M}\p{N}]+/gu) ?? []).slice(1, -1).join(' '));
  if (pairs.length === 0 && !isPhrase) return hits;
  const pause = createTimeSlice();
  const ranked: Find[] = [];
  for (const hit of hits) {
    const { segment, index, places } = hit;
    const present = new Set<string>();
    for (const [at, { term, kind }] of query.terms.entries())
      if ((kind === 'word' || kind === 'author') && holds(segment, places[at] ?? -1, index))
        present.add(term);
    const mayPair = pairs.filter(([first, second]) => present.has(first) && present.has(second));
    const mayBePhrase = isPhrase && inner.every((term) => present.has(term));
    // Most texts need not be read.
    const text = mayPair.length > 0 || mayBePhrase ? segment.unit(index).text : '';
    const said = mayPair.length > 0 ? reader.read(text) : [];
    const share = mayPair.filter((pair) => hasPair(said, pair)).length / Math.max(1, pairs.length);
    const phrase = mayBePhrase && searchForm(text).includes(query.text) ? weights.phrase : 0;
    const isVerbatim = phrase > 0 && query.words.length >= leastVerbatim;
    const score = hit.score + best * (weights.pair * share + phrase);
    ranked.push({ ...hit, score, ...(isVerbatim && { isVerbatim }) });
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

/** Whether the words of a pair stand in the text as it asks for. */
function hasPair(terms: readonly string[], [first, second]: Pair): boolean {
  for (let at = terms.indexOf(first); at !== -1; at = terms.indexOf(first, at + 1)) {
    const next = terms.indexOf(second, at + 1);
    if (next === -1) return false;
    if (next <= at + pairReach) return true;
  }
  return false;
}

/**
 * Texts that hold the query verbatim, newest first: for queries without usable words, such as `???` or `to be
 * or not to be`.
 */
export async function literalHits(
  sources: readonly SourceSegments[],
  { text: wanted }: RecallQuery,
  { mayUse, excluded }: SearchView,
  depth: number,
): Promise<readonly Find[]> {
  if (wanted === '') return [];
  const keys = Array.from(excluded, (id) => keyOf(messageTerm(id)));
  const pause = createTimeSlice();
  const found: Find[] = [];
  for (const { source, segments } of sources) {
    const top = new TopHits(depth);
    for (const [order, segment] of segments.entries()) {
      const admits = admitted(segment, mayUse, keys);
      for (const index of segment.lengthOf.keys()) {
        await pause();
        if (admits !== undefined && !admits(index)) continue;
        if (searchForm(segment.unit(index).text).includes(wanted))
          top.add({ source, score: 1, segment, index, order, places: [], admits });
      }
    }
    found.push(...top.inOrder());
  }
  return found.toSorted(compareHits);
}
