import type { TopHits } from './hits.ts';
import type { RecallQuery } from './query.ts';
import { countOf, unitOf, type Segment, type UnitTraits } from './segments.ts';
import type { SourceName } from './sources.ts';

/** What counts how much in the ranking. `npm run bench:recall -- FILE --perturb` shows what a change of each one does. */
export const rankingWeights = {
  /** BM25: how soon a repeated word stops counting. */
  saturation: 1.2,
  /** BM25: how much a long text has to say more often what a short one says once, 0 to 1. */
  lengthShare: 0.5,
  /** What a neighbour's word counts at a distance of one, two, three. */
  neighbours: [0.45, 0.25, 0.12] as readonly number[],
  /** Between the sum of a word's occurrences in text and neighbours (0) and its best one (1). */
  bestOccurrence: 0.5,
  /** A text whose author the query names, or means by "I" or "you". */
  namedAuthor: 1,
  /** An author's name as a word of the query. */
  authorTerm: 0.3,
  /** A day, month or year of the query that is the text's. */
  date: 1,
  /** A file's name. */
  title: 1,
  /** What a question's words lend to the answer that follows. */
  answer: 0.4,
  /** The three best texts of a stretch, for each in it. */
  stretch: 0.15,
  /** An expression of time, where the query asks when. */
  time: 0.5,
  /** Related words. */
  related: 0.2,
  /** Two words of the query side by side. */
  pair: 0.2,
  /** The query word for word. */
  phrase: 1,
  /** What is taken from a text that only asks: questions hold words of queries, not what was asked for. */
  question: 0.3,
  /** A text by the bot. */
  bot: 0.3,
};

export type RankingWeights = Readonly<typeof rankingWeights>;

/** Which units of a segment exist for a search; all others are as if they were not there [V2]. */
export type Admits = (index: number) => boolean;

/** Where scores are added up for segments of up to `size` units; one for all segments of a search, since most of the time would go into making them. */
export function createScoreSheet(size: number) {
  return {
    /** From words of the unit itself and of its neighbours. */
    words: new Float64Array(size),
    /** From words of the unit itself. */
    own: new Float64Array(size),
    fields: new Float64Array(size),
    /** The best occurrence of the present term. */
    best: new Float64Array(size),
    /** The three best of the unit's stretch. */
    stretches: new Float64Array(size),
  };
}

type ScoreSheet = ReturnType<typeof createScoreSheet>;

/** The scores of a segment's units for one query, term after term. Only one of a sheet is in use at a time. */
export class SegmentScores {
  readonly #segment: Segment;
  readonly #admits: Admits | undefined;
  readonly #weights: RankingWeights;
  readonly #meanLength: number;
  readonly #sheet: ScoreSheet;

  /** All units are admitted where `admits` is not given. */
  constructor(
    segment: Segment,
    admits: Admits | undefined,
    weights: RankingWeights,
    meanLength: number,
    sheet: ScoreSheet,
  ) {
    this.#segment = segment;
    this.#admits = admits;
    this.#weights = weights;
    this.#meanLength = meanLength;
    this.#sheet = sheet;
    for (const column of [sheet.words, sheet.own, sheet.fields]) column.fill(0, 0, segment.traits.length);
  }

  /** Counts a property of whole texts, which neighbours do not lend each other. */
  addField(postings: readonly number[], value: number): void {
    const { fields } = this.#sheet;
    for (const posting of postings) {
      const index = unitOf(posting);
      if (this.#admits === undefined || this.#admits(index)) fields[index] = (fields[index] ?? 0) + value;
    }
  }

  /** Counts a word by BM25 for the units that have it and, less, for those around them in the same stretch. */
  addWord(postings: readonly number[], value: number): void {
    const { saturation, lengthShare, neighbours, bestOccurrence } = this.#weights;
    const { words, own, best } = this.#sheet;
    const { lengths, stretches } = this.#segment;
    const admits = this.#admits;
    const size = stretches.length;
    const base = saturation * (1 - lengthShare);
    const perTerm = (saturation * lengthShare) / this.#meanLength;
    const inSum = 1 - bestOccurrence;
    for (const posting of postings) {
      const index = unitOf(posting);
      if (admits !== undefined && !admits(index)) continue;
      const count = countOf(posting);
      const score = (value * count * (saturation + 1)) / (count + base + perTerm * (lengths[index] ?? 0));
      own[index] = (own[index] ?? 0) + score;
      words[index] = (words[index] ?? 0) + score * inSum;
      if (score > (best[index] ?? 0)) best[index] = score;
      const stretch = stretches[index];
      for (let distance = 1; distance <= neighbours.length; distance += 1) {
        const lent = score * (neighbours[distance - 1] ?? 0);
        for (let side = index - distance; side <= index + distance; side += 2 * distance) {
          if (side < 0 || side >= size || stretches[side] !== stretch) continue;
          words[side] = (words[side] ?? 0) + lent * inSum;
          if (lent > (best[side] ?? 0)) best[side] = lent;
        }
      }
    }
    this.#takeBest(postings);
  }

  /** Adds each unit's best occurrence of the term and clears it for the next. */
  #takeBest(postings: readonly number[]): void {
    const { words, best } = this.#sheet;
    const { neighbours, bestOccurrence } = this.#weights;
    const size = this.#segment.traits.length;
    let next = 0;
    for (const posting of postings) {
      const index = unitOf(posting);
      const end = Math.min(size, index + neighbours.length + 1);
      for (next = Math.max(next, index - neighbours.length); next < end; next += 1) {
        words[next] = (words[next] ?? 0) + bestOccurrence * (best[next] ?? 0);
        best[next] = 0;
      }
    }
  }

  /** Gives every hit that may score at least as much as the best so far. `order` is the segment's. */
  collect(query: RecallQuery, source: SourceName, order: number, top: TopHits): void {
    const { answer, stretch, namedAuthor, time } = this.#weights;
    const highestFactor =
      (query.authorTerms.size > 0 ? 1 + namedAuthor : 1) * (query.asksWhen ? 1 + time : 1);
    const { words, own, fields, stretches } = this.#sheet;
    const { traits } = this.#segment;
    this.#sumStretches();
    for (let index = 0; index < traits.length; index += 1) {
      const direct = (own[index] ?? 0) + (fields[index] ?? 0);
      const asked = index === 0 ? 0 : (own[index - 1] ?? 0);
      if (direct === 0 && asked === 0) continue;
      const sum = (words[index] ?? 0) + (fields[index] ?? 0) + stretch * (stretches[index] ?? 0);
      // Most units end here, before anything is looked up.
      if ((sum + answer * asked) * highestFactor < top.least) continue;
      const answered = asked === 0 ? 0 : this.#answered(index);
      if ((direct === 0 && answered === 0) || this.#admits?.(index) === false) continue;
      const unitTraits = traits[index];
      if (unitTraits === undefined) continue;
      const score = (sum + answer * answered) * this.#factor(unitTraits, query);
      top.add({ source, unit: unitTraits.unit, score, segment: this.#segment, index, order });
    }
  }

  /** What the question just before has of the query, where this unit is somebody else's answer. */
  #answered(index: number): number {
    const question = this.#segment.traits[index - 1];
    const unit = this.#segment.traits[index]?.unit;
    if (question === undefined || unit === undefined || !question.asks) return 0;
    if (question.unit.stretch !== unit.stretch || question.unit.author === unit.author) return 0;
    return this.#sheet.own[index - 1] ?? 0;
  }

  #factor(traits: UnitTraits, query: RecallQuery): number {
    const { namedAuthor, time, question, bot } = this.#weights;
    const isNamed = query.isNamedAuthor(traits.unit.author);
    let factor = 1 - question * (1 - traits.statementShare);
    if (isNamed) factor *= 1 + namedAuthor;
    if (traits.unit.isBot && !isNamed && !query.meansBot) factor *= bot;
    if (query.asksWhen && traits.tellsWhen) factor *= 1 + time;
    return factor;
  }

  /** The three best units of each stretch, summed up, for all its units. */
  #sumStretches(): void {
    const { own, stretches: sums } = this.#sheet;
    const { stretches } = this.#segment;
    let start = 0;
    while (start < stretches.length) {
      let end = start;
      let first = 0;
      let second = 0;
      let third = 0;
      for (; end < stretches.length && stretches[end] === stretches[start]; end += 1) {
        const score = own[end] ?? 0;
        if (score > first) {
          third = second;
          second = first;
          first = score;
        } else if (score > second) {
          third = second;
          second = score;
        } else if (score > third) third = score;
      }
      sums.fill(first + second + third, start, end);
      start = end;
    }
  }
}
