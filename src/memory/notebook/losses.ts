import { limits } from '../../core/limits.ts';
import { contentTerms, namesIn, terms, toSingleLine, withoutInvisible } from '../../core/text.ts';
import { readMark } from './tree.ts';

/** What is compared of a note: its lines, without the summary line, which every write renews. */
function linesOf(text: string): readonly string[] {
  return readMark(text)
    .text.split(/\r\n?|\n/u)
    .map((line) => toSingleLine(withoutInvisible(line)))
    .filter((line) => line !== '' && !line.startsWith('> Summary:'));
}

/** Lines that are in none of the others. */
export function lostLines(text: string, others: readonly string[]): readonly string[] {
  const kept = new Set(others.flatMap(linesOf));
  return linesOf(text).filter((line) => !kept.has(line));
}

/**
 * Why background work may not turn a note into this text [A3]; `undefined` where it may. Nobody looks on, so it
 * takes little, and nothing without a reason: a new line says it too, or the person said otherwise. `elsewhere` are
 * the other notes that it writes, to which lines may move; `spoken` is what the person said.
 */
export function lossProblem(
  before: string,
  after: string,
  elsewhere: readonly string[],
  spoken: string,
): string | undefined {
  const lost = lostLines(before, [after, ...elsewhere]);
  if (lost.length === 0) return undefined;
  const { lines, share } = limits.backgroundLoss;
  const words = terms(lost.join('\n')).length;
  if (lost.length > lines && words > terms(linesOf(before).join('\n')).length * share)
    return `would lose ${lost.length} lines; looking back may replace or drop at most ${lines}, or a tenth of the words`;
  const heading = lost.find((line) => /^#{1,6}\s/u.test(line));
  if (heading !== undefined) return `would lose the heading ${JSON.stringify(heading)}; headings stay`;
  const known = new Set(linesOf(before));
  const added = new Set([after, ...elsewhere].flatMap(linesOf).filter((line) => !known.has(line)));
  const news = Array.from(added, (line) => new Set(contentTerms(line)));
  const spokenTerms = new Set(contentTerms(spoken));
  /** Each new line that says what the person said takes the place of one line. */
  const free = new Set(news);
  const unfounded = lost.filter((line) => {
    if (isSaid(line, spokenTerms) || news.some((other) => keeps(line, other))) return false;
    const instead = [...free].find((other) => isNews(line, other, spokenTerms));
    return instead === undefined || !free.delete(instead);
  });
  return unfounded.length === 0
    ? undefined
    : `would lose ${JSON.stringify(unfounded[0])}, which no new line keeps with its names and numbers, and the person said nothing else`;
}

/** Whether a new line says most of what a line says, with all its names and numbers. */
function keeps(line: string, by: ReadonlySet<string>): boolean {
  return namesIn(line).every((term) => by.has(term)) && areMost(contentTerms(line), by);
}

/** Whether the person spoke of what a line says, or of somebody or something that it names. */
function isSaid(line: string, spoken: ReadonlySet<string>): boolean {
  return namesIn(line).some((term) => spoken.has(term)) || areMost(contentTerms(line), spoken);
}

/** Whether what a new line has besides is what the person said. */
function isNews(line: string, by: ReadonlySet<string>, spoken: ReadonlySet<string>): boolean {
  const old = new Set(contentTerms(line));
  const news = [...by].filter((term) => !old.has(term));
  return news.length > 0 && areMost(news, spoken);
}

function areMost(some: readonly string[], among: ReadonlySet<string>): boolean {
  return some.length === 0 || some.filter((term) => among.has(term)).length * 2 > some.length;
}
