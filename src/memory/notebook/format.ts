import { clipAtWord, toSingleLine } from '../../core/text.ts';
import { isCalendarDay } from '../../core/time.ts';
import { refused, type Refusal, type TreeFile } from './tree.ts';

/** A file's text as stored, or why it cannot be. */
export type FormattedText = string | Refusal;

/** The local day, `YYYY-MM-DD`, and the model's summary line, if any. */
interface FormatOptions {
  readonly today: string;
  readonly summary?: string | undefined;
}

/** A whole text in the form of its part of the tree [N4]. */
export function formatWritten(file: TreeFile, content: string, options: FormatOptions): FormattedText {
  const head = readHeader(content);
  const entries = file.part === 'episodes' ? formatEntries(head.body, file.name, options.today) : head.body;
  if (typeof entries !== 'string') return entries;
  if (!hasHeader(file) && options.summary === undefined) return `${content.trim()}\n`;
  return withHeader(file, entries, { ...head, summary: options.summary ?? head.summary });
}

/** Puts a patched text's header right. */
export function formatPatched(file: TreeFile, text: string): string {
  const head = readHeader(text);
  return hasHeader(file) ? withHeader(file, head.body, head) : `${text.trim()}\n`;
}

/** Applies patches one after the other, or none [M4]. Each literal `oldText` must stand exactly once. */
export function applyPatches(
  text: string,
  patches: readonly { readonly oldText: string; readonly newText: string }[],
): FormattedText {
  let patched = text;
  for (const [index, { oldText, newText }] of patches.entries()) {
    const name = `oldText of patch ${index + 1}`;
    const start = patched.indexOf(oldText);
    if (oldText === '') return refused(`${name} is empty`);
    if (start === -1) return refused(`${name} does not stand in the file`);
    if (patched.includes(oldText, start + 1))
      return refused(`${name} stands in the file more than once; take in more of the text around it`);
    patched = patched.slice(0, start) + newText + patched.slice(start + oldText.length);
  }
  return patched;
}

/** Adds an entry at the end and refreshes the summary line [N4]. */
export function formatAppended(
  file: TreeFile,
  present: string,
  entry: string,
  { today, summary }: FormatOptions,
): FormattedText {
  const added = file.part === 'episodes' ? formatEntries(entry, file.name, today) : entry;
  if (typeof added !== 'string') return added;
  const before = present === '' && file.part === 'daily' ? `# ${file.name}\n` : present;
  if (!hasHeader(file) && summary === undefined) return `${joinEntry(before, added)}\n`;
  const { title, body } = readHeader(before);
  return withHeader(file, joinEntry(body, added), { title, summary });
}

/** Facts and episodes always have a header; other files get one where the model gives a summary. */
function hasHeader({ part }: TreeFile): boolean {
  return part === 'facts' || part === 'episodes';
}

function withHeader(file: TreeFile, body: string, { title, summary }: Header): string {
  const head = `# ${toSingleLine(title ?? titleOf(file))}\n> Summary: ${toSingleLine(summary ?? derivedSummary(file, body))}`;
  return body === '' ? `${head}\n` : `${head}\n\n${body}\n`;
}

/** The last subjects, as many as fit: titles of episodes, of `- Name: Alice` the name, else the first words. */
function derivedSummary(file: TreeFile, body: string): string {
  const lines = body.split('\n').filter((line) => file.part !== 'episodes' || line.startsWith('## '));
  const subjects: string[] = [];
  for (const line of lines.toReversed()) {
    const subject = subjectOf(line);
    if (subject === '' || subjects.includes(subject)) continue;
    if ([subject, ...subjects].join(', ').length > summaryMaxChars) break;
    subjects.unshift(subject);
  }
  return subjects.length === 0 ? titleOf(file) : subjects.join(', ');
}

function subjectOf(line: string): string {
  const plain = toSingleLine(line.replace(/^\s*(?:[-*+>]|#+|\d+[.)])\s+/u, '').replace(/[*_`]/gu, ''));
  if (!/[\p{L}\p{N}]/u.test(plain)) return '';
  const firstWords = clipAtWord(plain.split(' ').slice(0, 5).join(' '), 40);
  const label = line.startsWith('#') ? plain : /^[^:：]{1,40}(?=[:：](?:\s|$))/u.exec(plain)?.[0];
  return clipAtWord(label ?? firstWords, 80)
    .trim()
    .replace(/(?<![.,;])[.,;]+$/u, '');
}

function titleOf({ part, name }: TreeFile): string {
  if (part === 'episodes') return `Episodes ${name}`;
  const words = name.replace(/[-_]+/gu, ' ').trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** Items of a list stay together; anything else is set apart. */
function joinEntry(text: string, entry: string): string {
  const before = text.trim();
  const after = entry.trim();
  if (before === '') return after;
  // Added already: after a kill a question is asked again, and the model repeats itself.
  if (before === after || before.endsWith(`\n${after}`)) return before;
  const listItem = /^\s*[-*+] /u;
  const continuesList = listItem.test(after) && listItem.test(before.split('\n').at(-1) ?? '');
  return `${before}\n${continuesList ? '' : '\n'}${after}`;
}

/** The index shows it with every message. */
const summaryMaxChars = 160;

/** The first lines of a file, without their marks [N4]. */
interface Header {
  readonly title: string | undefined;
  readonly summary: string | undefined;
}

/** A file's parts [N4]: `# Title`, `> Summary: …`, and the body without blank lines around it. */
function readHeader(text: string): Header & { readonly body: string } {
  let lines = withoutBlankStart(text.split('\n'));
  const title = /^# +(?<title>\S[^\n]*)$/u.exec(lines[0] ?? '')?.groups?.['title']?.trimEnd();
  if (title !== undefined) lines = withoutBlankStart(lines.slice(1));
  const summary = /^> *summary:(?<summary>.*)$/iu.exec(lines[0] ?? '')?.groups?.['summary']?.trim();
  if (summary !== undefined) lines = withoutBlankStart(lines.slice(1));
  return { body: lines.join('\n').trimEnd(), title, summary: summary === '' ? undefined : summary };
}

/** What lists show of a file: its summary line, else its title, else its first words. */
export function summaryOf(text: string): string {
  const { title, summary, body } = readHeader(text);
  const shown = summary ?? title ?? body.split('\n').find((line) => /[\p{L}\p{N}]/u.test(line)) ?? '';
  return clipAtWord(toSingleLine(shown.replace(/^[#>*\s-]+/u, '')), summaryMaxChars);
}

function withoutBlankStart(lines: readonly string[]): readonly string[] {
  const first = lines.findIndex((line) => line.trim() !== '');
  return first === -1 ? [] : lines.slice(first);
}

/** Under 10 words [N4]. */
const entrySummaryMaxWords = 9;

/** Entries of a month's episodes file [N4]. Missing parts are filled in; bad ones are refused. */
function formatEntries(text: string, month: string, today: string): FormattedText {
  const entries: string[] = [];
  for (const entry of text.split(/^(?=## )/mu).filter((each) => each.trim() !== '')) {
    const formattedEntry = formatEntry(entry.trim(), month, today);
    if (typeof formattedEntry !== 'string') return formattedEntry;
    entries.push(formattedEntry);
  }
  return entries.join('\n\n');
}

const summaryLine = /^\s*[-*]\s*summary:(?<value>.*)$/iu;
const dateLine = /^\s*[-*]\s*date:(?<value>.*)$/iu;

function formatEntry(entry: string, month: string, today: string): FormattedText {
  const lines = entry.split('\n');
  const heading = /^## +(?<title>\S[^\n]*)$/u.exec(lines[0] ?? '')?.groups?.['title']?.trimEnd();
  const rest = heading === undefined ? lines : lines.slice(1);
  const newSummary = takeValue(rest, summaryLine);
  const dated = takeValue(newSummary.rest, dateLine);
  const firstWords = (dated.rest[0] ?? newSummary.value).replace(/^\s*(?:[-*+>]|#+)\s+/u, '');
  const title = toSingleLine(heading ?? clipAtWord(toSingleLine(firstWords), 80));
  const summary =
    newSummary.value === ''
      ? title.split(' ').slice(0, entrySummaryMaxWords).join(' ')
      : toSingleLine(newSummary.value);
  if (summary.split(' ').length > entrySummaryMaxWords)
    return refused(`The summary of the entry "${title}" has 10 words or more. Nothing was written.`);
  const date = dated.value === '' ? today : dated.value;
  if (!isCalendarDay(date) || !date.startsWith(`${month}-`))
    return refused(
      `The entry "${title}" is not of a day in this month: its date is "${date}". Give it as "- Date: YYYY-MM-DD", in the file of its month. Nothing was written.`,
    );
  const head = `## ${title}\n- Summary: ${summary}\n- Date: ${date}`;
  const body = dated.rest.join('\n').trim();
  return body === '' ? head : `${head}\n${body}`;
}

/** The value of the first line of a kind, and all other lines. */
function takeValue(
  lines: readonly string[],
  pattern: RegExp,
): { readonly value: string; readonly rest: readonly string[] } {
  const at = lines.findIndex((line) => pattern.test(line));
  if (at === -1) return { value: '', rest: lines };
  return {
    value: pattern.exec(lines[at] ?? '')?.groups?.['value']?.trim() ?? '',
    rest: lines.toSpliced(at, 1),
  };
}

/** The headings of an overview [W1]. */
export const overviewParts: ReadonlySet<string> = new Set([
  'Current Task',
  'Key Decisions',
  'Known Context',
  'Pending Issues',
  'Recent Operations',
]);

/** Removes headings under which nothing stands: an empty part costs nothing [W1]. */
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
    // Nothing stands under it, or only a kept heading of the same or a higher level.
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
