import { z } from 'zod';

import { localDate } from '../../core/time.ts';
import type { Tool } from '../../core/tool.ts';
import { formWritten } from './file-form.ts';
import type { NotebookFiles } from './notebook-files.ts';
import type { Knowledge } from './read-marks.ts';
import { pathProperty, summaryProperty, withInput } from './tool-input.ts';

const inputSchema = z.object({ path: z.string(), content: z.string(), summary: z.string().exactOptional() });

const definition = {
  name: 'memory_write',
  description:
    'Replace a whole file, or make a new one. The former content is gone, so read the file first and merge; for a small change use memory_patch. Refused where the file changed since you read it.',
  inputSchema: {
    type: 'object',
    properties: {
      path: pathProperty,
      content: { type: 'string', description: 'The whole new content, as markdown.' },
      summary: summaryProperty,
    },
    required: ['path', 'content'],
    additionalProperties: false,
  },
} as const;

/** The model's way to replace a file, only where it has seen all that it replaces [M4]. */
export function createMemoryWriteTool({
  files,
  timeZone,
}: {
  readonly files: NotebookFiles;
  readonly timeZone: string;
}): Tool {
  return {
    definition,
    run: (input, context) =>
      withInput(inputSchema, input, async ({ path, content, summary }) => {
        const written = await files.change(path, context, (present, file) => {
          const problem = present === undefined ? undefined : unseen(file.path, present.knowledge);
          if (problem !== undefined) return { outcome: 'refused', reason: problem };
          return formWritten(file, content, { today: localDate(context.now, timeZone), summary });
        });
        if (written.outcome === 'refused') return { ok: false, text: written.reason };
        const { file, bytes, isNew } = written;
        return {
          ok: true,
          text: isNew
            ? `Created ${file.path} (${bytes} bytes).`
            : `Replaced the whole of ${file.path}; it has ${bytes} bytes now.`,
        };
      }),
  };
}

/** Why a file may not be replaced yet. */
function unseen(path: string, knowledge: Knowledge): string | undefined {
  switch (knowledge) {
    case 'whole':
      return undefined;
    case 'unread':
      return `${path} exists and would be replaced; read it first with memory_read, then merge. Nothing was written.`;
    case 'partly':
      return `You have read only a part of ${path}; read the rest first, or use memory_patch. Nothing was written.`;
    case 'changed':
      return `${path} changed since you last read it; read it again, then merge. Nothing was written.`;
  }
}
