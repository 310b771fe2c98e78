import { z } from 'zod';

import type { Tool } from '../../core/tool.ts';
import { applyPatches } from './apply-patches.ts';
import { formPatched } from './file-form.ts';
import type { NotebookFiles } from './notebook-files.ts';
import { pathProperty, withInput } from './tool-input.ts';

const inputSchema = z.object({
  path: z.string(),
  patches: z
    .array(z.object({ oldText: z.string(), newText: z.string() }))
    .min(1)
    .max(50),
});

const definition = {
  name: 'memory_patch',
  description:
    'Change places of a file and leave the rest as it is. Each oldText must stand exactly once in the file, letter for letter; all patches are applied, or none.',
  inputSchema: {
    type: 'object',
    properties: {
      path: pathProperty,
      patches: {
        type: 'array',
        minItems: 1,
        items: {
          type: 'object',
          properties: {
            oldText: { type: 'string', description: 'Literal text that stands once in the file.' },
            newText: { type: 'string', description: 'What stands there afterwards; empty to remove.' },
          },
          required: ['oldText', 'newText'],
          additionalProperties: false,
        },
      },
    },
    required: ['path', 'patches'],
    additionalProperties: false,
  },
} as const;

/** The model's way to change a part of a file [M4]. */
export function createMemoryPatchTool({ files }: { readonly files: NotebookFiles }): Tool {
  return {
    definition,
    run: (input, context) =>
      withInput(inputSchema, input, async ({ path, patches }) => {
        const written = await files.change(path, context, (present, file) => {
          if (present === undefined) {
            return { outcome: 'refused', reason: `There is no file ${file.path} yet. Nothing was written.` };
          }
          const patched = applyPatches(present.text, patches);
          return patched.outcome === 'refused'
            ? { outcome: 'refused', reason: `Nothing was written to ${file.path}: ${patched.reason}.` }
            : formPatched(file, patched.text);
        });
        if (written.outcome === 'refused') return { ok: false, text: written.reason };
        const { file, bytes } = written;
        return {
          ok: true,
          text: `Patched ${file.path}; it has ${bytes} bytes now. appliedCount: ${patches.length}`,
        };
      }),
  };
}
