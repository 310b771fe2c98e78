import type { Dates } from './dates.ts';
import type { Reach, RecallUnit } from './recall-unit.ts';
import type { TermReader } from './term-reader.ts';
import { tellsWhen } from './time-words.ts';

/** What reads texts into segments. */
export interface SegmentReaders {
  readonly terms: TermReader;
  readonly dates: Dates;
}

/** Postings pack a unit's index and how often the term stands in it, up to fifteen times, into one number. */
const countBits = 4;
const countMask = (1 << countBits) - 1;

export function unitOf(posting: number): number {
  return posting >> countBits;
}

export function countOf(posting: number): number {
  return posting & countMask;
}

/** What is known of all units of one reach, so that what may not be told does not even show in statistics. */
export interface ReachCount {
  units: number;
  terms: number;
}

/** What ranking needs to know of a unit besides its terms. */
export interface UnitTraits {
  readonly unit: RecallUnit;
  /** Which of the segment's reaches. */
  readonly reach: number;
  /** Has a question. */
  readonly asks: boolean;
  /** The share of the text that is not questions, by length. */
  readonly statementShare: number;
  readonly tellsWhen: boolean;
}

/** An inverted index over neighbouring units: a file, or a part of a message log. Grows at its end only; anything else makes a new one. */
export class Segment {
  readonly #readers: SegmentReaders;
  readonly #postings = new Map<string, number[]>();
  readonly #traits: UnitTraits[] = [];
  readonly #lengths: number[] = [];
  readonly #stretches: number[] = [];
  readonly #reaches: Reach[] = [];
  readonly #reachCounts: ReachCount[] = [];
  readonly #authors = new Set<string>();

  /** `titleTerms` are found in each unit: a file's name. */
  constructor(readers: SegmentReaders, units: Iterable<RecallUnit>, titleTerms: readonly string[] = []) {
    this.#readers = readers;
    for (const unit of units) this.add(unit);
    for (const term of new Set(titleTerms)) {
      this.#postings.set(
        titleTerm(term),
        [...this.#traits.keys()].map((index) => (index << countBits) | 1),
      );
    }
  }

  get traits(): readonly UnitTraits[] {
    return this.#traits;
  }

  /** Each unit's number of terms. */
  get lengths(): readonly number[] {
    return this.#lengths;
  }

  /** Each unit's stretch; units of a stretch stand together. */
  get stretches(): readonly number[] {
    return this.#stretches;
  }

  get reaches(): readonly Reach[] {
    return this.#reaches;
  }

  get reachCounts(): readonly ReachCount[] {
    return this.#reachCounts;
  }

  get authors(): ReadonlySet<string> {
    return this.#authors;
  }

  postings(term: string): readonly number[] {
    return this.#postings.get(term) ?? [];
  }

  add(unit: RecallUnit): void {
    const index = this.#traits.length;
    const terms = this.#readers.terms.read(unit.text);
    const reach = this.#reachIndex(unit.reach);
    const questions = questionsIn(unit.text);
    this.#traits.push({
      unit,
      reach,
      asks: questions > 0,
      statementShare: unit.text.length === 0 ? 0 : 1 - questions / unit.text.length,
      tellsWhen: tellsWhen(unit.text),
    });
    this.#lengths.push(terms.length);
    this.#stretches.push(unit.stretch);
    const count = this.#reachCounts[reach];
    if (count !== undefined) {
      count.units += 1;
      count.terms += terms.length;
    }
    if (unit.author !== '') this.#authors.add(unit.author);
    for (const term of terms) this.#post(term, index);
    if (unit.at !== undefined)
      for (const term of this.#readers.dates.termsOf(unit.at)) this.#post(term, index);
  }

  #post(term: string, index: number): void {
    const list = this.#postings.get(term);
    if (list === undefined) {
      this.#postings.set(term, [(index << countBits) | 1]);
      return;
    }
    const last = list.at(-1);
    if (last === undefined || unitOf(last) !== index) list.push((index << countBits) | 1);
    else if (countOf(last) < countMask) list[list.length - 1] = last + 1;
  }

  #reachIndex(reach: Reach): number {
    const known = this.#reaches.findIndex(
      (other) => other.visibility === reach.visibility && other.homeId === reach.homeId,
    );
    if (known !== -1) return known;
    this.#reachCounts.push({ units: 0, terms: 0 });
    return this.#reaches.push(reach) - 1;
  }
}

/** The form under which a word of a title is posted. */
export function titleTerm(term: string): string {
  return `title:${term}`;
}

/** Characters of a text that belong to questions. */
function questionsIn(text: string): number {
  if (!/[?？؟]/u.test(text)) return 0;
  let length = 0;
  for (const [sentence] of text.matchAll(/[^.!?？؟。！\n]+[.!?？؟。！\n]*/gu)) {
    if (/[?？؟]\s*$/u.test(sentence)) length += sentence.length;
  }
  return Math.min(length, text.length);
}
