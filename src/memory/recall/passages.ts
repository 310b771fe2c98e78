import { dataLine } from '../../core/section.ts';
import { clip, clipAtWord } from '../../core/text.ts';
import type { RecallUnit, SourceName } from './recall-unit.ts';
import type { Segment } from './segment.ts';
import type { Hit } from './top-hits.ts';

/** Characters of a passage at most [C3]. */
const passageChars = 300;

/** What was found, as it may be shown: one line of data. */
export interface Passage {
  readonly source: SourceName;
  readonly unit: RecallUnit;
  /** The hit, with the lines around it as far as they fit. */
  readonly content: string;
  readonly score: number;
}

const separator = ' | ';

export interface PassageOptions {
  /** Whether a word is one of the query's: the part of a long text that matters is around it. */
  readonly isWord: (word: string) => boolean;
  /** What is never shown beside a hit: the messages of the turn that asks. */
  readonly isHidden: (unit: RecallUnit) => boolean;
  /** The local day of a moment. */
  readonly dateOf: (at: string) => string;
}

/** Shows hits with the lines around them. No line is shown twice: one that is a hit of its own is not repeated beside its neighbour. */
export function passagesOf(
  hits: readonly Hit[],
  { isWord, isHidden, dateOf }: PassageOptions,
): readonly Passage[] {
  const shown = new Map<Segment, Set<number>>();
  for (const { segment, index } of hits) {
    shown.set(segment, (shown.get(segment) ?? new Set<number>()).add(index));
  }
  return hits.flatMap((hit): readonly Passage[] => {
    const unit = hit.segment.traits[hit.index]?.unit;
    if (unit === undefined) return [];
    const taken = shown.get(hit.segment) ?? new Set<number>();
    return [
      {
        source: hit.source,
        unit,
        content: contentOf(hit, unit, taken, { isWord, isHidden, dateOf }),
        score: hit.score,
      },
    ];
  });
}

function contentOf(
  { segment, index }: Hit,
  unit: RecallUnit,
  taken: Set<number>,
  { isWord, isHidden, dateOf }: PassageOptions,
): string {
  const day = unit.at === undefined ? '' : dateOf(unit.at);
  const date = day === '' ? '' : `[${day}] `;
  const room = passageChars - date.length;
  const author = unit.author === '' ? '' : `${clip(dataLine(unit.author), 40)}: `;
  const lines = [author + excerpt(dataLine(unit.text), room - author.length, isWord)];
  let used = lines.join('').length;

  /** Adds a neighbour whole, or not at all. */
  const add = (at: number, isBefore: boolean): boolean => {
    const traits = segment.traits[at];
    if (traits === undefined || traits.unit.stretch !== unit.stretch) return false;
    if (taken.has(at) || isHidden(traits.unit)) return false;
    const line = lineOf(traits.unit);
    if (line === '' || used + separator.length + line.length > room) return false;
    used += separator.length + line.length;
    taken.add(at);
    if (isBefore) lines.unshift(line);
    else lines.push(line);
    return true;
  };

  let before = index;
  let after = index;
  // An answer tells more of a question than what was said before it.
  let isBefore = segment.traits[index]?.asks !== true;
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
  return date + lines.join(separator);
}

function lineOf({ author, text }: RecallUnit): string {
  const line = dataLine(text);
  return line === '' || author === '' ? line : `${clip(dataLine(author), 40)}: ${line}`;
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
