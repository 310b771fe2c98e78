import { dataLine } from '../../core/section.ts';
import { clip, clipAtWord } from '../../core/text.ts';
import { createTimeSlice } from '../../core/time.ts';
import type { DatedHit } from './earlier.ts';
import type { Hit } from './hits.ts';
import type { RecallQuery } from './query.ts';
import { trait, type RecallUnit, type Segment, type TextReaders } from './segments.ts';
import type { SourceName } from './sources.ts';

/** Characters of a passage at most [C3]. */
const passageChars = 300;
const separator = ' | ';

/** What was found, as it may be shown: one line of data. */
export interface Passage {
  readonly source: SourceName;
  readonly unit: RecallUnit;
  /** The hit, with the lines around it as far as they fit. */
  readonly content: string;
  /** Whether the hit or a line around it may repeat what is not the owner's [M5a]. */
  readonly hasThirdPartyText: boolean;
  readonly score: number;
}

/**
 * Shows hits with the lines around them, but never a line that `isHidden`. No line is shown twice: one that is a hit of its own is not
 * repeated beside its neighbour.
 */
export async function passagesOf(
  hits: readonly DatedHit[],
  wordings: readonly RecallQuery[],
  { terms, dates }: TextReaders,
  isHidden: (unit: RecallUnit) => boolean,
): Promise<readonly Passage[]> {
  const wanted = new Set(wordings.flatMap(({ terms: ofWording }) => ofWording.map(({ term }) => term)));
  const isWord = (word: string): boolean => terms.read(word).some((term) => wanted.has(term));
  const shown = new Map<Segment, Set<number>>();
  for (const { segment, index } of hits) {
    shown.set(segment, (shown.get(segment) ?? new Set<number>()).add(index));
  }
  const pause = createTimeSlice();
  const passages: Passage[] = [];
  for (const hit of hits) {
    const { source, unit, score } = hit;
    const day = unit.at === undefined ? '' : dates.dayOf(unit.at);
    const date = day === '' ? '' : `[${day}] ${hit.isEarlier ? '(earlier) ' : ''}`;
    const room = passageChars - date.length;
    const author = authorOf(unit);
    const line = author + excerpt(dataLine(unit.text), room - author.length, isWord);
    const taken = shown.get(hit.segment) ?? new Set<number>();
    const { text, hasThirdPartyText } = withNeighbours(hit, line, room, taken, isHidden);
    passages.push({ source, unit, content: date + text, hasThirdPartyText, score });
    await pause();
  }
  return passages;
}

/** The hit's line with those around it in its stretch, as far as they fit into `room`; they are `taken` then. */
function withNeighbours(
  { segment, index, unit }: Hit,
  hitLine: string,
  room: number,
  taken: Set<number>,
  isHidden: (unit: RecallUnit) => boolean,
): { readonly text: string; readonly hasThirdPartyText: boolean } {
  let { hasThirdPartyText } = unit;
  const lines = [hitLine];
  let used = hitLine.length;

  /** Adds a neighbour whole, or not at all. */
  const add = (at: number, isBefore: boolean): boolean => {
    if (segment.stretchOf[at] !== unit.stretch || taken.has(at)) return false;
    const neighbour = segment.unit(at);
    if (isHidden(neighbour)) return false;
    const text = dataLine(neighbour.text);
    const line = text === '' ? '' : authorOf(neighbour) + text;
    if (line === '' || used + separator.length + line.length > room) return false;
    used += separator.length + line.length;
    taken.add(at);
    hasThirdPartyText ||= neighbour.hasThirdPartyText;
    if (isBefore) lines.unshift(line);
    else lines.push(line);
    return true;
  };

  let before = index;
  let after = index;
  // An answer tells more of a question than what was said before it.
  let isBefore = ((segment.traitsOf[index] ?? 0) & trait.asks) === 0;
  let canGo = { before: true, after: true };
  while (canGo.before || canGo.after) {
    if (isBefore && canGo.before) {
      canGo = { ...canGo, before: add(before - 1, true) };
      if (canGo.before) before -= 1;
    } else if (!isBefore && canGo.after) {
      canGo = { ...canGo, after: add(after + 1, false) };
      if (canGo.after) after += 1;
    }
    isBefore = !isBefore;
  }
  return { text: lines.join(separator), hasThirdPartyText };
}

function authorOf({ author }: RecallUnit): string {
  return author === '' ? '' : `${clip(dataLine(author), 40)}: `;
}

/** The part of a long line around its first word of the query. */
function excerpt(line: string, max: number, isWord: (word: string) => boolean): string {
  if (line.length <= max) return line;
  const match = [...line.matchAll(/[\p{L}\p{M}\p{N}]+/gu)].find(([word]) => isWord(word));
  const start = Math.max(0, (match?.index ?? 0) - Math.floor(max / 4));
  if (start === 0) return clipAtWord(line, max);
  const rest = line.slice(start).replace(/^[\udc00-\udfff]/u, '');
  const atWord = rest.replace(/^\S{0,40}\s+/u, '');
  return clipAtWord(`…${atWord}`, max);
}
