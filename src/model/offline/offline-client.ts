import { ModelError } from '../../core/errors.ts';
import {
  estimateTokens,
  noUsage,
  type ModelClient,
  type ModelPurpose,
  type ModelRequest,
} from '../../core/model.ts';
import { clipAtWord } from '../../core/text.ts';
import { memoryWishIn } from './phrases.ts';
import { offlineLabel, readRequest, requestText } from './read-request.ts';
import { chatReply, listTalk, type Knowledge, type Reply } from './reply.ts';

/** Stands in where no model is configured: answers by fixed rules, from the request alone, without network [M2]. */
export function createOfflineClient(knowledge: Knowledge): ModelClient {
  return {
    isOffline: true,
    async complete(request, { signal, onText } = {}) {
      const reply = rules[request.purpose](request, knowledge);
      const [text, calls] = typeof reply === 'string' ? [reply, []] : ['', reply];
      if (signal?.aborted === true) throw new ModelError('The call was given up', 'aborted');
      if (text !== '') onText?.(text);
      const usage = {
        ...noUsage,
        inputTokens: estimateTokens(requestText(request)),
        outputTokens: estimateTokens(text === '' ? JSON.stringify(calls) : text),
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
  // What people say about themselves is kept at once, by the tool.
  extraction: () => JSON.stringify({ items: [] }),
  'catch-up': (request) => `${offlineLabel}\n${listTalk(requestText(request))}`,
  // No rule can tell what is worth a note.
  reflection: () => 'Nothing new.',
  // Keeps the profile [N7].
  trim: () => JSON.stringify({ userMd: '', topics: [] }),
};

const lineMaxChars = 200;

/** The newest lines, without the stand-in's own replies and wishes about memory: items hold those [R2]. */
function summarize(request: ModelRequest, { shareOf }: Knowledge): string {
  const { sections, turns } = readRequest(request);
  const statements = turns
    .filter(({ text }) => !text.startsWith(offlineLabel) && memoryWishIn(text) === undefined)
    .filter(({ text }) => shareOf(text)(text) > 0)
    .map(({ day, name, text }) => `${name} (${day}): ${clipAtWord(text, lineMaxChars)}`);
  const lines = [...new Set([...(sections.get('previous_summary') ?? []), ...statements])];
  const [, limit = '2000'] = /Keep the summary under (\d+) characters/u.exec(requestText(request)) ?? [];
  let characters = 0;
  let words = 0;
  const kept = lines.toReversed().filter((line) => {
    characters += line.length + 1;
    words += line.split(/\s+/u).length;
    return line.trim() !== '' && characters <= Number(limit) && words < 600;
  });
  return JSON.stringify({ summary: kept.toReversed().join('\n') || 'Small talk.' });
}
