import { isQuestion } from '../../core/text.ts';
import type { Reach } from '../../core/visibility.ts';
import { termsOfDaysIn, type Dates } from './dates.ts';
import type { TermReader } from './words.ts';

/** What a passage is cited by. */
export type Reference =
  | {
      readonly kind: 'message';
      readonly channelId: string;
      /** Absent in DMs. */
      readonly guildId?: string | undefined;
      readonly messageId: string;
    }
  | {
      readonly kind: 'line';
      /** As the memory tools name it: `detail/auth-design.md`. */
      readonly path: string;
      /** From 1. */
      readonly line: number;
      /** Absent for files of no session. */
      readonly channelId?: string | undefined;
    }
  | { readonly kind: 'item'; readonly id: string };

/** What is found as one: a message, a line of a file, an item. */
export interface RecallUnit {
  readonly text: string;
  /** Empty where nobody is named. */
  readonly author: string;
  /** ISO 8601; absent where unknown. */
  readonly at?: string | undefined;
  /** Said by the bot, whose words count less. */
  readonly isBot: boolean;
  /** Where it may repeat others' words, or a file's [M5a]. */
  readonly thirdPartyMark?: string | undefined;
  /** Units of one origin share one object. */
  readonly reach: Reach;
  /** Neighbours count only within a stretch: a sitting of a conversation, a file, an item. */
  readonly stretch: number;
  readonly reference: Reference;
}

/** What texts and queries are read with. */
export interface TextReaders {
  readonly terms: TermReader;
  readonly dates: Dates;
}

/** What ranking has to know of a unit's text. */
export interface TextFacts {
  /** Milliseconds since the epoch, 0 where unknown. */
  readonly time: number;
  /** By length, what is not questions. */
  readonly statementShare: number;
  readonly asks: boolean;
  readonly hasNumber: boolean;
  readonly hasName: boolean;
  /** In terms. */
  readonly length: number;
}

/** An inverted index over neighbouring units for the same readers: a file, an item, or messages of a session. */
export interface Segment {
  readonly reach: Reach;
  readonly units: RecallUnit[];
  /** Of each unit. */
  readonly facts: TextFacts[];
  /** The indexes of the units that have a term, ascending, each as often as the unit has it. */
  readonly postings: Map<string, number[]>;
  readonly authors: Set<string>;
  /** Of what people said, as the bot's answers are much longer. */
  readonly ofPeople: { units: number; terms: number };
}

export function createSegment(reach: Reach): Segment {
  return {
    reach,
    units: [],
    facts: [],
    postings: new Map(),
    authors: new Set(),
    ofPeople: { units: 0, terms: 0 },
  };
}

export function segmentOf(reach: Reach, units: readonly RecallUnit[], readers: TextReaders): Segment {
  const segment = createSegment(reach);
  for (const unit of units) addUnit(segment, unit, readers);
  return segment;
}

/** `fields` has further terms by which the unit is found. */
export function addUnit(
  segment: Segment,
  unit: RecallUnit,
  { terms, dates }: TextReaders,
  fields: Iterable<string> = [],
): void {
  const { text, at } = unit;
  const read = terms.readWhole(text);
  const index = segment.units.length;
  const post = (term: string): void => {
    const known = segment.postings.get(term);
    if (known === undefined) segment.postings.set(term, [index]);
    else known.push(index);
  };
  for (const term of read.terms) post(term);
  for (const beginning of read.beginnings.keys()) post(beginning);
  const days = new Set([...(at === undefined ? [] : dates.termsOf(at)), ...termsOfDaysIn(text)]);
  for (const day of days) post(day);
  for (const field of fields) post(field);
  const questions = questionsIn(text);
  segment.units.push(unit);
  if (!unit.isBot) {
    segment.ofPeople.units += 1;
    segment.ofPeople.terms += read.terms.length;
  }
  segment.facts.push({
    time: Date.parse(at ?? '') || 0,
    statementShare: text.length === 0 ? 0 : 1 - questions / text.length,
    asks: questions > 0,
    hasNumber: /\d/u.test(text),
    hasName: nameInside.test(text),
    length: read.terms.length,
  });
  segment.authors.add(unit.author);
}

/** A capitalised word that does not begin a sentence. */
const nameInside = /[\p{Ll}\p{N},;:] \p{Lu}\p{Ll}/u;

/** Calls `use` with each unit that has a term, and how often it has it. */
export function eachWith(
  { postings }: Segment,
  term: string,
  use: (index: number, count: number) => void,
): void {
  const indexes = postings.get(term) ?? [];
  for (let [from, to] = [0, 0]; from < indexes.length; from = to) {
    const index = indexes[from] ?? 0;
    while (indexes[to] === index) to += 1;
    use(index, to - from);
  }
}

/** Whether the unit with that index has a term. */
export function holds({ postings }: Segment, term: string, index: number): boolean {
  return postings.get(term)?.includes(index) === true;
}

/** Characters of a text that belong to questions; of a sentence only what follows its last comma, since people first say what it is about. */
function questionsIn(text: string): number {
  let length = 0;
  for (const [sentence] of text.matchAll(/[^.!?？؟。！\n]+[.!?？؟。！\n]*/gu)) {
    if (isQuestion(sentence)) length += sentence.split(/[,，、،]/u).at(-1)?.length ?? 0;
  }
  return Math.min(length, text.length);
}
