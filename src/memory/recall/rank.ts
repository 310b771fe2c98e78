import { normalizeText } from '../../core/text.ts';
import { createTimeSlice } from '../../core/time.ts';
import type { Reach } from '../../core/visibility.ts';
import { TopHits, compareHits, type Find } from './hits.ts';
import type { QueryTerm, RecallQuery } from './query.ts';
import {
  SegmentScores,
  createScoreSheet,
  highestFactorsOf,
  type Admits,
  type Candidate,
  type RankingWeights,
} from './score.ts';
import { holds, keyOf, messageTerm, postingsOf, unitOf, type Segment } from './segments.ts';
import type { SourceName } from './sources.ts';
import type { TermReader } from './words.ts';

/** Hits of a source that are looked at closely. */
const depth = 100;
const none = new Uint32Array();

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
): Promise<readonly (readonly Find[])[]> {
  const pause = createTimeSlice();
  const segments = sources.flatMap((source) => source.segments);
  const usable = segments.flatMap(({ reaches }) => reaches.filter(({ reach }) => view.mayUse(reach)));
  const units = usable.reduce((sum, each) => sum + each.units, 0);
  if (units === 0) return [];
  const keys = query.terms.map(({ term }) => keyOf(term));
  const excluded = Array.from(view.excluded, (id) => keyOf(messageTerm(id)));
  const holding = keys.map(() => 0);
  const looked: (readonly Candidate[])[] = [];
  for (const { source, segments: ofSource } of sources) {
    const candidates: Candidate[] = [];
    for (const [order, segment] of ofSource.entries()) {
      await pause();
      const postings = query.terms.map(({ kind }, at) =>
        source === 'messages' && kind === 'title' ? none : postingsOf(segment, keys[at] ?? 0),
      );
      if (!postings.some(({ length }) => length > 0)) continue;
      const admits = admitted(segment, view.mayUse, excluded);
      for (const [at, each] of postings.entries()) holding[at] = (holding[at] ?? 0) + holdingOf(each, admits);
      candidates.push({ source, order, segment, admits, postings });
    }
    looked.push(candidates);
  }
  const { authorTerm: author, related, title, date, beginning } = weights;
  const weightOf: Readonly<Record<QueryTerm['kind'], number>> = {
    word: 1,
    author,
    related,
    title,
    date,
    beginning,
  };
  const values = query.terms.map(({ kind }, at) => {
    const count = holding[at] ?? 0;
    return count === 0 ? 0 : rarity(count, units) * weightOf[kind];
  });
  const sheet = createScoreSheet(Math.max(...segments.map(({ lengthOf }) => lengthOf.length)), keys.length);
  const meanLength = Math.max(1, usable.reduce((sum, { terms }) => sum + terms, 0) / units);
  const first = Math.min(...usable.map((each) => each.first));
  const last = Math.max(...usable.map((each) => each.last));
  const times = query.asksNow && last > first ? { first, last } : undefined;
  const highestFactors = highestFactorsOf(query, weights);
  const scoring = { weights, meanLength, sheet, highestFactors, ...(times && { times }) };
  const found: (readonly Find[])[] = [];
  for (const candidates of looked) {
    const top = new TopHits(depth);
    for (const candidate of candidates) {
      await pause();
      const scores = new SegmentScores(candidate, scoring);
      for (const [at, { kind, word }] of query.terms.entries()) {
        const [of = none, value = 0] = [candidate.postings[at], values[at]];
        if (of.length === 0 || value === 0) continue;
        if (kind === 'title' || kind === 'date') scores.addField(of, value);
        else scores.addWord(of, value, word);
      }
      scores.collect(query, top);
    }
    found.push(top.inOrder());
  }
  return found;
}

/** `undefined` where all units are admitted; `excluded` are the keys of messages that are not. */
function admitted(
  segment: Segment,
  mayUse: SearchView['mayUse'],
  excluded: readonly number[],
): Admits | undefined {
  const { reaches, reachOf } = segment;
  const usable = reaches.map(({ reach }) => mayUse(reach));
  const left = new Set(excluded.flatMap((key) => Array.from(postingsOf(segment, key), unitOf)));
  if (left.size === 0 && usable.every(Boolean)) return undefined;
  return (index) => usable[reachOf[index] ?? -1] === true && !left.has(index);
}

function holdingOf(postings: Uint32Array, admits: Admits | undefined): number {
  return admits === undefined ? postings.length : postings.filter((each) => admits(unitOf(each))).length;
}

/** Inverse document frequency as in BM25. */
function rarity(holding: number, units: number): number {
  return Math.log(1 + (Math.max(0, units - holding) + 0.5) / (holding + 0.5));
}

/** How far apart two words of a pair may stand. */
const pairReach = 2;

/** Looks closer at the best hits: words of the query side by side, and the query word for word, count more. */
export async function rerank(
  hits: readonly Find[],
  query: RecallQuery,
  reader: TermReader,
  weights: RankingWeights,
): Promise<readonly Find[]> {
  const pairs = pairsOf(query);
  const best = hits[0]?.score ?? 0;
  const isPhrase = query.words.length > 1;
  // What has the query word for word has the words between its first and last one whole.
  const inner = reader.read((query.text.match(/[\p{L}\p{M}\p{N}]+/gu) ?? []).slice(1, -1).join(' '));
  if (pairs.length === 0 && !isPhrase) return hits;
  const pause = createTimeSlice();
  const ranked: Find[] = [];
  for (const hit of hits) {
    const { segment, index, postings } = hit;
    const present = new Set<string>();
    for (const [at, { term, kind }] of query.terms.entries())
      if ((kind === 'word' || kind === 'author') && holds(postings[at] ?? none, index)) present.add(term);
    const mayPair = pairs.some(([first, second]) => present.has(first) && present.has(second));
    const mayBePhrase = isPhrase && inner.every((term) => present.has(term));
    // Most texts need not be read.
    const text = mayPair || mayBePhrase ? segment.unit(index).text : '';
    const share = mayPair ? pairShare(reader.read(text), pairs) : 0;
    const phrase = mayBePhrase && normalizeText(text).includes(query.text) ? weights.phrase : 0;
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

/** Texts of each source that hold the query word for word, newest first: for queries that have no words to go by, such as `???` or `to be or not to be`. */
export async function literalHits(
  sources: readonly SourceSegments[],
  { text: wanted }: RecallQuery,
  { mayUse, excluded }: SearchView,
): Promise<readonly (readonly Find[])[]> {
  if (wanted === '') return [];
  const keys = Array.from(excluded, (id) => keyOf(messageTerm(id)));
  const pause = createTimeSlice();
  const found: (readonly Find[])[] = [];
  for (const { source, segments } of sources) {
    const top = new TopHits(depth);
    for (const [order, segment] of segments.entries()) {
      const admits = admitted(segment, mayUse, keys);
      for (const index of segment.lengthOf.keys()) {
        await pause();
        if (admits !== undefined && !admits(index)) continue;
        if (normalizeText(segment.unit(index).text).includes(wanted))
          top.add({ source, score: 1, segment, index, order, postings: [] });
      }
    }
    found.push(top.inOrder());
  }
  return found;
}
