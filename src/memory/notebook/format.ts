import { clipAtWord, flatten } from '../../core/text.ts';
import { isDay, refused, type Refusal, type TreeFile } from './tree.ts';

/** What becomes of a file's text: the text as it is stored, or why it cannot be. */
export type FormattedText = { readonly outcome: 'formatted'; readonly text: string } | Refusal;

/** The local day, `YYYY-MM-DD`, and the summary line that the model gave, if any. */
interface FormatOptions {
  readonly today: string;
  readonly summary?: string | undefined;
}

/** A whole new text in the form that its part of the tree has [N4]: header lines for facts and episodes, entries in episodes. */
export function formatWritten(file: TreeFile, content: string, options: FormatOptions): FormattedText {
  if (file.part !== 'episodes') return formatted(withHeader(file, content, options.summary));
  const { body, ...head } = readHeader(content);
  const entries = formatEntries(body, file.name, options.today);
  if (entries.outcome === 'refused') return entries;
  const summary = options.summary ?? head.summary ?? derivedSummary(file, entries.text);
  return formatted(writeHeader(head.title ?? titleOf(file), summary, entries.text));
}

/** A text after a patch: only its header is put right. */
export function formatPatched(file: TreeFile, text: string): FormattedText {
  return formatted(withHeader(file, text, undefined));
}

/**
 * The text with all patches applied, or none [M4]. Each `oldText` must stand exactly once in the text as it is before any of them; they may
 * not overlap. All texts are literal.
 */
export function applyPatches(
  text: string,
  patches: readonly { readonly oldText: string; readonly newText: string }[],
): { readonly outcome: 'patched'; readonly text: string } | Refusal {
  const places: { readonly start: number; readonly end: number; readonly newText: string }[] = [];
  for (const [index, { oldText, newText }] of patches.entries()) {
    const name = `oldText of patch ${index + 1}`;
    if (oldText === '') return refused(`${name} is empty`);
    const start = text.indexOf(oldText);
    if (start === -1) return refused(`${name} does not stand in the file`);
    if (text.includes(oldText, start + 1)) {
      return refused(`${name} stands in the file more than once; take in more of the text around it`);
    }
    places.push({ start, end: start + oldText.length, newText });
  }
  let patched = '';
  let end = 0;
  for (const place of places.toSorted((a, b) => a.start - b.start)) {
    if (place.start < end) return refused('two patches change the same place; make them one');
    patched += text.slice(end, place.start) + place.newText;
    end = place.end;
  }
  return { outcome: 'patched', text: patched + text.slice(end) };
}

/** The present text with an entry at its end, its summary line refreshed [N4]. */
export function formatAppended(
  file: TreeFile,
  present: string,
  entry: string,
  { today, summary }: FormatOptions,
): FormattedText {
  if (file.part === 'facts') {
    const { title = titleOf(file), summary: former = '', body } = readHeader(present);
    const parts = former === '' ? keywordsOf(body) : former.split(', ');
    const refreshed = summary ?? joinSummary([...parts, ...keywordsOf(entry)]);
    return formatted(writeHeader(title, refreshed, joinEntry(body, entry)));
  }
  if (file.part === 'episodes') {
    const { title = titleOf(file), body } = readHeader(present);
    const entries = formatEntries(entry, file.name, today);
    if (entries.outcome === 'refused') return entries;
    const whole = joinEntry(body, entries.text);
    return formatted(writeHeader(title, summary ?? derivedSummary(file, whole), whole));
  }
  const head = present === '' && file.part === 'daily' ? `# ${file.name}\n` : present;
  return formatted(withHeader(file, joinEntry(head, entry), summary));
}

/** Facts and episodes always have a header; other files get one where the model gives a summary. */
function withHeader(file: TreeFile, text: string, given: string | undefined): string {
  const needsHeader = file.part === 'facts' || file.part === 'episodes';
  if (!needsHeader && given === undefined) return `${text.trim()}\n`;
  const { title = titleOf(file), summary, body } = readHeader(text);
  return writeHeader(title, given ?? summary ?? derivedSummary(file, body), body);
}

function derivedSummary(file: TreeFile, body: string): string {
  const parts = file.part === 'episodes' ? entryTitles(body) : keywordsOf(body);
  return parts.length === 0 ? titleOf(file) : joinSummary(parts);
}

function titleOf({ part, name }: TreeFile): string {
  if (part === 'episodes') return `Episodes ${name}`;
  const words = name.replace(/[-_]+/gu, ' ').trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** Items of a list stay together; anything else stands apart from what is before it. */
function joinEntry(text: string, entry: string): string {
  const before = text.trim();
  const after = entry.trim();
  if (before === '') return after;
  const listItem = /^\s*[-*+] /u;
  const continuesList = listItem.test(after) && listItem.test(before.split('\n').at(-1) ?? '');
  return `${before}\n${continuesList ? '' : '\n'}${after}`;
}

function formatted(text: string): FormattedText {
  return { outcome: 'formatted', text };
}

const titleMaxChars = 100;
/** Characters of a summary line at most; the index shows it with every message. */
const summaryMaxChars = 160;

/** A file taken apart [N4]: `# Title`, `> Summary: …`, and what stands below without blank lines around it. */
function readHeader(text: string): {
  readonly title?: string;
  readonly summary?: string;
  readonly body: string;
} {
  let lines = withoutBlankStart(text.split('\n'));
  const title = /^# +(?<title>.*\S)\s*$/u.exec(lines[0] ?? '')?.groups?.['title'];
  if (title !== undefined) lines = withoutBlankStart(lines.slice(1));
  const summary = /^> *summary:(?<summary>.*)$/iu.exec(lines[0] ?? '')?.groups?.['summary']?.trim();
  if (summary !== undefined) lines = withoutBlankStart(lines.slice(1));
  return {
    body: lines.join('\n').trimEnd(),
    ...(title === undefined ? {} : { title }),
    ...(summary === undefined || summary === '' ? {} : { summary }),
  };
}

function writeHeader(title: string, summary: string, body: string): string {
  const head = `# ${clipAtWord(flatten(title), titleMaxChars)}\n> Summary: ${clipAtWord(flatten(summary), summaryMaxChars)}`;
  return body === '' ? `${head}\n` : `${head}\n\n${body}\n`;
}

/** What lists show of a file: its summary line, else its title, else its first words. */
export function summaryOf(text: string): string {
  const { title, summary, body } = readHeader(text);
  const shown = summary ?? title ?? body.split('\n').find((line) => /[\p{L}\p{N}]/u.test(line)) ?? '';
  return clipAtWord(flatten(shown.replace(/^[#>*\s-]+/u, '')), summaryMaxChars);
}

/** What the lines of a body are about: of `- Name: Alice` the name, of others the first words. */
function keywordsOf(body: string): readonly string[] {
  const topics = body.split('\n').flatMap((line) => {
    const plain = flatten(line.replace(/^\s*(?:[-*+>]|#+|\d+[.)])\s+/u, '').replace(/[*_`]/gu, ''));
    const firstWords = clipAtWord(plain.split(' ').slice(0, 5).join(' '), 40);
    const label = /^(?<label>[^:：]{1,40})[:：](?:\s|$)/u.exec(plain)?.groups?.['label'] ?? firstWords;
    return /[\p{L}\p{N}]/u.test(label) ? [label.trim().replace(/[.,;]+$/u, '')] : [];
  });
  return [...new Set(topics)];
}

/** Parts joined by commas; where they are too many, the first give way. */
function joinSummary(parts: readonly string[]): string {
  let kept = [...new Set(parts)];
  while (kept.length > 1 && kept.join(', ').length > summaryMaxChars) kept = kept.slice(1);
  return clipAtWord(kept.join(', '), summaryMaxChars);
}

function withoutBlankStart(lines: readonly string[]): readonly string[] {
  const first = lines.findIndex((line) => line.trim() !== '');
  return first === -1 ? [] : lines.slice(first);
}

const entryTitleMaxChars = 80;
/** An entry's summary has under 10 words [N4]. */
const entrySummaryMaxWords = 9;

/**
 * Entries of a month's episodes file in their form [N4]: `## Title`, `- Summary:` of under 10 words, `- Date:`, free lines. What is missing
 * is filled in: the title from the first line, the summary from the title, the date by `today`. An entry of another month is refused.
 */
function formatEntries(text: string, month: string, today: string): FormattedText {
  const texts = text.split(/^(?=## )/mu).filter((each) => each.trim() !== '');
  const entries = texts.map((entry) => formatEntry(entry.trim(), today));
  const stray = entries.find(({ date }) => !date.startsWith(`${month}-`));
  if (stray === undefined) return formatted(entries.map((entry) => entry.text).join('\n\n'));
  return refused(
    `the entry "${stray.title}" of ${stray.date} belongs in episodes/${stray.date.slice(0, 7)}.md (give "- Date: YYYY-MM-DD" where it is not of today)`,
  );
}

/** The titles of a file's entries, oldest first. */
function entryTitles(body: string): readonly string[] {
  return [...body.matchAll(/^## +(?<title>.*\S)\s*$/gmu)].flatMap(({ groups }) => groups?.['title'] ?? []);
}

const summaryLine = /^\s*[-*]\s*summary:(?<value>.*)$/iu;
const dateLine = /^\s*[-*]\s*date:(?<value>.*)$/iu;

function formatEntry(entry: string, today: string) {
  const lines = entry.split('\n');
  const heading = /^## +(?<title>.*\S)\s*$/u.exec(lines[0] ?? '')?.groups?.['title'];
  const rest = heading === undefined ? lines : lines.slice(1);
  const free = rest.filter((line) => !summaryLine.test(line) && !dateLine.test(line));
  const given = valueOf(rest, summaryLine);
  const firstWords = (free[0] ?? given).replace(/^\s*(?:[-*+>]|#+)\s+/u, '');
  const title = clipAtWord(flatten(heading ?? firstWords), entryTitleMaxChars);
  const summary = (given === '' ? title : given).split(/\s+/u).slice(0, entrySummaryMaxWords).join(' ');
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

/** The headings of an overview [W1]. */
export const overviewParts: ReadonlySet<string> = new Set([
  'Current Task',
  'Key Decisions',
  'Known Context',
  'Pending Issues',
  'Recent Operations',
]);

/** A markdown text without the headings under which nothing stands: an empty part costs nothing [W1]. */
export function withoutEmptyParts(text: string): string {
  // The level of the next heading that is kept; 0 before the text's end.
  let next = 0;
  let isEmpty = true;
  const kept: string[] = [];
  for (const line of text.split('\n').toReversed()) {
    const level = /^(?<marks>#{1,6})\s+\S/u.exec(line)?.groups?.['marks']?.length;
    if (level === undefined) {
      if (line.trim() !== '') isEmpty = false;
      kept.push(line);
      continue;
    }
    // Under this heading stands nothing, or nothing but the next one of the same or a higher level.
    if (isEmpty && next <= level) continue;
    kept.push(line);
    next = level;
    isEmpty = true;
  }
  return kept
    .toReversed()
    .join('\n')
    .replace(/\n{3,}/gu, '\n\n');
}

/**
 * A file's text as people see it: line breaks are `\n`, and control and invisible characters are gone, but for tabs and the joiners
 * that scripts and emoji need. Doing it twice changes nothing more.
 */
export function plainText(text: string): string {
  return text
    .toWellFormed()
    .replace(/\r\n?|[\v\f\u0085\u2028\u2029]/gu, '\n')
    .replace(/[^\P{Cc}\n\t]/gu, '')
    .replace(/(?![\u200c\u200d])\p{Cf}/gu, '');
}
