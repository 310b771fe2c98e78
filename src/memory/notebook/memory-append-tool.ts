import { z } from 'zod';

import { localDate } from '../../core/time.ts';
import type { Tool } from '../../core/tool.ts';
import { formAppended } from './file-form.ts';
import type { NotebookFiles } from './notebook-files.ts';
import { plainText } from './plain-text.ts';
import { pathProperty, summaryProperty, withInput } from './tool-input.ts';

const inputSchema = z.object({ path: z.string(), entry: z.string(), summary: z.string().exactOptional() });

const definition = {
  name: 'memory_append',
  description:
    'Add an entry at the end of a file; a new file is made where there is none. An entry of episodes/YYYY-MM.md is "## Title", "- Summary: under 10 words", "- Date: YYYY-MM-DD", then free lines.',
  inputSchema: {
    type: 'object',
    properties: {
      path: pathProperty,
      entry: { type: 'string', description: 'Markdown to add.' },
      summary: summaryProperty,
    },
    required: ['path', 'entry'],
    additionalProperties: false,
  },
} as const;

/** The model's way to add to a file, in the form that the file has [N4]. */
export function createMemoryAppendTool({
  files,
  timeZone,
}: {
  readonly files: NotebookFiles;
  readonly timeZone: string;
}): Tool {
  return {
    definition,
    run: (input, context) =>
      withInput(inputSchema, input, async ({ path, entry, summary }) => {
        const added = plainText(entry);
        if (added.trim() === '') return { ok: false, text: 'The entry is empty. Nothing was written.' };
        const written = await files.change(path, context, (present, file) =>
          formAppended(file, present?.text ?? '', added, {
            today: localDate(context.now, timeZone),
            summary,
          }),
        );
        if (written.outcome === 'refused') return { ok: false, text: written.reason };
        const { file, bytes, isNew } = written;
        return {
          ok: true,
          text: `${isNew ? 'Created' : 'Added to'} ${file.path}; it has ${bytes} bytes now.`,
        };
      }),
  };
}
