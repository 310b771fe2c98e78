import { entryTitles, shapeEntries } from './episode-entries.ts';
import type { TreeFile } from './notebook-tree.ts';
import { joinSummary, keywordsOf, readHeader, writeHeader } from './summary-header.ts';

/** What becomes of a file's text: the text as it is stored, or why it cannot be. */
export type FormedText =
  | { readonly outcome: 'formed'; readonly text: string }
  | { readonly outcome: 'refused'; readonly reason: string };

/** The local day, `YYYY-MM-DD`, and the summary line that the model gave, if any. */
export interface FormOptions {
  readonly today: string;
  readonly summary?: string | undefined;
}

/** A whole new text in the form that its part of the tree has [N4]: header lines for facts and episodes, entries in episodes. */
export function formWritten(file: TreeFile, content: string, options: FormOptions): FormedText {
  if (file.part !== 'episodes') return formed(withHeader(file, content, options.summary));
  const { body, ...head } = readHeader(content);
  const entries = shapeEntries(body, { month: file.name, today: options.today });
  if (entries.outcome === 'refused') return entries;
  const summary = options.summary ?? head.summary ?? derivedSummary(file, entries.text);
  return formed(writeHeader({ title: head.title ?? titleOf(file), summary, body: entries.text }));
}

/** A text after a patch: only its header is put right. */
export function formPatched(file: TreeFile, text: string): FormedText {
  return formed(withHeader(file, text, undefined));
}

/** The present text with an entry at its end, its summary line refreshed [N4]. */
export function formAppended(
  file: TreeFile,
  present: string,
  entry: string,
  { today, summary }: FormOptions,
): FormedText {
  if (file.part === 'facts') {
    const { title = titleOf(file), summary: former = '', body } = readHeader(present);
    const parts = former === '' ? keywordsOf(body) : former.split(', ');
    const refreshed = summary ?? joinSummary([...parts, ...keywordsOf(entry)]);
    return formed(writeHeader({ title, summary: refreshed, body: joined(body, entry) }));
  }
  if (file.part === 'episodes') {
    const { title = titleOf(file), body } = readHeader(present);
    const entries = shapeEntries(entry, { month: file.name, today });
    if (entries.outcome === 'refused') return entries;
    const whole = joined(body, entries.text);
    return formed(writeHeader({ title, summary: summary ?? derivedSummary(file, whole), body: whole }));
  }
  const head = present === '' && file.part === 'daily' ? `# ${file.name}\n` : present;
  return formed(withHeader(file, joined(head, entry), summary));
}

/** Facts and episodes always have a header; other files get one where the model gives a summary. */
function withHeader(file: TreeFile, text: string, given: string | undefined): string {
  const needsHeader = file.part === 'facts' || file.part === 'episodes';
  if (!needsHeader && given === undefined) return `${text.trim()}\n`;
  const { title = titleOf(file), summary, body } = readHeader(text);
  return writeHeader({ title, summary: given ?? summary ?? derivedSummary(file, body), body });
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
function joined(text: string, entry: string): string {
  const before = text.trim();
  const after = entry.trim();
  if (before === '') return after;
  const listItem = /^\s*[-*+] /u;
  const continuesList = listItem.test(after) && listItem.test(before.split('\n').at(-1) ?? '');
  return `${before}\n${continuesList ? '' : '\n'}${after}`;
}

function formed(text: string): FormedText {
  return { outcome: 'formed', text };
}
