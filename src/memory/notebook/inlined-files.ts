import type { Section, SectionReader } from '../../core/section.ts';
import { sessionOf } from '../../core/turn-context.ts';
import type { TurnContext } from '../../core/turn-context.ts';
import type { NotebookFiles } from './notebook-files.ts';
import { withoutEmptyParts } from './overview-parts.ts';
import type { ReadMarks } from './read-marks.ts';
import { textSection } from './text-section.ts';

/** A file that the prompt holds, and how. */
export interface InlinedFile {
  readonly path: 'USER.md' | 'MEMORY.md' | 'overview.md';
  /** Characters of the section as rendered. */
  readonly maxChars: number;
}

const frames = {
  'USER.md': { name: 'user_profile', slot: 'slow', about: 'The profile of the person' },
  'MEMORY.md': { name: 'notes', slot: 'slow', about: 'Curated notes of the person' },
  'overview.md': { name: 'overview', slot: 'fast', about: 'Your notes on this conversation' },
} as const;

/**
 * A file inlined in the prompt where it exists in the place: the profile and the curated notes in DMs [N2], the overview everywhere [W1]. Over the
 * budget its beginning, with the path of the rest. What is inlined in whole counts as read.
 */
export function inlinedFileReader(
  { path, maxChars }: InlinedFile,
  { files, marks }: { readonly files: NotebookFiles; readonly marks: ReadMarks },
): SectionReader<TurnContext> {
  const { about, ...place } = frames[path];
  const frame = {
    ...place,
    title: `${about}, kept in ${path}:`,
    partTitle: `${about}: the beginning; the rest is readable in ${path}:`,
    budget: maxChars,
  };
  return {
    layer: path,
    async read(context): Promise<readonly Section[]> {
      if (path !== 'overview.md' && context.place.audience !== 'dm') return [];
      const opened = await files.open(path, context);
      if (opened.outcome === 'refused' || opened.text === undefined) return [];
      const section = textSection(
        frame,
        path === 'overview.md' ? withoutEmptyParts(opened.text) : opened.text,
      );
      if (section.title === frame.title) marks.markWhole(sessionOf(context), opened.file.key, opened.text);
      return section.lines.length === 0 ? [] : [section];
    },
  };
}
