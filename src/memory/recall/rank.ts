import { searchForm } from '../../core/text.ts';
import { createTimeSlice } from '../../core/time.ts';
import { compareHits, type Find } from './hits.ts';
import type { QueryTerm, RecallQuery } from './words.ts';
import { eachWith, type RecallUnit, type Segment, type TextFacts } from './segments.ts';
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
  /** Between the sum of a word's occurrences in text and neighbours (0) and its best one (1). */
  bestOccurrence: 0.5,
  /** What a matching term of each kind counts beside a word of the query. */
  kinds: { word: 1, author: 0.3, related: 0.2, title: 1, date: 1, beginning: 0.3 },
  /** A question's words, lent to the answer that follows. */
  answer: 0.4,
  /** The three best texts of a stretch, for each in it. */
  stretch: 0.15,
  /** Factor for the bot's texts, which lend their neighbours nothing. */
  bot: 0.2,
  /** An author whom the query names. */
  namedAuthor: 1,
  /** Taken from a text that only asks: it repeats queries' words, not answers. */
  question: 0.3,
  /** A text with a number, and one with a name. */
  number: 0.2,
  name: 0.2,
  /** The newest text, where the query asks for what holds now. */
  now: 0.3,
} as const;

/** A text without words of its own needs so many around it. */
const leastCarried = 3;

/** Hits of a source that are looked at: most may repeat others. */
const depth = 1000;

export interface SourceSegments {
  readonly source: SourceName;
  /** Oldest first. */
  readonly segments: readonly Segment[];
}

/** What was found for a query, and by what. */
export interface Ranking {
  /** Best first. */
  readonly perSource: readonly (readonly Find[])[];
  /** How telling each term is: the rarer the more; 0 where it never occurs. */
  readonly rarities: readonly number[];
}

/** A term of the query that occurs, and what one occurrence counts. */
interface ValuedTerm extends QueryTerm {
  readonly value: number;
}

/** What all segments of a search are scored by. */
interface Scoring {
  readonly query: RecallQuery;
  readonly terms: readonly ValuedTerm[];
  /** Of people's texts, in terms. */
  readonly meanLength: number;
  /** When anything was said first and last, in milliseconds since the epoch; 0 unless the query asks for now. */
  readonly first: number;
  readonly last: number;
}

/**
 * The best units of each source, best first, newer first among equals. A hit has a word of the query or
 * answers a question that has one; neighbours matter too. Rarity is over all sources, so scores compare.
 */
export async function rank(sources: readonly SourceSegments[], query: RecallQuery): Promise<Ranking> {
  const segments = sources.flatMap((each) => each.segments);
  let [units, peoplesUnits, peoplesTerms] = [0, 0, 0];
  for (const segment of segments) {
    units += segment.units.length;
    peoplesUnits += segment.ofPeople.units;
    peoplesTerms += segment.ofPeople.terms;
  }
  const rarities = query.terms.map(({ term }) => rarity(holdingOf(segments, term), units));
  const terms = query.terms.map((term, at) => {
    return { ...term, value: (rarities[at] ?? 0) * weights.kinds[term.kind] };
  });
  const scoring: Scoring = {
    query,
    terms: terms.filter(({ value }) => value > 0),
    meanLength: Math.max(1, peoplesTerms / Math.max(1, peoplesUnits)),
    ...(query.asksNow ? timesOf(segments) : { first: 0, last: 0 }),
  };
  return {
    perSource: await bestOf(sources, (segment, source) => scored(segment, source, scoring)),
    rarities,
  };
}

/**
 * Texts that hold the query verbatim, newest first: for queries without usable words, such as `???` or `to be
 * or not to be`.
 */
export async function literalHits(
  sources: readonly SourceSegments[],
  { text: queryText }: RecallQuery,
): Promise<Ranking> {
  const found = await bestOf(sources, (segment, source) =>
    findsIn(segment, source, ({ text }) =>
      queryText !== '' && searchForm(text).includes(queryText) ? 1 : 0,
    ),
  );
  return { perSource: found, rarities: [] };
}

function timesOf(segments: readonly Segment[]): Pick<Scoring, 'first' | 'last'> {
  let [first, last] = [Infinity, 0];
  for (const { facts } of segments)
    for (const { time } of facts) {
      if (time > 0 && time < first) first = time;
      if (time > last) last = time;
    }
  return { first, last };
}

/** How many units have a term. */
function holdingOf(segments: readonly Segment[], term: string): number {
  let count = 0;
  for (const segment of segments)
    eachWith(segment, term, () => {
      count += 1;
    });
  return count;
}

/** Inverse document frequency as in BM25; 0 where none has it. */
function rarity(holding: number, units: number): number {
  if (holding === 0) return 0;
  return Math.log(1 + (Math.max(0, units - holding) + 0.5) / (holding + 0.5));
}

/** The best finds of each source. */
async function bestOf(
  sources: readonly SourceSegments[],
  findIn: (segment: Segment, source: SourceName) => readonly Find[],
): Promise<readonly (readonly Find[])[]> {
  const pause = createTimeSlice();
  const found: (readonly Find[])[] = [];
  for (const { source, segments } of sources) {
    let best: readonly Find[] = [];
    for (const segment of segments) {
      const finds = findIn(segment, source);
      // Later segments are newer.
      if (finds.length > 0) best = [...finds, ...best].toSorted(compareHits).slice(0, depth);
      await pause();
    }
    found.push(best);
  }
  return found;
}

/** The units of a segment that have a score above 0. */
function findsIn(
  segment: Segment,
  source: SourceName,
  scoreOf: (unit: RecallUnit, facts: TextFacts, index: number) => number,
): readonly Find[] {
  return segment.units.flatMap((unit, index) => {
    const facts = segment.facts[index];
    const score = facts === undefined ? 0 : scoreOf(unit, facts, index);
    return facts !== undefined && score > 0 ? [{ source, score, segment, index, unit, facts }] : [];
  });
}

/** What has a word of the query, is near one, or answers a question that has one. */
function scored(segment: Segment, source: SourceName, scoring: Scoring): readonly Find[] {
  if (!scoring.terms.some(({ term }) => segment.postings.has(term))) return [];
  const columns = columnsOf(segment, scoring);
  const { own, fields } = columns;
  const stretches = stretchSums(segment, own);
  return findsIn(segment, source, (unit, facts, index) => {
    const ofStretch = weights.stretch * (stretches.get(unit.stretch) ?? 0);
    const answered = isAnswer(segment, index) ? weights.answer * (own[index - 1] ?? 0) : 0;
    const around = wordsAround(segment, source, index, columns);
    const found = around + (fields[index] ?? 0) + answered;
    return found > 0 ? (found + ofStretch) * factorOf(unit, facts, scoring) : 0;
  });
}

/** What the units of a segment get from the terms of a query. */
interface Columns {
  /** From each word of the query that occurs, and from all of them. */
  readonly ofWords: readonly Float64Array[];
  readonly own: Float64Array;
  /** From a unit's date or its file's name. */
  readonly fields: Float64Array;
}

function columnsOf(segment: Segment, { terms, meanLength }: Scoring): Columns {
  const column = () => new Float64Array(segment.units.length);
  const [own, fields] = [column(), column()];
  const byWord = new Map<string, Float64Array>();
  for (const { kind, term, word, value } of terms) {
    if (!segment.postings.has(term)) continue;
    if (kind === 'title' || kind === 'date') {
      eachWith(segment, term, (index) => {
        fields[index] = (fields[index] ?? 0) + value;
      });
      continue;
    }
    const ofWord = byWord.get(word) ?? column();
    byWord.set(word, ofWord);
    let last = -1;
    eachWith(segment, term, (index, count) => {
      const isRepeated = last === index - 1 && isReply(segment, index);
      last = index;
      if (isRepeated) return;
      const score = value * saturated(count, (segment.facts[index]?.length ?? 0) / meanLength);
      const before = ofWord[index] ?? 0;
      // Of several terms for one word the best counts.
      ofWord[index] = Math.max(before, score);
      own[index] = (own[index] ?? 0) + Math.max(0, score - before);
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
function wordsAround(segment: Segment, source: SourceName, index: number, { ofWords }: Columns): number {
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
      lenders.push({ at, share });
    }
  return lenders;
}

/** By stretch, whose units are neighbours, the sum of its three best units. */
function stretchSums({ units }: Segment, own: Float64Array): ReadonlyMap<number, number> {
  const sums = new Map<number, number>();
  const best = [0, 0, 0] as [number, number, number];
  let stretch = 0;
  for (const [index, unit] of units.entries()) {
    if (unit.stretch !== stretch) best.fill(0);
    stretch = unit.stretch;
    const score = own[index] ?? 0;
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

/** Whether a unit is the bot's answer to a question: what it repeats of that tells nothing. */
export function isReply(segment: Segment, index: number): boolean {
  return segment.units[index]?.isBot === true && isAnswer(segment, index);
}

function factorOf(unit: RecallUnit, facts: TextFacts, { query, first, last }: Scoring): number {
  const { namedAuthor, question, bot, number, name, now } = weights;
  const isNamed = query.namedAuthors.has(unit.author);
  let factor = 1 - question * (1 - facts.statementShare);
  if (isNamed) factor *= 1 + namedAuthor;
  if (unit.isBot && !isNamed) factor *= bot;
  if (facts.hasNumber) factor *= 1 + number;
  if (facts.hasName) factor *= 1 + name;
  if (last > first) factor *= 1 + now * Math.max(0, (facts.time - first) / (last - first));
  return factor;
}
