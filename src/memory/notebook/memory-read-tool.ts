import { z } from 'zod';

import { dataText } from '../../core/section.ts';
import { clip } from '../../core/text.ts';
import type { Tool } from '../../core/tool.ts';
import { sessionOf } from '../../core/turn-context.ts';
import type { NotebookFiles } from './notebook-files.ts';
import type { ReadMarks } from './read-marks.ts';
import { pathProperty, withInput } from './tool-input.ts';

/** Characters of a file given at once; a tool's result is cut at 8,000 [P4]. */
const partMaxChars = 7_500;

const inputSchema = z.object({ path: z.string(), offset: z.int().nonnegative().exactOptional() });

const definition = {
  name: 'memory_read',
  description: 'Read a file that you keep. A long one comes in parts; the result says where it goes on.',
  inputSchema: {
    type: 'object',
    properties: {
      path: pathProperty,
      offset: { type: 'integer', minimum: 0, description: 'Where to begin, in characters. Default: 0.' },
    },
    required: ['path'],
    additionalProperties: false,
  },
} as const;

/** The model's way to read the tree; what it has read in whole it may replace [M4]. */
export function createMemoryReadTool({
  files,
  marks,
}: {
  readonly files: NotebookFiles;
  readonly marks: ReadMarks;
}): Tool {
  return {
    definition,
    run: (input, context) =>
      withInput(inputSchema, input, async ({ path, offset = 0 }) => {
        const opened = await files.open(path, context);
        if (opened.outcome === 'refused') return { ok: false, text: opened.reason };
        const { file, text } = opened;
        if (text === undefined) return { ok: false, text: `There is no file ${file.path} yet.` };
        const part = partFrom(text, offset);
        const end = offset + part.length;
        marks.markPart(sessionOf(context), file.key, text, offset, end);
        return { ok: true, text: `${heading(file.path, offset, end, text.length)}\n${dataText(part)}` };
      }),
  };
}

function heading(path: string, from: number, to: number, length: number): string {
  if (from >= length && length > 0) return `${path} has only ${length} characters.`;
  if (from === 0 && to === length) return `${path}:`;
  const rest = to < length ? `; it goes on at offset ${to}` : '; this is the end';
  return `${path}, characters ${from} to ${to} of ${length}${rest}:`;
}

/** As much as fits once its tags are escaped, up to a line's end where there is one in the second half. */
function partFrom(text: string, offset: number): string {
  const rest = text.slice(offset);
  let part = clip(rest, partMaxChars);
  for (
    let excess = dataText(part).length - partMaxChars;
    excess > 0;
    excess = dataText(part).length - partMaxChars
  ) {
    part = clip(part, part.length - excess);
  }
  const lastBreak = part.lastIndexOf('\n');
  return part.length < rest.length && lastBreak > part.length / 2 ? part.slice(0, lastBreak + 1) : part;
}
