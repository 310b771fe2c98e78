import { dayBefore, localDate } from '../../core/time.ts';
import { renderSection } from '../../core/section.ts';
import type { Section, SectionReader } from '../../core/section.ts';
import type { TurnContext } from '../../core/turn-context.ts';
import { fileLine } from './memory-list-tool.ts';
import type { NotebookFiles } from './notebook-files.ts';

const title = 'Files of the notebook; memory_read opens them:';
const topicsHeading = '## Available Knowledge Files';

/**
 * The notebook's files in the last message, in DMs [N3]: facts and episodes with summaries, the daily logs of today and yesterday by path, topics by
 * name. Days are local ones [N5]. Where they do not all fit the budget, the last line says how many more there are.
 */
export function notebookIndexReader({
  files,
  timeZone,
  maxChars,
}: {
  readonly files: NotebookFiles;
  readonly timeZone: string;
  readonly maxChars: number;
}): SectionReader<TurnContext> {
  return {
    layer: 'notebook index',
    async read(context) {
      if (context.place.audience !== 'dm') return [];
      const [facts, episodes, topics, days] = await Promise.all([
        files.list(context, ['facts'], { summaries: true }),
        files.list(context, ['episodes'], { summaries: true }),
        files.list(context, ['topics'], { summaries: false }),
        recentDays(context),
      ]);
      const lines = [...facts, ...episodes.toReversed()].map(fileLine);
      const names = topics.map(({ file }) => `- ${file.path}`);
      return indexSection([...lines, ...days], names, maxChars);
    },
  };

  async function recentDays(context: TurnContext): Promise<readonly string[]> {
    const today = localDate(context.now, timeZone);
    const paths = [today, dayBefore(today)].map((day) => `daily/${day}.md`);
    const opened = await Promise.all(paths.map((path) => files.open(path, context)));
    return opened.flatMap((day) =>
      day.outcome === 'opened' && day.text !== undefined ? [`- ${day.file.path}`] : [],
    );
  }
}

/** As many lines as fit, in order, the topics under their heading. */
function indexSection(
  lines: readonly string[],
  topics: readonly string[],
  budget: number,
): readonly Section[] {
  for (let left = 0; left <= lines.length + topics.length; left += 1) {
    const shownTopics = topics.slice(0, Math.max(0, topics.length - left));
    const shown = lines.slice(0, Math.max(0, lines.length - Math.max(0, left - topics.length)));
    const section = {
      name: 'notebook_index',
      slot: 'last',
      title,
      lines: [
        ...shown,
        ...(shownTopics.length === 0 ? [] : [topicsHeading, ...shownTopics]),
        ...(left === 0 ? [] : [`… and ${left} more: memory_list`]),
      ],
      budget,
    } as const;
    if (section.lines.length > 0 && renderSection(section).length <= budget) return [section];
  }
  return [];
}
