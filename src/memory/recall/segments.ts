import { isSameReach, type Reach } from '../../core/visibility.ts';
import { tellsWhen, type Dates } from './dates.ts';
import type { TermReader } from './words.ts';

/** What a passage is cited by. */
export type Reference =
  | {
      readonly kind: 'message';
      readonly channelId: string;
      /** Absent in DMs. */
      readonly guildId?: string;
      readonly messageId: string;
      /** The number of its line in `messages.jsonl`. */
      readonly line: number;
    }
  | {
      readonly kind: 'line';
      /** As the memory tools name the file: `detail/auth-design.md`. */
      readonly path: string;
      /** From 1. */
      readonly line: number;
      /** The session that a file belongs to, where it belongs to one. */
      readonly channelId?: string;
    }
  | { readonly kind: 'item'; readonly id: string };

/** What is found as one: a message, a line of a file, an item. */
export interface RecallUnit {
  readonly text: string;
  /** Empty where nobody is named. */
  readonly author: string;
  /** ISO 8601; absent where it is not known. */
  readonly at?: string;
  /** Said by the bot, whose words count less. */
  readonly isBot: boolean;
  /** It may repeat what is not the owner's: other people's words, or a file's [M5a]. */
  readonly hasThirdPartyText: boolean;
  /** Units of one origin share one object. */
  readonly reach: Reach;
  /** Neighbours in a file are neighbours in meaning only within one stretch: a sitting of a conversation, a file, an item. */
  readonly stretch: number;
  readonly reference: Reference;
}

/** What texts and queries are read with. */
export interface TextReaders {
  readonly terms: TermReader;
  readonly dates: Dates;
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

/** What is known of all units of one reach, so that what may not be told does not even show in statistics. */
interface ReachCount {
  readonly reach: Reach;
  units: number;
  terms: number;
}

/** An inverted index over neighbouring units: a file, or a part of a message log. Grows at its end only; anything else makes a new one. */
export class Segment {
  readonly #readers: TextReaders;
  readonly #postings = new Map<string, number[]>();
  readonly #traits: UnitTraits[] = [];
  readonly #lengths: number[] = [];
  readonly #stretches: number[] = [];
  readonly #reaches: ReachCount[] = [];
  readonly #authors = new Set<string>();

  constructor(readers: TextReaders, units: Iterable<RecallUnit>) {
    this.#readers = readers;
    for (const unit of units) this.add(unit);
  }

  /** Has every unit so far found by these terms too: those of a file's name. */
  title(titleTerms: readonly string[]): void {
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

  get reaches(): readonly Readonly<ReachCount>[] {
    return this.#reaches;
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
    const count = this.#reaches[reach];
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
    const known = this.#reaches.findIndex((other) => isSameReach(other.reach, reach));
    return known === -1 ? this.#reaches.push({ reach, units: 0, terms: 0 }) - 1 : known;
  }
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
