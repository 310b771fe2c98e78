import type { MemorySource } from '../../core/memory-source.ts';
import { daysAfter, localDate } from '../../core/time.ts';
import {
  dataLine,
  dataText,
  fitLines,
  renderSection,
  type Section,
  type SectionSource,
} from '../../core/section.ts';
import { clipAtWord, withoutInvisible } from '../../core/text.ts';
import type { TurnContext } from '../../core/turn-context.ts';
import type { ListedFile, NotebookFiles } from './files.ts';
import { withoutEmptyParts } from './format.ts';
import type { TreeFile } from './tree.ts';

const inlinedFiles = {
  'USER.md': { name: 'user_profile', slot: 'slow', about: 'The profile of the person' },
  'MEMORY.md': { name: 'notes', slot: 'slow', about: 'Curated notes of the person' },
  'overview.md': { name: 'overview', slot: 'fast', about: 'Your notes on this conversation' },
} as const;

/** A file in the prompt: profile and curated notes in DMs [N2], the overview everywhere [W1]. */
export function inlinedFile(
  files: NotebookFiles,
  path: keyof typeof inlinedFiles,
  maxChars: number,
): SectionSource<TurnContext> {
  const { about, ...place } = inlinedFiles[path];
  const frame = {
    ...place,
    title: `${about}, kept in ${path}:`,
    partTitle: `${about}: the beginning; the rest is readable in ${path}:`,
    budget: maxChars,
  };
  return {
    name: path,
    async sections(context) {
      if (path !== 'overview.md' && context.place.audience !== 'dm') return [];
      const opened = await files.open(path, context);
      if (opened.outcome === 'refused' || opened.content === undefined) return [];
      const { file, content } = opened;
      const section = textSection(frame, path === 'overview.md' ? withoutEmptyParts(content) : content);
      if (section.title === frame.title) files.markRead(context, file, content);
      if (section.lines.length === 0) return [];
      return [{ ...section, sources: [sourceOfFile(path, content)] }];
    },
  };
}

/** The notebook's files, in DMs [N3]. Days are local [N5]; the last line counts what does not fit. */
export function notebookIndex(
  files: NotebookFiles,
  timeZone: string,
  maxChars: number,
): SectionSource<TurnContext> {
  return {
    name: 'notebook index',
    async sections(context) {
      if (context.place.audience !== 'dm') return [];
      const [facts, episodes, topics, days] = await Promise.all([
        files.list(context, ['facts']),
        files.list(context, ['episodes']),
        files.names(context, ['topics']),
        recentDays(context),
      ]);
      const entries = [
        ...[...facts, ...episodes.toReversed()].map((each) => ({
          line: fileLine(each),
          source: listedFile(each.file, each.bytes),
        })),
        ...days.map(named),
        ...(topics.length === 0 ? [] : [{ line: '## Available Knowledge Files', source: undefined }]),
        ...topics.map(named),
      ];
      const sources = new Map(
        entries.flatMap(({ line, source }) => (source === undefined ? [] : [[line, source] as const])),
      );
      const lines = entries.map(({ line }) => line);
      return indexSection(lines, maxChars).map((section) => ({ ...section, sources }));
    },
  };

  async function recentDays(context: TurnContext): Promise<readonly TreeFile[]> {
    const today = localDate(context.now, timeZone);
    const paths = [today, daysAfter(today, -1)].map((day) => `daily/${day}.md`);
    const opened = await Promise.all(paths.map((path) => files.open(path, context)));
    return opened.flatMap((day) => (day.outcome === 'opened' && day.content !== undefined ? [day.file] : []));
  }
}

/** As many lines as fit, in order. */
function indexSection(lines: readonly string[], budget: number): readonly Section[] {
  const frame = {
    name: 'notebook_index',
    slot: 'fast',
    title: 'Files of the notebook; memory_read opens them:',
    budget,
  } as const;
  const room = lines.length === fitLines(frame, lines).length ? budget : budget - moreMaxChars;
  const shown = fitLines({ ...frame, budget: room }, lines);
  const left = lines.length - shown.length;
  const more = left === 0 ? [] : [`… and ${left} more: memory_list`];
  return shown.length === 0 ? [] : [{ ...frame, lines: [...shown, ...more] }];
}

/** Of the line that tells how many more there are. */
const moreMaxChars = 40;

/** A file shown with its text, or from a line or offset on. */
export function sourceOfFile(path: string, text: string): MemorySource {
  return { kind: 'file', path, bytes: Buffer.byteLength(text) };
}

/** A file in a list. */
export function listedFile({ path }: Pick<TreeFile, 'path'>, bytes?: number): MemorySource {
  return { kind: 'file', path, bytes, isListed: true };
}

/** `- facts/user.md (320B): name, language, role` */
export function fileLine({ file, bytes, summary }: ListedFile): string {
  return `- ${file.path} (${bytes}B)${summary === '' ? '' : `: ${dataLine(summary)}`}`;
}

/** A file's text whole under `title` or, over the budget, its beginning under `partTitle`. */
export function textSection(
  frame: Pick<Section, 'name' | 'slot' | 'title' | 'budget'> & { readonly partTitle: string },
  text: string,
): Section {
  const { partTitle, ...section } = frame;
  const lines = textLines(text);
  if (renderSection({ ...section, lines }).length <= section.budget) return { ...section, lines };
  const part = { ...section, title: partTitle };
  const room = section.budget - renderSection({ ...part, lines: [''] }).length;
  let shown = clipAtWord(lines.join('\n'), room);
  // A cut can bare a tag's name that was part of a longer word.
  while (shown !== '' && dataText(shown).length > room) shown = clipAtWord(shown, shown.length - 10);
  return { ...part, lines: shown === '' ? [] : dataText(shown).split('\n') };
}

/** Lines as data: indentation stays; control and invisible characters and blank ends go. */
function textLines(text: string): readonly string[] {
  const lines = dataText(withoutInvisible(text))
    .split('\n')
    .map((line) => line.trimEnd());
  const first = lines.findIndex((line) => line !== '');
  const last = lines.findLastIndex((line) => line !== '');
  return first === -1 ? [] : lines.slice(first, last + 1);
}

function named(file: TreeFile) {
  return { line: `- ${file.path}`, source: listedFile(file) };
}
