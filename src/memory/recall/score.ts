import type { TopHits } from './hits.ts';
import type { QueryTerm, RecallQuery } from './query.ts';
import { eachWith, type RecallUnit, type Segment, type TextFacts } from './segments.ts';
import type { SourceName } from './sources.ts';

/**
 * Weights for finding hits: round numbers, since fitted ones did no better on unseen conversations.
 * `reorder.ts` orders by more.
 */
export const rankingWeights = {
  /** BM25: how soon a repeated word stops counting. */
  saturation: 1.2,
  /** BM25: how much length counts against a text, 0 to 1. */
  lengthShare: 0.5,
  /** A person's word at a distance of one, two, three. */
  neighbours: [0.4, 0.25, 0.12] as readonly number[],
  /** Factor for a neighbour by the same author. */
  sameAuthor: 1.5,
  /** Between the sum of a word's occurrences in text and neighbours (0) and its best one (1). */
  bestOccurrence: 0.5,
  /** An author whom the query names, or means by "I" or "you". */
  namedAuthor: 1,
  /** An author's name as a word of the query. */
  authorTerm: 0.3,
  /** A matching day, month or year. */
  date: 1,
  /** A file's name. */
  title: 1,
  /** The first letters of a word of the query. */
  beginning: 0.3,
  /** A question's words, lent to the answer that follows. */
  answer: 0.4,
  /** The three best texts of a stretch, for each in it. */
  stretch: 0.15,
  /** An expression of time, where the query asks when. */
  time: 0.5,
  /** Related words. */
  related: 0.2,
  /** Other words of a text for the same query word, beside its best one. */
  alike: 0.5,
  /** Two words of the query side by side. */
  pair: 0.2,
  /** The query word for word. */
  phrase: 1,
  /** Taken from a text that only asks: it repeats queries' words, not answers. */
  question: 0.3,
  /** Factor for the bot's texts, which lend their neighbours nothing. */
  bot: 0.3,
  /** Factor for the bot's texts in a stretch. */
  botStretch: 0.1,
  /** For a text nearly three times as long as usual; taken from one as much shorter. */
  longer: 0.03,
  /** A text with a number, and one with a name; the latter also where the query asks for one. */
  number: 0.2,
  name: 0.2,
  askedName: 0.2,
  /** The newest text, where the query asks for what holds now. */
  now: 0.3,
};

export type RankingWeights = Readonly<typeof rankingWeights>;

/** A text without words of its own needs so many around it. */
const leastCarried = 3;

/** Neighbours that count, on each side. */
const margin = 3;

/** A segment that has terms of a query. */
export interface Candidate {
  readonly source: SourceName;
  readonly segment: Segment;
  /** The indexes of units that do not exist for the search [V2]. */
  readonly leftOut: ReadonlySet<number>;
}

/** A term of the query that occurs, and what one occurrence counts. */
export interface ValuedTerm extends QueryTerm {
  readonly value: number;
}

/** What all segments of a search are scored by. */
export interface Scoring {
  readonly query: RecallQuery;
  readonly terms: readonly ValuedTerm[];
  readonly weights: RankingWeights;
  readonly meanLength: number;
  /**
   * When anything was said first and last, in milliseconds since the epoch; 0 unless the query asks for what
   * holds now.
   */
  readonly first: number;
  readonly last: number;
  readonly sheet: Sheet;
}

/** Columns for the units of one segment after another: allocating them each time would take longest. */
export type Sheet = ReturnType<typeof createSheet>;

export function createSheet(size: number, words: number) {
  const column = () => new Float64Array(size);
  return {
    /** From each word of the query in the unit, and from all of them. */
    ofWords: Array.from({ length: words }, column),
    own: column(),
    /** What a unit lends to those around it, three places further on. */
    lent: new Float64Array(size + 2 * margin),
    /** From a unit's date or its file's name. */
    fields: column(),
    /** The sum of the three best of a unit's stretch. */
    stretches: column(),
  };
}

/** Offers to `top` what has a word of the query, is near one, or answers a question that has one. */
export function scoreSegment(candidate: Candidate, scoring: Scoring, top: TopHits): void {
  const { source, segment, leftOut } = candidate;
  const { isBot } = segment;
  const { sheet, weights } = scoring;
  const { answer, stretch } = weights;
  const { own, lent, fields, stretches } = sheet;
  const ofWords = addTerms(candidate, scoring);
  sumStretches(segment, scoring);
  const [near = 0, farther = 0, farthest = 0] = weights.neighbours.map((share) => share * weights.sameAuthor);
  const ofPerson = highestFactor(false, scoring);
  const ofBot = highestFactor(true, scoring);
  for (let index = 0; index < segment.units.length; index += 1) {
    const around =
      near * ((lent[index + 2] ?? 0) + (lent[index + 4] ?? 0)) +
      farther * ((lent[index + 1] ?? 0) + (lent[index + 5] ?? 0)) +
      farthest * ((lent[index] ?? 0) + (lent[index + 6] ?? 0));
    const asked = index === 0 ? 0 : answer * (own[index - 1] ?? 0);
    const most = (own[index] ?? 0) + around + (fields[index] ?? 0) + asked;
    const ofStretch = stretch * (stretches[index] ?? 0);
    const highest = isBot[index] === true ? ofBot : ofPerson;
    if (most === 0 || (most + ofStretch) * highest < top.least || leftOut.has(index)) continue;
    const [unit, facts] = [segment.units[index], segment.facts[index]];
    if (unit === undefined || facts === undefined) continue;
    const factor = factorOf(unit, facts, segment.lengths[index] ?? 0, scoring);
    if ((most + ofStretch) * factor < top.least) continue;
    const answered = asked > 0 && isAnswer(segment, index) ? asked : 0;
    const found = wordsAround(candidate, index, ofWords, weights) + (fields[index] ?? 0) + answered;
    const score = (found + ofStretch) * factor;
    if (found > 0 && score >= top.least) top.add({ source, score, segment, index, unit, facts, leftOut });
  }
}

/** Fills the columns; returns those of the words that occur. */
function addTerms(candidate: Candidate, scoring: Scoring): readonly Float64Array[] {
  const { segment, leftOut } = candidate;
  const { own, lent, fields, ofWords } = scoring.sheet;
  const size = segment.units.length;
  for (const column of [own, lent, fields]) column.fill(0);
  const byWord = new Map<string, Float64Array>();
  for (const each of scoring.terms) {
    const { kind, term, word, value } = each;
    if (!segment.postings.has(term)) continue;
    if (kind === 'title' || kind === 'date')
      eachWith(segment, term, leftOut, (index) => {
        fields[index] = (fields[index] ?? 0) + value;
      });
    else {
      const column = byWord.get(word) ?? ofWords[byWord.size]?.fill(0) ?? new Float64Array(size);
      byWord.set(word, column);
      addTerm(candidate, each, column, scoring);
    }
  }
  return [...byWord.values()];
}

/** Adds a term by BM25 to its word's column; of several for one word the best counts most. */
function addTerm(
  { segment, leftOut }: Candidate,
  { term, value }: ValuedTerm,
  ofWord: Float64Array,
  { weights, meanLength, sheet: { own, lent } }: Scoring,
): void {
  const { saturation, lengthShare, alike } = weights;
  const { lengths, isBot } = segment;
  eachWith(segment, term, leftOut, (index, count) => {
    const length = (lengths[index] ?? 0) / meanLength;
    const score =
      (value * count * (saturation + 1)) / (count + saturation * (1 - lengthShare + lengthShare * length));
    const before = ofWord[index] ?? 0;
    const after = Math.max(before, score) + alike * Math.min(before, score);
    own[index] = (own[index] ?? 0) + after - before;
    if (isBot[index] === false) lent[index + margin] = own[index] ?? 0;
    ofWord[index] = after;
  });
}

/** What a unit's words count with those that people lend it from around; 0 where they are too few. */
function wordsAround(
  { source, segment }: Candidate,
  index: number,
  ofWords: readonly Float64Array[],
  weights: RankingWeights,
): number {
  const lenders = lendersOf(segment, index, weights);
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

/** The people's texts around a unit in its stretch, and the share of their words that they lend. */
function lendersOf({ units }: Segment, index: number, { neighbours, sameAuthor }: RankingWeights) {
  const unit = units[index];
  const lenders: { readonly at: number; readonly share: number }[] = [];
  for (const [distance, share] of neighbours.entries())
    for (const at of [index - distance - 1, index + distance + 1]) {
      const other = units[at];
      if (other?.isBot !== false || other.stretch !== unit?.stretch) continue;
      lenders.push({ at, share: other.author === unit.author ? share * sameAuthor : share });
    }
  return lenders;
}

/** Fills the column `stretches`. */
function sumStretches({ isBot, stretchStarts }: Segment, { weights, sheet }: Scoring): void {
  const { own, stretches } = sheet;
  for (const [at, start] of stretchStarts.entries()) {
    const end = stretchStarts[at + 1] ?? isBot.length;
    let [first, second, third] = [0, 0, 0];
    for (let index = start; index < end; index += 1) {
      const whole = own[index] ?? 0;
      if (whole <= third) continue;
      const score = isBot[index] === true ? whole * weights.botStretch : whole;
      if (score > first) [first, second, third] = [score, first, second];
      else if (score > second) [second, third] = [score, second];
      else if (score > third) third = score;
    }
    stretches.fill(first + second + third, start, end);
  }
}

/** Whether a unit answers somebody else's question right before it. */
export function isAnswer({ units, facts }: Segment, index: number): boolean {
  const [before, unit] = [units[index - 1], units[index]];
  const asks = facts[index - 1]?.asks === true;
  return asks && before?.stretch === unit?.stretch && before?.author !== unit?.author;
}

/** What a text's factor is at most. */
function highestFactor(isBot: boolean, scoring: Scoring): number {
  const [author = ''] = scoring.query.namedAuthors;
  const best = { statementShare: 1, tellsWhen: true, hasNumber: true, hasName: true, time: scoring.last };
  return factorOf({ author, isBot }, best, Infinity, scoring);
}

function factorOf(
  unit: Pick<RecallUnit, 'author' | 'isBot'>,
  facts: Omit<TextFacts, 'asks'>,
  length: number,
  { query, weights, meanLength, first, last }: Scoring,
): number {
  const { namedAuthor, time, question, bot, longer, number, name, askedName, now } = weights;
  const isNamed = query.namedAuthors.has(unit.author);
  const size = Math.log((1 + length) / meanLength);
  let factor = 1 - question * (1 - facts.statementShare);
  factor *= 1 + longer * Math.max(-1, Math.min(1, size));
  if (isNamed) factor *= 1 + namedAuthor;
  if (unit.isBot && !isNamed && !query.meansBot) factor *= bot;
  if (query.asksWhen && facts.tellsWhen) factor *= 1 + time;
  if (facts.hasNumber) factor *= 1 + number;
  if (facts.hasName) factor *= query.asksName ? 1 + name + askedName : 1 + name;
  if (last > first) factor *= 1 + now * Math.max(0, (facts.time - first) / (last - first));
  return factor;
}
