import { dataText, renderSection } from '../../core/section.ts';
import type { Section } from '../../core/section.ts';
import { clipAtWord } from '../../core/text.ts';
import { plainText } from './plain-text.ts';

/**
 * A file's text as a section that keeps its lines: whole under `title`, or, over the budget, its beginning under `partTitle`, which
 * says where the rest is. The rendered section never exceeds `budget`; a blank text gives no lines.
 */
export function textSection(
  frame: Pick<Section, 'name' | 'slot' | 'title' | 'budget'> & { readonly partTitle: string },
  text: string,
): Section {
  const { partTitle, ...section } = frame;
  const lines = textLines(text);
  if (renderSection({ ...section, lines }).length <= section.budget) return { ...section, lines };
  const part = { ...section, title: partTitle };
  const room = section.budget - (renderSection({ ...part, lines: [''] }).length - 1);
  return { ...part, lines: firstLines(lines, room) };
}

/** The lines of a file as data: indentation stays, other control and invisible characters and blank ends do not. */
function textLines(text: string): readonly string[] {
  const lines = dataText(plainText(text))
    .split('\n')
    .map((line) => line.trimEnd());
  const first = lines.findIndex((line) => line !== '');
  const last = lines.findLastIndex((line) => line !== '');
  return first === -1 ? [] : lines.slice(first, last + 1);
}

/** The longest beginning of at most `room` characters, line breaks counted; the line at its end is cut at a word. */
function firstLines(lines: readonly string[], room: number): readonly string[] {
  const kept: string[] = [];
  let left = room;
  for (const line of lines) {
    if (line.length + 1 > left) {
      // A cut can bare a tag's name that was part of a longer word.
      const cut = dataText(clipAtWord(line, left - 1));
      return cut === '' || cut.length + 1 > left ? kept : [...kept, cut];
    }
    left -= line.length + 1;
    kept.push(line);
  }
  return kept;
}
