import { z } from 'zod';

import { textWithSources, type MemorySource } from '../../core/memory-source.ts';
import { dataLine } from '../../core/section.ts';
import { clip } from '../../core/text.ts';
import { checkedTool, type Tool, type ToolOutcome } from '../../core/tool.ts';
import { sourceOfItem } from '../durable/document.ts';
import type { Passage } from './passages.ts';
import type { Recall } from './recall.ts';
import type { Reference } from './segments.ts';
import { sourceNames } from './sources.ts';

const mostResults = 20;
const queryChars = 1000;

/**
 * `recall_memory` [C1]: the speaker's own memory, as far as it may be used where they speak; `defaultLimit` results where the model does not
 * say how many. `StoreError` rejects.
 */
export function createRecallTool(recall: Pick<Recall, 'search'>, defaultLimit: number): Tool {
  return checkedTool({
    name: 'recall_memory',
    description:
      'Search what the person said and noted before: earlier conversations, notes, notebook and remembered items. The query is literal words, in ' +
      'any language; names, dates and rare words find most. Use it before saying that you do not know something about the person.',
    input: z.object({
      query: z
        .string()
        .trim()
        .min(1)
        .max(queryChars)
        .describe('What to look for, in the words that were probably used.'),
      scope: z
        .enum(['all', ...sourceNames])
        .default('all')
        .describe('Where to look; everywhere by default.'),
      // More is asked for at times; then the most there can be is given.
      limit: z
        .int()
        .min(1)
        .default(defaultLimit)
        .meta({ maximum: mostResults, description: `Results at most; ${defaultLimit} by default.` }),
    }),
    notDone: 'Nothing searched',
    async run({ query, scope, limit }, { speaker, place, messages, now }) {
      const passages = await recall.search({
        query,
        scope,
        limit: Math.min(limit, mostResults),
        speaker,
        place,
        now,
        excluded: messages.map(({ id }) => id),
      });
      return { ok: true, ...renderPassages(query, passages) };
    },
  });
}

/** A tool's result is passed on up to 8,000 characters [P4]; a passage that would go over it is left out whole. */
const outputChars = 7900;
const shownQueryChars = 200;

/** What was found, as the model reads it [C3]. */
function renderPassages(
  query: string,
  passages: readonly Passage[],
): Pick<ToolOutcome, 'text' | 'sources' | 'hasThirdPartyText'> {
  const heading = (count: number): string =>
    `Found ${count} result(s) for: "${clip(dataLine(query), shownQueryChars)}"`;
  const blocks: { readonly text: string; readonly source?: MemorySource }[] = [];
  let used = heading(passages.length).length;
  for (const [index, passage] of passages.entries()) {
    const block = renderPassage(index + 1, passage);
    if (used + block.length + 2 > outputChars) break;
    used += block.length + 2;
    blocks.push({ text: block, source: sourceOf(passage) });
  }
  const shown = textWithSources([{ text: heading(blocks.length) }, ...blocks], '\n\n');
  const repeatsOthers = passages.slice(0, blocks.length).some(({ hasThirdPartyText }) => hasThirdPartyText);
  return repeatsOthers ? { ...shown, hasThirdPartyText: true } : shown;
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

function renderPassage(number: number, { source, unit, content }: Passage): string {
  const { place, citation, link } = cited(unit.reference);
  return [
    `[${number}] Source: ${source}`,
    place,
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
