import { z } from 'zod';

import { textWithSources, type MemorySource } from '../../core/memory-source.ts';
import { dataLine } from '../../core/section.ts';
import { clip } from '../../core/text.ts';
import { checkedTool, refusal, type Tool, type ToolOutcome } from '../../core/tool.ts';
import { answerCounts, newestTime } from '../../core/turn-context.ts';
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
      'language, not meanings: so give several wordings in `queries`, each in different words. Names, dates as they were said and rare words find ' +
      'most. Use it before saying that you do not know something about the person.',
    input: z.object({
      queries: z
        .array(wording)
        .min(1)
        .optional()
        .meta({
          // Of more, the first ones are searched, as the result says.
          maxItems: mostWordings,
          description:
            'Two to five wordings: the question itself, synonyms, the words that the answer probably has, names, dates as they were said; for a ' +
            'question of several parts one for each part.',
        }),
      query: wording.optional().describe('A single wording, instead of `queries`.'),
      scope: z
        .enum(['all', ...sourceNames])
        .default('all')
        .describe('Where to look; everywhere by default.'),
      // Of more, the maximum applies.
      limit: z
        .int()
        .min(1)
        .default(defaultLimit)
        .meta({ maximum: mostResults, description: `Results at most; ${defaultLimit} by default.` }),
    }),
    notDone: 'Nothing searched',
    async run({ query, queries: wordings = [], scope, limit }, { speaker, place, messages, now }) {
      const given = new Set([...(query === undefined ? [] : [query]), ...wordings]);
      if (given.size === 0) return refusal('Nothing searched: give `queries`, or `query`.');
      const queries = [...given].slice(0, mostWordings);
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
): Pick<ToolOutcome, 'text' | 'sources' | 'hasThirdPartyText' | 'thirdPartyTextAt'> {
  const asked = queries.map((query) => `"${clip(dataLine(query), shownQueryChars)}"`).join(' · ');
  const heading = (count: number): string => `Found ${count} result(s) for: ${asked}`;
  const blocks: { readonly text: string; readonly source?: MemorySource }[] = [];
  let used = heading(passages.length).length;
  for (const [index, passage] of passages.entries()) {
    const block = renderPassage(index + 1, passage);
    if (used + block.length + 2 > outputChars) break;
    used += block.length + 2;
    blocks.push({ text: block, source: sourceOf(passage) });
  }
  const shown = textWithSources([{ text: heading(blocks.length) }, ...blocks], '\n\n');
  const told = passages.slice(0, blocks.length);
  if (told.some(({ hasThirdPartyText }) => hasThirdPartyText)) return { ...shown, hasThirdPartyText: true };
  const counting = told.flatMap(({ repeatedAt }) => repeatedAt.filter((at) => answerCounts(at, now)));
  const thirdPartyTextAt = newestTime(counting);
  return thirdPartyTextAt === undefined ? shown : { ...shown, hasThirdPartyText: true, thirdPartyTextAt };
}

function sourceOf({ unit: { reference, at, text } }: Passage): MemorySource {
  switch (reference.kind) {
    case 'line':
      return { kind: 'file', path: reference.path, line: reference.line };
    case 'message': {
      const { guildId, channelId, messageId } = reference;
      const when = at === undefined ? {} : { at };
      return {
        kind: 'message',
        channelId,
        messageId,
        ...when,
        ...(guildId === undefined ? {} : { guildId }),
      };
    }
    case 'item':
      return sourceOfItem({ id: reference.id, text });
  }
}

function renderPassage(number: number, { source, unit, date, content }: Passage): string {
  const { place, citation, link } = cited(unit.reference);
  return [
    `[${number}] Source: ${source}`,
    place,
    ...(date === '' ? [] : [`Date: ${date}`]),
    `Content: ${content}`,
    `Citation: ${citation}`,
    ...(link === undefined ? [] : [`Link: ${link}`]),
  ].join('\n');
}

function cited(reference: Reference): {
  readonly place: string;
  readonly citation: string;
  readonly link?: string;
} {
  switch (reference.kind) {
    case 'line': {
      const path = dataLine(reference.path);
      return { place: `File: ${path}:${reference.line}`, citation: `${path}#L${reference.line}` };
    }
    case 'message': {
      const { guildId = '@me', channelId, messageId, line } = reference;
      return {
        place: `Line: ${line}`,
        citation: `messages.jsonl#L${line}`,
        link: `https://discord.com/channels/${guildId}/${channelId}/${messageId}`,
      };
    }
    case 'item':
      return { place: `Item: ${reference.id}`, citation: `durable.json#${reference.id}` };
  }
}
