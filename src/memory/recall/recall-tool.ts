import { z } from 'zod';

import type { Tool } from '../../core/tool.ts';
import { renderPassages } from './recall-output.ts';
import { sourceNames } from './recall-unit.ts';
import type { Recall } from './recall.ts';

const mostResults = 20;
const queryChars = 1000;

export interface RecallToolOptions {
  readonly recall: Recall;
  /** Results where the model does not say how many. */
  readonly defaultLimit: number;
}

/** `recall_memory` [C1]: the speaker's own memory, as far as it may be used where they speak. `StoreError` rejects. */
export function createRecallTool({ recall, defaultLimit }: RecallToolOptions): Tool {
  const scopes = ['all', ...sourceNames] as const;
  const inputSchema = z.object({
    query: z.string().trim().min(1).max(queryChars),
    scope: z.enum(scopes).default('all'),
    limit: z.number().int().min(1).default(defaultLimit),
  });
  return {
    definition: {
      name: 'recall_memory',
      description:
        'Search what the person said and noted before: earlier conversations, notes, notebook and remembered items. The query is literal words, in ' +
        'any language; names, dates and rare words find most. Use it before saying that you do not know something about the person.',
      inputSchema: {
        type: 'object',
        properties: {
          query: { type: 'string', description: 'What to look for, in the words that were probably used.' },
          scope: { type: 'string', enum: [...scopes], description: 'Where to look; everywhere by default.' },
          limit: {
            type: 'integer',
            minimum: 1,
            maximum: mostResults,
            description: `Results at most; ${defaultLimit} by default.`,
          },
        },
        required: ['query'],
        additionalProperties: false,
      },
    },
    async run(input, { speaker, place, messages, now }) {
      const parsed = inputSchema.safeParse(input);
      if (!parsed.success) return { ok: false, text: `Nothing searched: ${z.prettifyError(parsed.error)}` };
      const { query, scope, limit } = parsed.data;
      const passages = await recall.search({
        query,
        scope,
        limit: Math.min(limit, mostResults),
        speaker,
        place,
        now,
        excluded: messages.map(({ id }) => id),
      });
      return { ok: true, text: renderPassages(query, passages) };
    },
  };
}
