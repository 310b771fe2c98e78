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
      /** In `messages.jsonl`. */
      readonly line: number;
    }
  | {
      readonly kind: 'line';
      /** As the memory tools name it: `detail/auth-design.md`. */
      readonly path: string;
      /** From 1. */
      readonly line: number;
      /** Absent for files of no session. */
      readonly channelId?: string;
    }
  | { readonly kind: 'item'; readonly id: string };

/** What is found as one: a message, a line of a file, an item. */
export interface RecallUnit {
  readonly text: string;
  /** Empty where nobody is named. */
  readonly author: string;
  /** ISO 8601; absent where unknown. */
  readonly at?: string;
  /** Said by the bot, whose words count less. */
  readonly isBot: boolean;
  /** It may repeat others' words, or a file's [M5a]. */
  readonly hasThirdPartyText: boolean;
  /** For an answer that may, when these were last in view; ISO 8601, UTC. */
  readonly thirdPartyTextAt?: string;
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

/** What an index holds of a unit. */
export interface ReadUnit {
  readonly unit: RecallUnit;
  /** In order, repeated ones included. */
  readonly terms: readonly string[];
  /** Beginnings of words, time, id. */
  readonly fields: readonly string[];
  /** By length, what is not questions. */
  readonly statementShare: number;
  readonly traits: number;
}

/** Bits of a unit's traits. */
export const trait = { asks: 1, tellsWhen: 2, isBot: 4, hasNumber: 8, hasName: 16 } as const;

/** Facts by reach, so that what may not be told does not show in statistics either. */
interface ReachCount {
  readonly reach: Reach;
  units: number;
  terms: number;
  /** Milliseconds since the epoch, as far as known. */
  first: number;
  last: number;
}

/**
 * An inverted index over neighbouring units, as plain data without texts. What ends in `Of` has an element a
 * unit.
 */
export interface SegmentIndex {
  /** Of all terms, ascending; the n-th's postings begin at `starts[n]`. */
  readonly keys: Float64Array;
  readonly starts: Uint32Array;
  readonly postings: Uint16Array;
  /** The number of terms. */
  readonly lengthOf: Uint16Array;
  readonly stretchOf: Uint32Array;
  /** The first unit of each stretch, then the number of units. */
  readonly stretchStarts: Uint16Array;
  /** Milliseconds since the epoch, 0 where unknown. */
  readonly timeOf: Float64Array;
  readonly statementShareOf: Float64Array;
  readonly traitsOf: Uint8Array;
  readonly authors: readonly string[];
  readonly authorOf: Uint32Array;
  readonly reaches: readonly Readonly<ReachCount>[];
  readonly reachOf: Uint32Array;
}

/** A file, a block of a message log, or all items. */
export interface Segment extends SegmentIndex {
  readonly unit: (index: number) => RecallUnit;
}

export function readUnit({ terms, dates }: TextReaders, unit: RecallUnit): ReadUnit {
  const { text, at, reference } = unit;
  const questions = questionsIn(text);
  const asks = questions > 0 ? trait.asks : 0;
  const read = terms.readWhole(text);
  return {
    unit,
    terms: read.terms,
    fields: [
      ...read.beginnings.keys(),
      ...(at === undefined ? [] : dates.termsOf(at)),
      ...(reference.kind === 'message' ? [messageTerm(reference.messageId)] : []),
    ],
    statementShare: text.length === 0 ? 0 : 1 - questions / text.length,
    traits:
      asks |
      (tellsWhen(text) ? trait.tellsWhen : 0) |
      (unit.isBot ? trait.isBot : 0) |
      (/\d/u.test(text) ? trait.hasNumber : 0) |
      (nameInside.test(text) ? trait.hasName : 0),
  };
}

/** A capitalised word that does not begin a sentence. */
const nameInside = /[\p{Ll}\p{N},;:] \p{Lu}\p{Ll}/u;

/** As many segments as needed; `title` as below. */
export function segmentsOf(units: readonly ReadUnit[], title: readonly string[] = []): readonly Segment[] {
  const parts = Math.ceil(units.length / mostUnits);
  return Array.from({ length: parts }, (_, part) =>
    segmentOf(units.slice(part * mostUnits, (part + 1) * mostUnits), title),
  );
}

/** `title` has terms of a file's name, by which all units are found. */
export function segmentOf(units: readonly ReadUnit[], title: readonly string[] = []): Segment {
  const all = units.map(({ unit }) => unit);
  return { ...indexUnits(units, title), unit: (index) => elementOf(all, index) };
}

/** @throws {RangeError} where there is none. */
export function elementOf<T>(all: readonly T[], index: number): T {
  const found = all[index];
  if (found === undefined) throw new RangeError(`No element ${index} among ${all.length}`);
  return found;
}

/** @throws {RangeError} for more units than one segment takes. */
function indexUnits(units: readonly ReadUnit[], title: readonly string[] = []): SegmentIndex {
  if (units.length > mostUnits) throw new RangeError(`${units.length} units are too many for one segment`);
  const found = new Map<string, number[]>();
  const reaches: ReachCount[] = [];
  const authors = new Set<string>();
  const titles = new Set(title.map(titleTerm));
  const reachOf = new Uint32Array(units.length);
  for (const [index, { unit, terms, fields }] of units.entries()) {
    for (const some of [terms, fields, titles]) for (const term of some) post(found, term, index);
    authors.add(unit.author);
    const known = reaches.findIndex(({ reach }) => isSameReach(reach, unit.reach));
    reachOf[index] =
      known === -1
        ? reaches.push({ reach: unit.reach, units: 0, terms: 0, first: Infinity, last: 0 }) - 1
        : known;
    const count = elementOf(reaches, reachOf[index] ?? 0);
    count.units += 1;
    count.terms += terms.length;
    const time = Date.parse(unit.at ?? '') || Infinity;
    count.first = Math.min(count.first, time);
    if (time < Infinity) count.last = Math.max(count.last, time);
  }
  const byKey = Array.from(found, ([term, list]) => ({ key: keyOf(term), list }));
  byKey.sort((one, other) => one.key - other.key);
  const starts = new Uint32Array(byKey.length + 1);
  for (const [at, { list }] of byKey.entries()) starts[at + 1] = (starts[at] ?? 0) + list.length;
  const postings = new Uint16Array(starts.at(-1) ?? 0);
  for (const [at, { list }] of byKey.entries()) postings.set(list, starts[at]);
  const authorAt = new Map(Array.from(authors, (author, at) => [author, at]));
  return {
    keys: Float64Array.from(byKey, ({ key }) => key),
    starts,
    postings,
    lengthOf: Uint16Array.from(units, ({ terms }) => Math.min(terms.length, mostLength)),
    stretchOf: Uint32Array.from(units, ({ unit }) => unit.stretch),
    stretchStarts: Uint16Array.from([
      ...[...units.keys()].filter((at) => units[at]?.unit.stretch !== units[at - 1]?.unit.stretch),
      units.length,
    ]),
    timeOf: Float64Array.from(units, ({ unit }) => Date.parse(unit.at ?? '') || 0),
    statementShareOf: Float64Array.from(units, ({ statementShare }) => statementShare),
    traitsOf: Uint8Array.from(units, ({ traits }) => traits),
    authors: [...authors],
    authorOf: Uint32Array.from(units, ({ unit }) => authorAt.get(unit.author) ?? 0),
    reaches,
    reachOf,
  };
}

function post(found: Map<string, number[]>, term: string, index: number): void {
  const list = found.get(term);
  const last = list?.at(-1) ?? 0;
  if (list === undefined) found.set(term, [(index << countBits) | 1]);
  else if (unitOf(last) !== index) list.push((index << countBits) | 1);
  else if (countOf(last) < countMask) list[list.length - 1] = last + 1;
}

/** The place of a key, -1 where absent. Interpolation search: keys are evenly spread. */
export function placeOf({ keys }: SegmentIndex, key: number): number {
  const gap = 2 ** 53 / keys.length;
  const expected = Math.floor(key / gap);
  const corrected = expected + Math.trunc((key - (keys[expected] ?? key)) / gap);
  let at = Math.max(0, Math.min(keys.length - 1, corrected));
  while ((keys[at] ?? Infinity) < key) at += 1;
  while (at > 0 && (keys[at - 1] ?? 0) >= key) at -= 1;
  return keys[at] === key ? at : -1;
}

/** Where the term at a place occurs; empty for -1. */
export function postingsAt({ starts, postings }: SegmentIndex, place: number): Uint16Array {
  return postings.subarray(starts[place] ?? 0, starts[place + 1] ?? 0);
}

/** Whether a unit has the term at a place. */
export function holds({ starts, postings }: SegmentIndex, place: number, index: number): boolean {
  if (place === -1) return false;
  let from = starts[place] ?? 0;
  const end = starts[place + 1] ?? 0;
  for (let to = end; from < to;) {
    const middle = (from + to) >>> 1;
    if (unitOf(postings[middle] ?? 0) < index) from = middle + 1;
    else to = middle;
  }
  return from < end && unitOf(postings[from] ?? -1) === index;
}

/**
 * A posting packs a unit's index and a count of up to fifteen into 16 bits: postings are most of an index.
 */
const countBits = 4;
const countMask = (1 << countBits) - 1;
const mostUnits = 1 << (16 - countBits);
/** Further terms of a unit do not count. */
const mostLength = 2 ** 16 - 1;

export function unitOf(posting: number): number {
  return posting >> countBits;
}

export function countOf(posting: number): number {
  return posting & countMask;
}

/** Postings of titles are kept apart. */
export function titleTerm(term: string): string {
  return `title:${term}`;
}

/** For leaving a message out. */
export function messageTerm(messageId: string): string {
  return `message:${messageId}`;
}

/** A 53-bit hash, practically free of collisions (cyrb53, public domain). */
export function keyOf(term: string): number {
  let a = 0xdeadbeef;
  let b = 0x41c6ce57;
  for (let index = 0; index < term.length; index += 1) {
    const unit = term.charCodeAt(index);
    a = Math.imul(a ^ unit, 2_654_435_761);
    b = Math.imul(b ^ unit, 1_597_334_677);
  }
  a = Math.imul(a ^ (a >>> 16), 2_246_822_507) ^ Math.imul(b ^ (b >>> 13), 3_266_489_909);
  b = Math.imul(b ^ (b >>> 16), 2_246_822_507) ^ Math.imul(a ^ (a >>> 13), 3_266_489_909);
  return 2 ** 32 * (b & 0x1f_ff_ff) + (a >>> 0);
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
