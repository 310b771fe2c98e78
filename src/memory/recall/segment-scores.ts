import type { RankingWeights } from './ranking-weights.ts';
import type { RecallQuery } from './recall-query.ts';
import type { Segment, UnitTraits } from './segment.ts';

/** Which units of a segment exist for a search; all others are as if they were not there [V2]. */
export type Admits = (index: number) => boolean;

interface CollectOptions {
  /** All are admitted where not given. */
  readonly admits: Admits | undefined;
  readonly isNamedAuthor: (author: string) => boolean;
}

const bestOfStretch = 3;

/** The scores of a segment's units for one query, term after term. */
export class SegmentScores {
  readonly #segment: Segment;
  readonly #weights: RankingWeights;
  /** From words of the unit itself and of its neighbours. */
  readonly #words: Float64Array;
  /** From words of the unit itself. */
  readonly #own: Float64Array;
  readonly #fields: Float64Array;
  /** The best occurrence of the present term, for the units in `#touched`. */
  readonly #best: Float64Array;
  #touched: number[] = [];

  constructor(segment: Segment, weights: RankingWeights) {
    this.#segment = segment;
    this.#weights = weights;
    const size = segment.traits.length;
    this.#words = new Float64Array(size);
    this.#own = new Float64Array(size);
    this.#fields = new Float64Array(size);
    this.#best = new Float64Array(size);
  }

  /** BM25's part of a term that stands `count` times in a unit. */
  strength(index: number, count: number, meanLength: number): number {
    const { saturation, lengthShare } = this.#weights;
    const length = this.#segment.traits[index]?.length ?? 0;
    const norm = 1 - lengthShare + (lengthShare * length) / meanLength;
    return (count * (saturation + 1)) / (count + saturation * norm);
  }

  addField(index: number, value: number): void {
    this.#fields[index] = (this.#fields[index] ?? 0) + value;
  }

  /** Counts a word for its unit and, less, for those around it in the same stretch. */
  addWord(index: number, value: number): void {
    this.#own[index] = (this.#own[index] ?? 0) + value;
    this.#count(index, value);
    const traits = this.#segment.traits;
    const stretch = traits[index]?.unit.stretch;
    for (const [offset, weight] of this.#weights.neighbours.entries()) {
      const before = index - offset - 1;
      const after = index + offset + 1;
      if (traits[before]?.unit.stretch === stretch) this.#count(before, value * weight);
      if (traits[after]?.unit.stretch === stretch) this.#count(after, value * weight);
    }
  }

  #count(index: number, value: number): void {
    this.#words[index] = (this.#words[index] ?? 0) + value * (1 - this.#weights.bestOccurrence);
    const best = this.#best[index] ?? 0;
    if (best === 0) this.#touched.push(index);
    if (value > best) this.#best[index] = value;
  }

  /** To be called after each term's last occurrence. */
  endTerm(): void {
    for (const index of this.#touched) {
      this.#words[index] =
        (this.#words[index] ?? 0) + this.#weights.bestOccurrence * (this.#best[index] ?? 0);
      this.#best[index] = 0;
    }
    this.#touched = [];
  }

  /** Gives every hit with its score. */
  collect(
    query: RecallQuery,
    { admits, isNamedAuthor }: CollectOptions,
    found: (index: number, score: number) => void,
  ): void {
    const { answer, stretch } = this.#weights;
    const bonuses = this.#stretchBonuses();
    const traits = this.#segment.traits;
    for (const [index, unitTraits] of traits.entries()) {
      const own = (this.#own[index] ?? 0) + (this.#fields[index] ?? 0);
      const answered = this.#answered(index);
      if ((own === 0 && answered === 0) || admits?.(index) === false) continue;
      const sum =
        (this.#words[index] ?? 0) +
        (this.#fields[index] ?? 0) +
        answer * answered +
        stretch * (bonuses.get(unitTraits.unit.stretch) ?? 0);
      found(index, sum * this.#factor(unitTraits, query, isNamedAuthor(unitTraits.unit.author)));
    }
  }

  /** What the question just before has of the query, where this unit is somebody else's answer. */
  #answered(index: number): number {
    const question = this.#segment.traits[index - 1];
    const unit = this.#segment.traits[index]?.unit;
    if (question === undefined || unit === undefined || !question.asks) return 0;
    if (question.unit.stretch !== unit.stretch || question.unit.author === unit.author) return 0;
    return this.#own[index - 1] ?? 0;
  }

  #factor(traits: UnitTraits, query: RecallQuery, isNamed: boolean): number {
    const { unit } = traits;
    const { namedAuthor, time, question, bot } = this.#weights;
    let factor = 1 - question * (1 - traits.statementShare);
    if (isNamed) factor *= 1 + namedAuthor;
    if (unit.isBot && !isNamed && !query.meansBot) factor *= bot;
    if (query.asksWhen && traits.tellsWhen) factor *= 1 + time;
    return factor;
  }

  #stretchBonuses(): ReadonlyMap<number, number> {
    const best = new Map<number, number[]>();
    for (const [index, own] of this.#own.entries()) {
      if (own === 0) continue;
      const stretch = this.#segment.traits[index]?.unit.stretch ?? 0;
      const values = best.get(stretch) ?? [];
      if (values.length < bestOfStretch) best.set(stretch, [...values, own]);
      else if (own > Math.min(...values)) {
        values[values.indexOf(Math.min(...values))] = own;
      }
    }
    return new Map(
      [...best].map(([stretch, values]) => [stretch, values.reduce((sum, value) => sum + value, 0)]),
    );
  }
}
