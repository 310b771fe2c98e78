import { z } from 'zod';

import { textWithSources } from '../../core/memory-source.ts';
import { localDate } from '../../core/time.ts';
import { secretMark } from '../../core/secrets.ts';
import { dataText } from '../../core/section.ts';
import { clip, withoutInvisible } from '../../core/text.ts';
import { checkedTool, refusal, type MemoryNotice, type Tool, type ToolOutcome } from '../../core/tool.ts';
import { isProxied, type TurnContext } from '../../core/turn-context.ts';
import { undoButton } from '../undo.ts';
import type { FileEdit, Knowledge, ListedFile, NotebookFiles, WrittenFile } from './files.ts';
import { applyPatches, formatAppended, formatPatched, formatWritten } from './format.ts';
import { fileLine, listedFile, sourceOfFile } from './sections.ts';
import { refused, treeParts } from './tree.ts';

const notDone = 'Nothing was done';

const summaryInput = z
  .string()
  .describe('What the file then holds, in a few words; lists show it.')
  .exactOptional();

// Made once: schemas are slow to make, and slower to describe to the model.
const listInput = z.object({
  folder: z.string().describe('Such as topics. Default: all.').exactOptional(),
});

const readInput = z.object({
  path: z.string().describe('Such as overview.md; in direct messages also facts/user.md.'),
  offset: z.int().nonnegative().default(0),
});

const writeInput = z.object({
  path: z.string().default('MEMORY.md').describe('Default: MEMORY.md.'),
  content: z.string(),
  summary: summaryInput,
});

const patchInput = z.object({
  path: z.string(),
  patches: z
    .array(
      z.object({
        // Finding much longer ones could take long [L4].
        oldText: z.string().max(1000),
        newText: z.string().describe('Empty to remove.'),
      }),
    )
    .min(1)
    .max(50),
});

const appendInput = z.object({
  path: z.string(),
  entry: z.string(),
  summary: summaryInput,
});

/** The model's tools for the tree of notes [M4]. */
export function createNotebookTools(files: NotebookFiles, timeZone: string): readonly Tool[] {
  const todayOf = ({ now }: TurnContext): string => localDate(now, timeZone);
  return [
    checkedTool({
      name: 'memory_list',
      description: 'List the files that you keep: path, bytes, summary.',
      input: listInput,
      notDone,
      async run({ folder }, context) {
        const parts = treeParts(context).map(({ part }) => part);
        const requested =
          folder === undefined ? parts : parts.filter((part) => part === folder.replace(/\/$/u, ''));
        if (requested.length === 0)
          return refusal(`There is no such folder here. There are: ${parts.join(', ')}.`);
        const described = requested.filter((part) => part !== 'daily');
        const [listed, days] = await Promise.all([
          files.list(context, described),
          requested.includes('daily') ? files.list(context, ['daily']) : [],
        ]);
        const newestFirst = days.toReversed().map((day) => ({ ...day, summary: '' }));
        return { ok: true, ...renderList([...listed, ...newestFirst]) };
      },
    }),
    checkedTool({
      name: 'memory_read',
      description: 'Read a file that you keep. A long one comes in parts.',
      input: readInput,
      notDone,
      async run({ path, offset }, context) {
        const opened = await files.open(path, context);
        if (opened.outcome === 'refused') return refusal(opened.reason);
        const { file, content } = opened;
        if (content === undefined) return refusal(`There is no file ${file.path} yet.`);
        const part = partFrom(content, offset);
        if (part === content) files.markRead(context, file, content);
        const heading = partHeading(file.path, offset, offset + part.length, content.length);
        const source = part === '' ? undefined : sourceOfFile(file.path, content);
        return {
          ok: true,
          ...textWithSources([{ text: heading }, { text: dataText(part), source }], '\n'),
        };
      },
    }),
    changeTool(files, {
      name: 'memory_write',
      description:
        'Replace a whole file, or make a new one: read it first and merge. For a change use memory_patch, for an addition memory_append.',
      input: writeInput,
      edit:
        ({ content, summary }, context) =>
        (present, file) => {
          const problem = present && unreadProblem(file.path, present.knowledge);
          if (problem !== undefined) return refused(problem);
          return formatWritten(file, content, { today: todayOf(context), summary });
        },
      report: ({ file, bytes, isNew }) =>
        isNew
          ? `Created ${file.path} (${bytes} bytes).`
          : `Replaced the whole of ${file.path}; it has ${bytes} bytes now.`,
    }),
    changeTool(files, {
      name: 'memory_patch',
      description:
        'Change places of a file. Each oldText must stand exactly once in the file, letter for letter; all patches are applied, or none.',
      input: patchInput,
      edit:
        ({ patches }) =>
        (present, file) => {
          if (present === undefined)
            return refused(`There is no file ${file.path} yet. Nothing was written.`);
          const patched = applyPatches(present.text, patches);
          return typeof patched === 'string'
            ? formatPatched(file, patched)
            : refused(`Nothing was written to ${file.path}: ${patched.reason}.`);
        },
      report: ({ file, bytes }, { patches }) =>
        `Patched ${file.path}; it has ${bytes} bytes now. appliedCount: ${patches.length}`,
    }),
    changeTool(files, {
      name: 'memory_append',
      description:
        'Add an entry at the end of a file, new or not. One of episodes/YYYY-MM.md is "## Title", "- Summary: under 10 words", "- Date: YYYY-MM-DD", then free lines.',
      input: appendInput,
      edit:
        ({ entry, summary }, context) =>
        (present, file) => {
          const added = withoutInvisible(entry);
          if (added.trim() === '') return refused('The entry is empty. Nothing was written.');
          return formatAppended(file, present?.text ?? '', added, { today: todayOf(context), summary });
        },
      report: ({ file, bytes, isNew }) =>
        `${isNew ? 'Created' : 'Added to'} ${file.path}; it has ${bytes} bytes now.`,
      isAddition: true,
    }),
  ];
}

/** A tool that changes a file, and reports what was written or why nothing was. */
function changeTool<Input extends { readonly path: string }>(
  files: NotebookFiles,
  tool: Pick<Parameters<typeof checkedTool<Input>>[0], 'name' | 'description' | 'input'> & {
    readonly edit: (input: Input, context: TurnContext) => FileEdit;
    readonly report: (written: WrittenFile, input: Input) => string;
    readonly isAddition?: true;
  },
): Tool {
  const { edit, report, isAddition = false, ...about } = tool;
  return checkedTool({
    ...about,
    notDone,
    stores: 'notes',
    async run(input, context) {
      if (!isAddition && isProxied(context))
        return refusal('Nothing was changed: a proxy posted what the person wrote. You can only append.');
      const written = await files.change(input.path, context, edit(input, context));
      if (written.outcome === 'refused') return refusal(written.reason);
      const masked = written.isMasked
        ? ` What looks like a secret was not written: ${secretMark} stands there.`
        : '';
      return {
        ok: true,
        text: report(written, input) + masked,
        notice: writeNotice(written, isAddition || written.isNew),
      };
    },
  });
}

/** Told without the words written [K6]. */
function writeNotice({ file, undoId }: WrittenFile, isAddition: boolean): MemoryNotice {
  const path = `\`${file.path.replaceAll('`', '')}\``;
  const line = isAddition ? `📝 Noted in ${path}` : `📝 Changed ${path}`;
  return { line, bareLine: line, buttons: undoButton(undoId), isQuiet: isAddition || undefined };
}

/** A tool's result is cut at 8,000 characters [P4]. */
const listMaxChars = 7_000;

function renderList(listed: readonly ListedFile[]): Pick<ToolOutcome, 'text' | 'sources'> {
  if (listed.length === 0) return { text: 'There are no files yet.' };
  const lines = listed.map((each) => ({ text: fileLine(each), source: listedFile(each.file, each.bytes) }));
  let used = 0;
  const tooMany = lines.findIndex(({ text }) => (used += text.length + 1) > listMaxChars);
  if (tooMany === -1) return textWithSources(lines, '\n');
  const more = { text: `… and ${lines.length - tooMany} more; list one folder to see them.` };
  return textWithSources([...lines.slice(0, tooMany), more], '\n');
}

/** Of a file, given at once; a tool's result is cut at 8,000 [P4]. */
const partMaxChars = 7_500;

/** As much as fits once escaped, up to a line's end if there is one in the second half. */
function partFrom(text: string, offset: number): string {
  const rest = text.slice(offset);
  let part = clip(rest, partMaxChars);
  for (;;) {
    const excess = dataText(part).length - partMaxChars;
    if (excess <= 0) break;
    part = clip(part, part.length - excess);
  }
  const lastBreak = part.lastIndexOf('\n');
  return part.length < rest.length && lastBreak > part.length / 2 ? part.slice(0, lastBreak + 1) : part;
}

function partHeading(path: string, from: number, to: number, length: number): string {
  if (from >= length && length > 0) return `${path} has only ${length} characters.`;
  if (from === 0 && to === length) return `${path}:`;
  const rest = to < length ? `; it goes on at offset ${to}` : '; this is the end';
  return `${path}, characters ${from} to ${to} of ${length}${rest}:`;
}

/** Why a file may not be replaced yet [M4]. */
function unreadProblem(path: string, knowledge: Knowledge): string | undefined {
  if (knowledge === 'whole') return undefined;
  return knowledge === 'changed'
    ? `${path} changed since you last read it; read it again, then merge. Nothing was written.`
    : `${path} exists and would be replaced; read it first with memory_read, then merge. One that is too long to be read at once can only be patched. Nothing was written.`;
}
