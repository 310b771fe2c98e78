import { z } from 'zod';

import { textWithSources, type MemorySource } from '../../core/memory-source.ts';
import { dataLine } from '../../core/section.ts';
import { clip } from '../../core/text.ts';
import { checkedTool, refusal, type Tool, type ToolOutcome } from '../../core/tool.ts';
import { markCounts, newestMark } from '../../core/turn-context.ts';
import { discordLink } from '../../core/snowflake.ts';
import { sourceOfItem } from '../durable/document.ts';
import type { Passage } from './passages.ts';
import type { Recall } from './recall.ts';
import type { Reference } from './segments.ts';
import { sourceNames } from './sources.ts';

const mostResults = 20;
const mostWordings = 5;
const queryChars = 1000;

const wording = z.string().trim().min(1).max(queryChars);

/**
 * `recall_memory` [C1]: the speaker's own memory, as far as usable here; `defaultLimit` applies where the
 * model gives none. `StoreError` rejects.
 */
export function createRecallTool(recall: Pick<Recall, 'search'>, defaultLimit: number): Tool {
  return checkedTool({
    name: 'recall_memory',
    description:
      'Search what the person said and noted before: earlier conversations, notes, notebook and remembered items. It finds words, in any ' +
      'language, not meanings. Names, dates as they were said and rare words find most.',
    input: z.object({
      queries: z
        .array(wording)
        .min(1)
        .optional()
        .meta({
          // Of more, the first ones are searched, as the result says.
          maxItems: mostWordings,
          description:
            'Two to five wordings, each in different words: the question itself, synonyms, the words that the answer probably has, ' +
            'in each language that the person writes; for a question of several parts one for each part.',
        }),
      query: wording.optional().describe('One wording, instead of `queries`.'),
      scope: z
        .enum(['all', ...sourceNames])
        .default('all')
        .describe('Default: all.'),
      // Of more, the maximum applies.
      limit: z
        .int()
        .min(1)
        .default(defaultLimit)
        .meta({ maximum: mostResults, description: `Default: ${defaultLimit}.` }),
    }),
    notDone: 'Nothing searched',
    async run({ query, queries: wordings = [], scope, limit }, { speaker, place, messages, now }) {
      const allQueries = new Set([...(query === undefined ? [] : [query]), ...wordings]);
      if (allQueries.size === 0) return refusal('Nothing searched: give `queries`, or `query`.');
      const queries = [...allQueries].slice(0, mostWordings);
      const passages = await recall.search({
        queries,
        scope,
        limit: Math.min(limit, mostResults),
        speaker,
        place,
        now,
        excluded: messages.map(({ id }) => id),
      });
      return { ok: true, ...renderPassages(queries, passages, now) };
    },
  });
}

/** A result is passed on up to 8,000 characters [P4]; a passage beyond is left out whole. */
const outputChars = 7900;
const shownQueryChars = 200;

/** What was found, as the model reads it [C3]. */
function renderPassages(
  queries: readonly string[],
  passages: readonly Passage[],
  now: Date,
): Pick<ToolOutcome, 'text' | 'sources' | 'thirdPartyMark'> {
  const quotedQueries = queries.map((query) => `"${clip(dataLine(query), shownQueryChars)}"`).join(' · ');
  const heading = (count: number): string => `Found ${count} result(s) for: ${quotedQueries}`;
  const blocks: { readonly text: string; readonly source?: MemorySource }[] = [];
  let used = heading(passages.length).length;
  for (const [index, passage] of passages.entries()) {
    const block = renderPassage(index + 1, passage);
    if (used + block.length + 2 > outputChars) break;
    used += block.length + 2;
    blocks.push({ text: block, source: sourceOf(passage) });
  }
  const shown = textWithSources([{ text: heading(blocks.length) }, ...blocks], '\n\n');
  const marks = passages.slice(0, blocks.length).flatMap((passage) => passage.marks);
  return { ...shown, thirdPartyMark: newestMark(marks.filter((mark) => markCounts(mark, now))) };
}

function sourceOf({ unit: { reference, at, text } }: Passage): MemorySource {
  switch (reference.kind) {
    case 'line':
      return { kind: 'file', path: reference.path, line: reference.line };
    case 'message':
      return { ...reference, at };
    case 'item':
      return sourceOfItem({ id: reference.id, text });
  }
}

/** A head line, such as `[1] detail/auth-design.md:10 2026-03-01 (earlier)`, and what was found [C3]. */
function renderPassage(number: number, { unit: { reference }, date, content }: Passage): string {
  const head = [`[${number}]`, placeOf(reference), date].filter((part) => part !== '');
  return `${head.join(' ')}\nContent: ${content}`;
}

function placeOf(reference: Reference): string {
  switch (reference.kind) {
    case 'line':
      return `${dataLine(reference.path)}:${reference.line}`;
    case 'message':
      return `message ${discordLink(reference)}`;
    case 'item':
      return `item ${reference.id}`;
  }
}
