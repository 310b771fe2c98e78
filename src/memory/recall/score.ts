import type { Find, TopHits } from './hits.ts';
import type { RecallQuery } from './query.ts';
import { countOf, postingsAt, trait, unitOf } from './segments.ts';

/**
 * Weights for finding hits: round numbers, since fitted ones did no better on unseen conversations.
 * `reorder.ts` orders by more.
 */
export const rankingWeights = {
  /** BM25: how soon a repeated word stops counting. */
  saturation: 1.2,
  /** BM25: how much length counts against a text, 0 to 1. */
  lengthShare: 0.5,
  /** A neighbour's word at a distance of one, two, three. */
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
  /** Factor for the bot's texts. */
  bot: 0.3,
  /** Factor for the bot's words in neighbours and stretch. */
  botLent: 0,
  botStretch: 0.1,
  /** Factor for a text with no word of the query but its neighbours'. */
  carried: 1,
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

/** Terms of most texts, for which BM25 is tabulated. */
const tabledLength = 128;

/**
 * Room for scores of up to `size` units and so many words; shared by all segments and wordings of a search,
 * since allocating would take most of its time.
 */
export function createScoreSheet(
  { size, words, meanLength }: { readonly size: number; readonly words: number; readonly meanLength: number },
  { botLent, saturation, lengthShare }: RankingWeights,
) {
  const base = saturation * (1 - lengthShare);
  const perTerm = (saturation * lengthShare) / meanLength;
  return {
    base,
    perTerm,
    /** BM25 of one occurrence, by text length. */
    once: Float64Array.from(
      { length: tabledLength },
      (_, length) => (saturation + 1) / (1 + base + perTerm * length),
    ),
    /** From words of the unit itself: all together, with a margin on both sides, and each. */
    own: new Float64Array(size + 2 * margin),
    /** What the unit lends at most, with the same margin. */
    lent: new Float64Array(size + 2 * margin),
    ofWords: Array.from({ length: words }, () => new Float64Array(size)),
    fields: new Float64Array(size),
    /** The sum of the stretch's three best. */
    stretches: new Float64Array(size),
    /** The least that a unit needs from words, by its traits. */
    limits: new Float64Array(allTraits + 1),
    /** The share that a unit lends, by its traits. */
    lends: valuesOfTraits((traits) => ((traits & trait.isBot) === 0 ? 1 : botLent)),
    /** Neighbours that lend to a unit, in order. */
    lenders: Array.from({ length: 2 * margin }, () => ({ index: 0, share: 0, ofBot: 1, ofAuthor: 1 })),
  };
}

/** A segment with terms of a query. */
export type Candidate = Omit<Find, 'score' | 'index'>;

/** What all segments of a search are scored by. */
interface Scoring {
  readonly weights: RankingWeights;
  readonly meanLength: number;
  /**
   * When anything was said first and last, in milliseconds since the epoch; only where the query asks for
   * what holds now.
   */
  readonly times?: { readonly first: number; readonly last: number } | undefined;
  readonly sheet: ReturnType<typeof createScoreSheet>;
  readonly highestFactors: Float64Array;
}

/** Tolerance for summing in another order. */
const rounding = 1 - 1e-9;

/** The scores of a segment's units for one query, term after term. A sheet serves one at a time. */
export class SegmentScores {
  readonly #of: Candidate;
  readonly #by: Scoring;
  /** The sheet's columns for the segment's words. */
  readonly #words = new Map<string, Float64Array>();
  #mostOfFields = 0;

  constructor(of: Candidate, by: Scoring) {
    this.#of = of;
    this.#by = by;
    by.sheet.own.fill(0, 0, of.segment.lengthOf.length + 2 * margin);
  }

  /** Adds a property of the whole text, which neighbours do not lend. */
  addField(place: number, value: number): void {
    const { fields } = this.#by.sheet;
    const { admits, segment } = this.#of;
    if (this.#mostOfFields === 0) fields.fill(0, 0, segment.lengthOf.length);
    this.#mostOfFields += value;
    for (const posting of postingsAt(segment, place)) {
      const index = unitOf(posting);
      if (admits === undefined || admits(index)) fields[index] = (fields[index] ?? 0) + value;
    }
  }

  /** Adds a term by BM25 under the query's word; of several in a text the best counts most. */
  addWord(place: number, value: number, word: string): void {
    const { saturation, alike } = this.#by.weights;
    const { own, ofWords, once, base, perTerm } = this.#by.sheet;
    const { admits, segment } = this.#of;
    const { lengthOf, starts, postings } = segment;
    const known = this.#words.get(word);
    const ofWord = known ?? ofWords[this.#words.size] ?? new Float64Array();
    if (known === undefined) ofWord.fill(0, 0, lengthOf.length);
    this.#words.set(word, ofWord);
    const end = starts[place + 1] ?? 0;
    for (let at = starts[place] ?? 0; at < end; at += 1) {
      const posting = postings[at] ?? 0;
      const index = unitOf(posting);
      if (admits !== undefined && !admits(index)) continue;
      const count = countOf(posting);
      const length = lengthOf[index] ?? 0;
      const score =
        count === 1 && length < tabledLength
          ? value * (once[length] ?? 0)
          : (value * count * (saturation + 1)) / (count + base + perTerm * length);
      const before = ofWord[index] ?? 0;
      const after = before === 0 ? score : Math.max(before, score) + alike * Math.min(before, score);
      own[index + margin] = (own[index + margin] ?? 0) + after - before;
      ofWord[index] = after;
    }
  }

  /** Offers every hit that may score at least the present minimum. */
  collect(query: RecallQuery, top: TopHits): void {
    const { source, order, segment, places, admits } = this.#of;
    const { answer, stretch, neighbours, sameAuthor } = this.#by.weights;
    const { sheet } = this.#by;
    const mostOfOthers = this.#mostOfFields + stretch * this.#sumStretches();
    const mostLent = Math.max(1, sameAuthor) * Math.max(1, this.#carried());
    const [nearest = 0, second = 0, third = 0] = neighbours.map((share) => mostLent * share);
    const most = { answer, nearest, second, third };
    this.#setLimits(top.least, mostOfOthers);
    for (
      let index = nextAbove(sheet, segment.traitsOf, most, 0);
      index !== -1;
      index = nextAbove(sheet, segment.traitsOf, most, index + 1)
    ) {
      const { least } = top;
      const score = this.#scoreOf(index, query, least);
      if (score === undefined || score < least) continue;
      top.add({ source, score, segment, index, order, places, admits });
      if (top.least !== least) this.#setLimits(top.least, mostOfOthers);
    }
  }

  /** Factor for a text without words of the query. Lines of a file belong together. */
  #carried(): number {
    return this.#of.source === 'messages' ? this.#by.weights.carried : 0;
  }

  /** What a unit of each kind needs from words to score `least`. */
  #setLimits(least: number, mostOfOthers: number): void {
    const { highestFactors, sheet } = this.#by;
    for (let traits = 0; traits <= allTraits; traits += 1)
      sheet.limits[traits] =
        (least * rounding) / Math.max(Number.EPSILON, highestFactors[traits] ?? 0) - mostOfOthers;
  }

  /** `undefined` for no hit, or a score below `least`. */
  #scoreOf(index: number, query: RecallQuery, least: number): number | undefined {
    const { answer, stretch } = this.#by.weights;
    const { own, fields, stretches, lenders } = this.#by.sheet;
    if (this.#of.admits?.(index) === false) return undefined;
    const here = own[index + margin] ?? 0;
    const ofFields = this.#mostOfFields === 0 ? 0 : (fields[index] ?? 0);
    const answered = this.#answered(index);
    const lending = this.#findLenders(index);
    let lent = 0;
    for (let at = 0; at < lending; at += 1) {
      const lender = lenders[at];
      if (lender === undefined) continue;
      lent += (own[lender.index + margin] ?? 0) * lender.share * lender.ofBot * lender.ofAuthor;
    }
    if (here === 0 && lent === 0 && ofFields === 0 && answered === 0) return undefined;
    const others = ofFields + stretch * (stretches[index] ?? 0);
    const factor = this.#factor(index, query);
    const carried = this.#carried();
    const mostOfWords = here > 0 ? here + lent : carried * lent;
    if ((mostOfWords + others + answer * answered) * factor < least * rounding) return undefined;
    const ofWords =
      here > 0 ? this.#wordsOf(index, lending, 1) : this.#wordsOf(index, lending, leastCarried) * carried;
    if (ofWords === 0 && ofFields === 0 && answered === 0) return undefined;
    return (ofWords + others + answer * answered) * factor;
  }

  /** A unit's words with those lent within the stretch; nothing where too few. */
  #wordsOf(index: number, lending: number, least: number): number {
    const { bestOccurrence } = this.#by.weights;
    const { lenders } = this.#by.sheet;
    let words = 0;
    let count = 0;
    for (const ofWord of this.#words.values()) {
      let best = ofWord[index] ?? 0;
      let sum = best;
      for (let at = 0; at < lending; at += 1) {
        const lender = lenders[at];
        if (lender === undefined) continue;
        const lent = (ofWord[lender.index] ?? 0) * lender.share * lender.ofBot * lender.ofAuthor;
        sum += lent;
        if (lent > best) best = lent;
      }
      if (best > 0) count += 1;
      words += (1 - bestOccurrence) * sum + bestOccurrence * best;
    }
    return count < least ? 0 : words;
  }

  /** Returns their number. */
  #findLenders(index: number): number {
    const { neighbours, botLent, sameAuthor } = this.#by.weights;
    const { lenders } = this.#by.sheet;
    const { stretchOf, traitsOf, authorOf } = this.#of.segment;
    const size = stretchOf.length;
    const last = Math.min(size - 1, index + neighbours.length);
    let count = 0;
    for (let other = Math.max(0, index - neighbours.length); other <= last; other += 1) {
      const ofBot = ((traitsOf[other] ?? 0) & trait.isBot) === 0 ? 1 : botLent;
      const lender = lenders[count];
      if (other === index || ofBot === 0 || stretchOf[other] !== stretchOf[index] || lender === undefined)
        continue;
      lender.index = other;
      lender.share = neighbours[Math.abs(other - index) - 1] ?? 0;
      lender.ofBot = ofBot;
      lender.ofAuthor = authorOf[other] === authorOf[index] ? sameAuthor : 1;
      count += 1;
    }
    return count;
  }

  /** The preceding question's words, where this unit answers somebody else. */
  #answered(index: number): number {
    const { traitsOf, stretchOf, authorOf } = this.#of.segment;
    const isAsked = ((traitsOf[index - 1] ?? 0) & trait.asks) !== 0;
    if (!isAsked || stretchOf[index - 1] !== stretchOf[index] || authorOf[index - 1] === authorOf[index])
      return 0;
    return this.#by.sheet.own[index - 1 + margin] ?? 0;
  }

  #factor(index: number, query: RecallQuery): number {
    const { namedAuthor, time, question, bot, longer, number, name, askedName, now } = this.#by.weights;
    const { traitsOf, authors, authorOf, statementShareOf, timeOf, lengthOf } = this.#of.segment;
    const { times } = this.#by;
    const traits = traitsOf[index] ?? 0;
    const isNamed = query.isNamedAuthor(authors[authorOf[index] ?? 0] ?? '');
    let factor = 1 - question * (1 - (statementShareOf[index] ?? 0));
    const length = (1 + (lengthOf[index] ?? 0)) / this.#by.meanLength;
    factor *= 1 + longer * (length >= Math.E ? 1 : length <= 1 / Math.E ? -1 : Math.log(length));
    if (isNamed) factor *= 1 + namedAuthor;
    if ((traits & trait.isBot) !== 0 && !isNamed && !query.meansBot) factor *= bot;
    if (query.asksWhen && (traits & trait.tellsWhen) !== 0) factor *= 1 + time;
    if ((traits & trait.hasNumber) !== 0) factor *= 1 + number;
    if ((traits & trait.hasName) !== 0) factor *= query.asksName ? 1 + name + askedName : 1 + name;
    if (times !== undefined)
      factor *= 1 + now * Math.max(0, ((timeOf[index] ?? 0) - times.first) / (times.last - times.first));
    return factor;
  }

  /** Sums each stretch's three best; returns the highest sum. */
  #sumStretches(): number {
    const { own, lent, lends, stretches: sums } = this.#by.sheet;
    const { stretchStarts, traitsOf } = this.#of.segment;
    const { botStretch } = this.#by.weights;
    const size = traitsOf.length;
    lent.fill(0, size + margin, size + 2 * margin);
    let highest = 0;
    for (let [stretch, start] = [1, 0]; stretch < stretchStarts.length; stretch += 1) {
      const end = stretchStarts[stretch] ?? 0;
      let [first, second, third] = [0, 0, 0];
      for (let index = start; index < end; index += 1) {
        const traits = traitsOf[index] ?? 0;
        const whole = own[index + margin] ?? 0;
        lent[index + margin] = whole * (lends[traits] ?? 0);
        if (whole <= third) continue;
        const score = (traits & trait.isBot) === 0 ? whole : whole * botStretch;
        if (score <= third) continue;
        third = score < second ? score : second;
        if (score > second) second = score < first ? score : first;
        if (score > first) first = score;
      }
      const sum = first + second + third;
      sums.fill(sum, start, end);
      highest = Math.max(highest, sum);
      start = end;
    }
    return highest;
  }
}

/**
 * The next unit whose words may reach the limits, if all around were of one stretch and lent `most`; -1 for
 * none. Most of a search's time is spent here, so it does nothing else and its branches are predictable.
 */
function nextAbove(
  { own, lent, limits }: ReturnType<typeof createScoreSheet>,
  traitsOf: Uint8Array,
  { answer, nearest, second, third }: Readonly<Record<'answer' | 'nearest' | 'second' | 'third', number>>,
  from: number,
): number {
  // A sliding window from the third unit before to the third after.
  let before3 = lent[from] ?? 0;
  let before2 = lent[from + 1] ?? 0;
  let before1 = lent[from + 2] ?? 0;
  let present = lent[from + margin] ?? 0;
  let after1 = lent[from + 4] ?? 0;
  let after2 = lent[from + 5] ?? 0;
  let asked = own[from + 2] ?? 0;
  for (let index = from; index < traitsOf.length; index += 1) {
    const after3 = lent[index + 2 * margin] ?? 0;
    const here = own[index + margin] ?? 0;
    const ofNeighbours =
      nearest * (before1 + after1) + second * (before2 + after2) + third * (before3 + after3);
    if (here + answer * asked + ofNeighbours >= (limits[traitsOf[index] ?? 0] ?? 0)) return index;
    before3 = before2;
    before2 = before1;
    before1 = present;
    present = after1;
    after1 = after2;
    after2 = after3;
    asked = here;
  }
  return -1;
}

/** The highest factor that a unit can have, by its traits. */
export function highestFactorsOf(
  { authorTerms, asksWhen, asksName, asksNow, meansBot }: RecallQuery,
  { namedAuthor, time, bot, longer, number, name, askedName, now }: RankingWeights,
): Float64Array {
  const mayBeNamed = authorTerms.size > 0;
  const ofAll = (1 + longer) * (mayBeNamed ? 1 + namedAuthor : 1) * (asksNow ? 1 + now : 1);
  return valuesOfTraits((traits) => {
    let factor = ofAll;
    if ((traits & trait.isBot) !== 0 && !mayBeNamed && !meansBot) factor *= bot;
    if (asksWhen && (traits & trait.tellsWhen) !== 0) factor *= 1 + time;
    if ((traits & trait.hasNumber) !== 0) factor *= 1 + number;
    if ((traits & trait.hasName) !== 0) factor *= asksName ? 1 + name + askedName : 1 + name;
    return factor;
  });
}

const allTraits = Object.values(trait).reduce((sum, each) => sum + each, 0);

/** A value for each combination of traits, to be looked up without a branch. */
function valuesOfTraits(value: (traits: number) => number): Float64Array {
  return Float64Array.from({ length: allTraits + 1 }, (_, traits) => value(traits));
}
