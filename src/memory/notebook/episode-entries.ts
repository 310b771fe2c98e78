import { clipAtWord, flatten } from '../../core/text.ts';
import { isDay } from './notebook-tree.ts';

const titleMaxChars = 80;
/** An entry's summary has under 10 words [N4]. */
const summaryMaxWords = 9;

export type ShapedEntries =
  | { readonly outcome: 'shaped'; readonly text: string }
  | { readonly outcome: 'refused'; readonly reason: string };

/**
 * Entries of an episodes file in their form [N4]: `## Title`, `- Summary:` of under 10 words, `- Date:`, free lines. What is missing is
 * filled in: the title from the first line, the summary from the title, the date by `today` (`YYYY-MM-DD`, local). An entry of another
 * month than the file's is refused.
 */
export function shapeEntries(
  text: string,
  { month, today }: { readonly month: string; readonly today: string },
): ShapedEntries {
  const entries = text.split(/^(?=## )/mu).filter((each) => each.trim() !== '');
  const shaped = entries.map((entry) => shapeEntry(entry.trim(), today));
  const stray = shaped.find(({ date }) => !date.startsWith(`${month}-`));
  if (stray !== undefined) {
    const reason = `the entry "${stray.title}" of ${stray.date} belongs in episodes/${stray.date.slice(0, 7)}.md (give "- Date: YYYY-MM-DD" where it is not of today)`;
    return { outcome: 'refused', reason };
  }
  return { outcome: 'shaped', text: shaped.map((entry) => entry.text).join('\n\n') };
}

/** The titles of a file's entries, oldest first. */
export function entryTitles(body: string): readonly string[] {
  return [...body.matchAll(/^## +(?<title>.*\S)\s*$/gmu)].flatMap(({ groups }) => groups?.['title'] ?? []);
}

const summaryLine = /^\s*[-*]\s*summary:(?<value>.*)$/iu;
const dateLine = /^\s*[-*]\s*date:(?<value>.*)$/iu;

function shapeEntry(
  entry: string,
  today: string,
): { readonly title: string; readonly date: string; readonly text: string } {
  const lines = entry.split('\n');
  const heading = /^## +(?<title>.*\S)\s*$/u.exec(lines[0] ?? '')?.groups?.['title'];
  const rest = heading === undefined ? lines : lines.slice(1);
  const free = rest.filter((line) => !summaryLine.test(line) && !dateLine.test(line));
  const title = clipAtWord(
    flatten(heading ?? withoutMarkup(free[0] ?? valueOf(rest, summaryLine))),
    titleMaxChars,
  );
  const said = valueOf(rest, summaryLine);
  const summary = (said === '' ? title : said).split(/\s+/u).slice(0, summaryMaxWords).join(' ');
  const day = /\d{4}-\d{2}-\d{2}/u.exec(valueOf(rest, dateLine))?.[0] ?? '';
  const date = isDay(day) ? day : today;
  const head = `## ${title}\n- Summary: ${flatten(summary)}\n- Date: ${date}`;
  const body = free.join('\n').trim();
  return { title, date, text: body === '' ? head : `${head}\n${body}` };
}

function valueOf(lines: readonly string[], pattern: RegExp): string {
  for (const line of lines) {
    const value = pattern.exec(line)?.groups?.['value']?.trim();
    if (value !== undefined && value !== '') return value;
  }
  return '';
}

function withoutMarkup(line: string): string {
  return line.replace(/^\s*(?:[-*+>]|#+)\s+/u, '');
}
