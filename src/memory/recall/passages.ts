import { dataLine } from '../../core/section.ts';
import { clip, clipAtWord } from '../../core/text.ts';
import type { DatedHit, Find } from './hits.ts';
import type { RecallQuery } from './words.ts';
import type { RecallUnit, TextReaders } from './segments.ts';
import type { SourceName } from './sources.ts';

/** [C3] */
const passageChars = 300;
const separator = ' | ';

/**
 * A hit's neighbours within reach that were found too, or else right beside it, since texts have to be read.
 */
const around = 20;
const beside = 3;
/** A line that was not found counts about as much as one found at this place. */
const unfoundPlace = 300;
/** How soon a place among what was found counts less. */
const placeOffset = 10;

/** What was found, as one line of data. */
export interface Passage {
  readonly source: SourceName;
  readonly unit: RecallUnit;
  /**
   * The day it was said, followed by `(earlier)` where a newer text about the same thing is known; empty if
   * unknown.
   */
  readonly date: string;
  /** The hit, with the lines around it that fit. */
  readonly content: string;
  /** Of its lines that may repeat others' words [M5a]. */
  readonly marks: readonly string[];
}

export function passagesOf(
  hits: readonly DatedHit[],
  wordings: readonly RecallQuery[],
  { terms, dates }: TextReaders,
  found: readonly (readonly Find[])[],
  isHidden: (unit: RecallUnit) => boolean,
): readonly Passage[] {
  const queryTerms = new Set(wordings.flatMap(({ terms: ofWording }) => ofWording.map(({ term }) => term)));
  const isWord = (word: string): boolean => terms.read(word).some((term) => queryTerms.has(term));
  const shown = new Set<RecallUnit>(hits.map(({ unit }) => unit));
  const places = placesOf(found);
  const passages: Passage[] = [];
  for (const hit of hits) {
    const { source, unit } = hit;
    const day = unit.at === undefined ? '' : dates.dayOf(unit.at);
    const date = day !== '' && hit.isEarlier ? `${day} (earlier)` : day;
    const author = authorOf(unit);
    const line = author + excerpt(dataLine(unit.text), passageChars - author.length, isWord);
    const room = passageChars - line.length;
    const shownWith = neighboursOf(hit, room, places, (other) => shown.has(other) || isHidden(other));
    for (const neighbour of shownWith) shown.add(neighbour.unit);
    const inOrder = [...shownWith, { at: hit.index, line, unit }].toSorted((a, b) => a.at - b.at);
    const content = inOrder.map((each) => each.line).join(separator);
    const marks = inOrder.flatMap((each) => each.unit.thirdPartyMark ?? []);
    passages.push({ source, unit, date, content, marks });
  }
  return passages;
}

/** The neighbours that fit, the most telling first: found ones by place, others by nearness. */
function neighboursOf(
  { segment, index, unit, facts }: Find,
  room: number,
  places: ReadonlyMap<RecallUnit, number>,
  isTaken: (unit: RecallUnit) => boolean,
) {
  // An answer tells more of a question than what was said before it.
  const first = facts.asks ? 1 : -1;
  const neighbours: { at: number; line: string; unit: RecallUnit; worth: number }[] = [];
  for (let distance = 1; distance <= around; distance += 1) {
    for (const at of [index + first * distance, index - first * distance]) {
      const neighbour = segment.units[at];
      if (neighbour?.stretch !== unit.stretch || isTaken(neighbour)) continue;
      const place = places.get(neighbour);
      const text = dataLine(neighbour.text);
      if (text === '' || (distance > beside && place === undefined)) continue;
      const worth = 1 / (placeOffset + (place ?? unfoundPlace * distance));
      neighbours.push({ at, line: authorOf(neighbour) + text, unit: neighbour, worth });
    }
  }
  let left = room;
  return neighbours
    .toSorted((a, b) => b.worth - a.worth)
    .filter(({ line }) => {
      const fits = separator.length + line.length <= left;
      if (fits) left -= separator.length + line.length;
      return fits;
    });
}

/** The best place of each unit in any of the lists. */
function placesOf(lists: readonly (readonly Find[])[]): ReadonlyMap<RecallUnit, number> {
  const places = new Map<RecallUnit, number>();
  for (const list of lists)
    for (const [place, { unit }] of list.entries())
      places.set(unit, Math.min(place, places.get(unit) ?? place));
  return places;
}

function authorOf({ author }: RecallUnit): string {
  return author === '' ? '' : `${clip(dataLine(author), 40)}: `;
}

/** The part of a long line around its first word of the query. */
function excerpt(line: string, max: number, isWord: (word: string) => boolean): string {
  if (line.length <= max) return line;
  const match = [...line.matchAll(/[\p{L}\p{M}\p{N}\p{Default_Ignorable_Code_Point}]+/gu)].find(([word]) =>
    isWord(word),
  );
  const start = Math.max(0, (match?.index ?? 0) - Math.floor(max / 4));
  if (start === 0) return clipAtWord(line, max);
  const rest = line.slice(start).replace(/^[\udc00-\udfff]/u, '');
  const atWord = rest.replace(/^\S{0,40}\s+/u, '');
  return clipAtWord(`…${atWord}`, max);
}
