import { estimateTokenCount } from 'tokenx';

import { ModelError } from '../../core/errors.ts';
import { noUsage, type ModelClient, type ModelPurpose, type ModelRequest } from '../../core/model.ts';
import { catchUp } from './catch-up.ts';
import { offlineLabel, readRequest, requestText } from './read-request.ts';
import { chatReply, type Knowledge, type Reply } from './reply.ts';
import { clipAtSentence, clipAtWord, normalizeText } from '../../core/text.ts';
import { memoryWishIn, statementsIn } from './phrases.ts';

/** Stands in where no model is configured: answers by fixed rules, from the request alone, without network [M2]. */
export function createOfflineClient(knowledge: Knowledge): ModelClient {
  return {
    isOffline: true,
    async complete(request, { signal, after, onText } = {}) {
      await after;
      const reply = rules[request.purpose](request, knowledge);
      const [text, calls] = typeof reply === 'string' ? [reply, []] : ['', reply];
      let said = '';
      // Line by line, as if streamed.
      for (const piece of text.split(/(?<=\n)/u)) {
        if (signal?.aborted === true)
          throw new ModelError('The call was given up', 'aborted', { partialText: said });
        said += piece;
        if (piece !== '') onText?.(piece);
        await Promise.resolve();
      }
      const usage = {
        ...noUsage,
        inputTokens: estimateTokenCount(requestText(request)),
        outputTokens: estimateTokenCount(text === '' ? JSON.stringify(calls) : text),
      };
      if (text !== '') return { content: [{ type: 'text', text }], stop: 'end', usage };
      const content = calls.map((call, index) => ({
        type: 'tool_use' as const,
        id: `offline-${request.messages.length}-${index}`,
        ...call,
      }));
      return { content, stop: 'tool_use', usage };
    },
  };
}

const rules: Readonly<Record<ModelPurpose, (request: ModelRequest, knowledge: Knowledge) => Reply>> = {
  chat(request, knowledge) {
    const reply = chatReply(readRequest(request), knowledge);
    return typeof reply === 'string' ? `${offlineLabel}\n${reply}` : reply;
  },
  summary: summarize,
  condense: summarize,
  extraction: extractItems,
  'catch-up': (request) => `${offlineLabel}\n${catchUp(request)}`,
  // No rule can tell what people agree on.
  'channel-notes': () => JSON.stringify({ notes: [] }),
  reflection: reflect,
  // Keeps the profile [N7].
  trim: () => JSON.stringify({ userMd: '', topics: [] }),
};

const lineMaxChars = 200;
/** A summary has fewer than 600 words [R2]. */
const maxWords = 590;

/** Without the stand-in's own replies and wishes about memory: items hold those. The oldest lines go. */
function summarize(request: ModelRequest, { shareOf }: Knowledge): string {
  const { sections, turns } = readRequest(request);
  const said = turns
    .filter(({ text }) => !text.startsWith(offlineLabel) && memoryWishIn(text) === undefined)
    .filter(({ text }) => shareOf(text)(text) > 0)
    .map(({ day, name, text }) => `${name} (${day}): ${clipAtWord(text, lineMaxChars)}`);
  const lines = [...new Set([...(sections.get('previous_summary') ?? []), ...said])];
  const [, limit = '2000'] = /Keep the summary under (\d+) characters/u.exec(requestText(request)) ?? [];
  const summary = newestThatFit(
    lines.filter((line) => line.trim() !== ''),
    Number(limit) - 1,
  );
  return summary === '' ? 'Only small talk so far.' : summary;
}

/** The last of the lines that together stay within the limits; the newest is cut where it alone is too long. */
function newestThatFit(lines: readonly string[], maxChars: number): string {
  let characters = -1;
  let words = 0;
  const kept = lines.toReversed().filter((line) => {
    characters += line.length + 1;
    words += line.split(/\s+/u).length;
    return characters <= maxChars && words <= maxWords;
  });
  if (kept.length > 0) return kept.toReversed().join('\n');
  const newest = (lines.at(-1) ?? '').split(/(?<=\s)/u).slice(0, maxWords);
  return clipAtSentence(newest.join(''), maxChars);
}

/** What the person says about themselves in the turns, as the JSON that extraction asks for; quotes are literal. */
function extractItems(request: ModelRequest): string {
  const items = readRequest(request).turns.flatMap(({ text, messageId }) =>
    statementsIn(text).map((statement) => ({ ...statement, messageId })),
  );
  return JSON.stringify({ items });
}

/** Adds to facts/user.md what people say of themselves and no facts file has. The first turn tells the name. */
function reflect(request: ModelRequest): Reply {
  const { sections, tools, toolRuns, turns } = readRequest(request);
  if (toolRuns.length > 0) return 'Done.';
  if (!tools.has('memory_append') || !requestText(request).includes('facts/')) return 'Nothing new.';
  const known = normalizeText((sections.get('facts') ?? []).join('\n'));
  const said = turns.flatMap(({ name, text }) =>
    name === turns[0]?.name && memoryWishIn(text) === undefined ? statementsIn(text) : [],
  );
  const lines = new Set(
    said.flatMap(({ quote }) => (known.includes(normalizeText(quote)) ? [] : [`- ${quote}`])),
  );
  if (lines.size === 0) return 'Nothing new.';
  const entry = [...lines].join('\n');
  return [{ name: 'memory_append', input: { path: 'facts/user.md', entry } }];
}
