import { searchForm } from '../../core/text.ts';
import { createTimeSlice } from '../../core/time.ts';
import type { Reach } from '../../core/visibility.ts';
import { compareHits, type Find } from './hits.ts';
import type { QueryTerm, RecallQuery } from './query.ts';
import { eachWith, messageTerm, type RecallUnit, type Segment, type TextFacts } from './segments.ts';
import type { SourceName } from './sources.ts';

/**
 * Weights for finding hits: round numbers, since fitted ones did no better on unseen conversations.
 * `reorder.ts` orders by more.
 */
const weights = {
  /** BM25: how soon a repeated word stops counting. */
  saturation: 1.2,
  /** BM25: how much length counts against a text, 0 to 1. */
  lengthShare: 0.5,
  /** A person's word at a distance of one, two, three. */
  neighbours: [0.4, 0.25, 0.12],
  /** Factor for a neighbour by the same author. */
  sameAuthor: 1.5,
  /** Between the sum of a word's occurrences in text and neighbours (0) and its best one (1). */
  bestOccurrence: 0.5,
  /** What a matching term of each kind counts beside a word of the query. */
  kinds: { word: 1, author: 0.3, related: 0.2, title: 1, date: 1, beginning: 0.3 },
  /** Other words of a text for the same query word, beside its best one. */
  alike: 0.5,
  /** A question's words, lent to the answer that follows. */
  answer: 0.4,
  /** The three best texts of a stretch, for each in it. */
  stretch: 0.15,
  /** Factor for the bot's texts in a stretch. */
  botStretch: 0.1,
  /** Factor for the bot's texts, which lend their neighbours nothing. */
  bot: 0.2,
  /** An author whom the query names, or means by "I" or "you". */
  namedAuthor: 1,
  /** Taken from a text that only asks: it repeats queries' words, not answers. */
  question: 0.3,
  /** For a text nearly three times as long as usual; taken from one as much shorter. */
  longer: 0.03,
  /** An expression of time, where the query asks when. */
  time: 0.5,
  /** A text with a number, and one with a name. */
  number: 0.2,
  name: 0.2,
  /** The newest text, where the query asks for what holds now. */
  now: 0.3,
} as const;

/** A text without words of its own needs so many around it. */
const leastCarried = 3;

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

/** A segment that may be used. */
interface Candidate {
  readonly source: SourceName;
  readonly segment: Segment;
  /** The indexes of units that do not exist for the search [V2]. */
  readonly leftOut: ReadonlySet<number>;
}

/** A term of the query that occurs, and what one occurrence counts. */
interface ValuedTerm extends QueryTerm {
  readonly value: number;
}

/** What all segments of a search are scored by. */
interface Scoring {
  readonly query: RecallQuery;
  readonly terms: readonly ValuedTerm[];
  readonly meanLength: number;
  /** When anything was said first and last, in milliseconds since the epoch; 0 unless the query asks for now. */
  readonly first: number;
  readonly last: number;
}

/**
 * The best units of each source, best first, newer first among equals. A hit has a word of the query or
 * answers a question that has one; neighbours matter too. Rarity is over all sources, so scores compare.
 */
export async function rank(
  sources: readonly SourceSegments[],
  query: RecallQuery,
  view: SearchView,
  depth: number = depths.usual,
): Promise<Ranking> {
  const perSource = sources.map((source) => candidatesOf(source, view));
  const candidates = perSource.flat();
  let [units, termCount] = [0, 0];
  for (const { segment } of candidates) {
    units += segment.units.length;
    termCount += segment.termCount;
  }
  const rarities = query.terms.map(({ term }) => rarity(holdingOf(candidates, term), units));
  const terms = query.terms.map((term, at) => {
    return { ...term, value: (rarities[at] ?? 0) * weights.kinds[term.kind] };
  });
  const scoring: Scoring = {
    query,
    terms: terms.filter(({ value }) => value > 0),
    meanLength: Math.max(1, termCount / Math.max(1, units)),
    ...(query.asksNow ? timesOf(candidates) : { first: 0, last: 0 }),
  };
  return {
    perSource: await bestOf(perSource, depth, (candidate, least) => scored(candidate, scoring, least)),
    rarities,
  };
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
  const perSource = sources.map((source) => candidatesOf(source, view));
  const found = await bestOf(perSource, depth, (candidate) =>
    findsIn(candidate, ({ text }) => (wanted !== '' && searchForm(text).includes(wanted) ? 1 : 0)),
  );
  return { perSource: found, rarities: [] };
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
function holdingOf(candidates: readonly Candidate[], term: string): number {
  let count = 0;
  for (const { segment, leftOut } of candidates)
    eachWith(segment, term, leftOut, () => {
      count += 1;
    });
  return count;
}

/** Inverse document frequency as in BM25; 0 where none has it. */
function rarity(holding: number, units: number): number {
  if (holding === 0) return 0;
  return Math.log(1 + (Math.max(0, units - holding) + 0.5) / (holding + 0.5));
}

/** The best finds of each source. What scores less than `least` is not needed any more. */
async function bestOf(
  perSource: readonly (readonly Candidate[])[],
  depth: number,
  findIn: (candidate: Candidate, least: number) => readonly Find[],
): Promise<readonly (readonly Find[])[]> {
  const pause = createTimeSlice();
  const found: (readonly Find[])[] = [];
  for (const candidates of perSource) {
    let best: readonly Find[] = [];
    for (const candidate of candidates) {
      const least = best.length < depth ? 0 : (best.at(-1)?.score ?? 0);
      const finds = findIn(candidate, least);
      // Later segments are newer.
      if (finds.length > 0) best = [...finds, ...best].toSorted(compareHits).slice(0, depth);
      await pause();
    }
    found.push(best);
  }
  return found;
}

/** The units of a segment that have a score above 0; `mayScore` spares a look at the others. */
function findsIn(
  { source, segment, leftOut }: Candidate,
  scoreOf: (unit: RecallUnit, facts: TextFacts, index: number) => number,
  mayScore: (index: number) => boolean = () => true,
): readonly Find[] {
  const finds: Find[] = [];
  for (let index = 0; index < segment.units.length; index += 1) {
    if (!mayScore(index) || leftOut.has(index)) continue;
    const [unit, facts] = [segment.units[index], segment.facts[index]];
    if (unit === undefined || facts === undefined) continue;
    const score = scoreOf(unit, facts, index);
    if (score > 0) finds.push({ source, score, segment, index, unit, facts, leftOut });
  }
  return finds;
}

/**
 * What has a word of the query, is near one, or answers a question that has one. Looking around exactly takes
 * longest, so it is left to what may reach `least`.
 */
function scored(candidate: Candidate, scoring: Scoring, least: number): readonly Find[] {
  const { segment } = candidate;
  if (!scoring.terms.some(({ term }) => segment.postings.has(term))) return [];
  const columns = columnsOf(candidate, scoring);
  const { own, fields } = columns;
  const stretches = stretchSums(segment, own);
  const highest = { factor: highestFactor(scoring), stretch: Math.max(0, ...stretches.values()) };
  const askedBefore = (index: number) => weights.answer * (own[index - 1] ?? 0);
  const mostAt = (index: number) => mostAround(own, index) + (fields[index] ?? 0) + askedBefore(index);

  return findsIn(
    candidate,
    (unit, facts, index) => {
      const ofStretch = weights.stretch * (stretches.get(unit.stretch) ?? 0);
      const factor = factorOf(unit, facts, scoring);
      if ((mostAt(index) + ofStretch) * factor < least) return 0;
      const answered = isAnswer(segment, index) ? askedBefore(index) : 0;
      const found = wordsAround(candidate, index, columns) + (fields[index] ?? 0) + answered;
      return found > 0 ? (found + ofStretch) * factor : 0;
    },
    (index) => {
      const most = mostAt(index);
      return most > 0 && (most + weights.stretch * highest.stretch) * highest.factor >= least;
    },
  );
}

/** What a unit's words and those around it count at most. */
function mostAround(own: Float64Array, index: number): number {
  const [near, farther, farthest] = weights.neighbours;
  const lent =
    near * ((own[index - 1] ?? 0) + (own[index + 1] ?? 0)) +
    farther * ((own[index - 2] ?? 0) + (own[index + 2] ?? 0)) +
    farthest * ((own[index - 3] ?? 0) + (own[index + 3] ?? 0));
  return (own[index] ?? 0) + weights.sameAuthor * lent;
}

/** What the units of a segment get from the terms of a query. */
interface Columns {
  /** From each word of the query that occurs, and from all of them. */
  readonly ofWords: readonly Float64Array[];
  readonly own: Float64Array;
  /** From a unit's date or its file's name. */
  readonly fields: Float64Array;
}

function columnsOf(candidate: Candidate, { terms, meanLength }: Scoring): Columns {
  const { segment, leftOut } = candidate;
  const column = () => new Float64Array(segment.units.length);
  const [own, fields] = [column(), column()];
  const byWord = new Map<string, Float64Array>();
  for (const { kind, term, word, value } of terms) {
    if (!segment.postings.has(term)) continue;
    if (kind === 'title' || kind === 'date') {
      eachWith(segment, term, leftOut, (index) => {
        fields[index] = (fields[index] ?? 0) + value;
      });
      continue;
    }
    const ofWord = byWord.get(word) ?? column();
    byWord.set(word, ofWord);
    eachWith(segment, term, leftOut, (index, count) => {
      const score = value * saturated(count, (segment.lengths[index] ?? 0) / meanLength);
      const before = ofWord[index] ?? 0;
      // Of several terms for one word the best counts most.
      const after = Math.max(before, score) + weights.alike * Math.min(before, score);
      ofWord[index] = after;
      own[index] = (own[index] ?? 0) + after - before;
    });
  }
  return { ofWords: [...byWord.values()], own, fields };
}

/** BM25: what a term counts that a text has so often; `length` is 1 for the mean. */
function saturated(count: number, length: number): number {
  const { saturation, lengthShare } = weights;
  return (count * (saturation + 1)) / (count + saturation * (1 - lengthShare + lengthShare * length));
}

/** What a unit's words count with those that people lend it from around; 0 where they are too few. */
function wordsAround({ source, segment }: Candidate, index: number, { ofWords }: Columns): number {
  const lenders = lendersOf(segment, index);
  let [sum, count, hasOwn] = [0, 0, false];
  for (const ofWord of ofWords) {
    const own = ofWord[index] ?? 0;
    let [all, best] = [own, own];
    for (const { at, share } of lenders) {
      const lent = share * (ofWord[at] ?? 0);
      all += lent;
      best = Math.max(best, lent);
    }
    sum += (1 - weights.bestOccurrence) * all + weights.bestOccurrence * best;
    if (best > 0) count += 1;
    if (own > 0) hasOwn = true;
  }
  // Lines of a file belong together; messages are found by those around them as well.
  return hasOwn || (source === 'messages' && count >= leastCarried) ? sum : 0;
}

function lendersOf({ units }: Segment, index: number) {
  const unit = units[index];
  const lenders: { readonly at: number; readonly share: number }[] = [];
  for (const [distance, share] of weights.neighbours.entries())
    for (const at of [index - distance - 1, index + distance + 1]) {
      const other = units[at];
      if (other?.isBot !== false || other.stretch !== unit?.stretch) continue;
      lenders.push({ at, share: other.author === unit.author ? share * weights.sameAuthor : share });
    }
  return lenders;
}

/** By stretch, whose units are neighbours, the sum of its three best units. */
function stretchSums({ stretches, areBots }: Segment, own: Float64Array): ReadonlyMap<number, number> {
  const sums = new Map<number, number>();
  const best = [0, 0, 0] as [number, number, number];
  let stretch = stretches[0] ?? 0;
  for (let index = 0; index < own.length; index += 1) {
    if (stretches[index] !== stretch) {
      stretch = stretches[index] ?? 0;
      best.fill(0);
    }
    const score = (own[index] ?? 0) * (areBots[index] === true ? weights.botStretch : 1);
    if (score <= best[2]) continue;
    best[2] = score;
    best.sort((a, b) => b - a);
    sums.set(stretch, best[0] + best[1] + best[2]);
  }
  return sums;
}

/** Whether a unit answers somebody else's question right before it; the bot's lend nothing. */
export function isAnswer({ units, facts }: Segment, index: number): boolean {
  const [before, unit] = [units[index - 1], units[index]];
  const asks = facts[index - 1]?.asks === true && before?.isBot === false;
  return asks && before?.stretch === unit?.stretch && before?.author !== unit?.author;
}

/** What {@link factorOf} is at most in a search. */
function highestFactor({ query, first, last }: Scoring): number {
  const { namedAuthor, time, longer, number, name, now } = weights;
  const ofAuthor = query.namedAuthors.size > 0 ? 1 + namedAuthor : 1;
  const ofTime = (query.asksWhen ? 1 + time : 1) * (last > first ? 1 + now : 1);
  return (1 + longer) * (1 + number) * (1 + name) * ofAuthor * ofTime;
}

function factorOf(unit: RecallUnit, facts: TextFacts, { query, meanLength, first, last }: Scoring): number {
  const { namedAuthor, time, question, bot, longer, number, name, now } = weights;
  const isNamed = query.namedAuthors.has(unit.author);
  const size = Math.log((1 + facts.length) / meanLength);
  let factor = 1 - question * (1 - facts.statementShare);
  factor *= 1 + longer * Math.max(-1, Math.min(1, size));
  if (isNamed) factor *= 1 + namedAuthor;
  if (unit.isBot && !isNamed && !query.meansBot) factor *= bot;
  if (query.asksWhen && facts.tellsWhen) factor *= 1 + time;
  if (facts.hasNumber) factor *= 1 + number;
  if (facts.hasName) factor *= 1 + name;
  if (last > first) factor *= 1 + now * Math.max(0, (facts.time - first) / (last - first));
  return factor;
}
