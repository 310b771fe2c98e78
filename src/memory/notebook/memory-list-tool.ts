import { z } from 'zod';

import { dataLine } from '../../core/section.ts';
import type { Tool } from '../../core/tool.ts';
import type { ListedFile, NotebookFiles } from './notebook-files.ts';
import { treeParts } from './notebook-tree.ts';
import { withInput } from './tool-input.ts';

/** Characters of a list at most; a tool's result is cut at 8,000 [P4]. */
const listMaxChars = 7_000;

const inputSchema = z.object({ folder: z.string().exactOptional() });

const definition = {
  name: 'memory_list',
  description:
    'List the files that you keep: path, bytes, summary. Here are the notes of this conversation (overview.md, detail/); in direct messages also the notebook of the person.',
  inputSchema: {
    type: 'object',
    properties: {
      folder: { type: 'string', description: 'Only this folder, such as topics. Default: all.' },
    },
    additionalProperties: false,
  },
} as const;

/** The model's list of the tree [M4]: a line a file, the newest days and months first. */
export function createMemoryListTool({ files }: { readonly files: NotebookFiles }): Tool {
  return {
    definition,
    run: (input, context) =>
      withInput(inputSchema, input, async ({ folder }) => {
        const parts = treeParts(context).map(({ part }) => part);
        const wanted =
          folder === undefined ? parts : parts.filter((part) => part === folder.replace(/\/$/u, ''));
        if (wanted.length === 0) {
          return { ok: false, text: `There is no such folder here. There are: ${parts.join(', ')}.` };
        }
        const described = wanted.filter((part) => part !== 'daily');
        const [listed, days] = await Promise.all([
          files.list(context, described, { summaries: true }),
          wanted.includes('daily') ? files.list(context, ['daily'], { summaries: false }) : [],
        ]);
        return { ok: true, text: renderList([...listed, ...days.toReversed()]) };
      }),
  };
}

function renderList(listed: readonly ListedFile[]): string {
  if (listed.length === 0) return 'There are no files yet.';
  const lines = listed.map(fileLine);
  const shown: string[] = [];
  let used = 0;
  for (const line of lines) {
    used += line.length + 1;
    if (used > listMaxChars) break;
    shown.push(line);
  }
  const left = lines.length - shown.length;
  return left === 0
    ? shown.join('\n')
    : `${shown.join('\n')}\n… and ${left} more; list one folder to see them.`;
}

/** A file as lists and the index show it: `- facts/user.md (320B): name, language, role`. */
export function fileLine({ file, bytes, summary }: ListedFile): string {
  return `- ${file.path} (${bytes}B)${summary === '' ? '' : `: ${dataLine(summary)}`}`;
}
