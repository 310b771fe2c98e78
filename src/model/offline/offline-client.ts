import { estimateTokenCount } from 'tokenx';

import { ModelError } from '../../core/errors.ts';
import { noUsage, type ModelClient, type ModelPurpose, type ModelRequest } from '../../core/model.ts';
import { condense, extractItems, reflect, summarize, trimProfile } from './background.ts';
import { catchUp } from './catch-up.ts';
import { offlineLabel } from './matching.ts';
import { readRequest, requestText } from './read-request.ts';
import { chatReply, type Knowledge, type Reply } from './reply.ts';

/** Pieces that a text is streamed in. */
const pieces = 4;

/**
 * The stand-in for a language model where none is configured: it knows the request and nothing else, answers by rules, the same every
 * time, without network [M2]. Chat replies begin with its label.
 */
export function createOfflineClient(knowledge: Knowledge): ModelClient {
  return {
    isOffline: true,
    async complete(request, { signal, after, onText } = {}) {
      await after;
      const reply = rules[request.purpose](request, knowledge);
      let said = '';
      for (const piece of typeof reply === 'string' ? inPieces(reply) : ['']) {
        if (signal?.aborted === true)
          throw new ModelError('The call was given up', 'aborted', { partialText: said });
        said += piece;
        if (piece !== '') onText?.(piece);
        await Promise.resolve();
      }
      const usage = {
        ...noUsage,
        inputTokens: estimateTokenCount(requestText(request)),
        outputTokens: estimateTokenCount(typeof reply === 'string' ? reply : JSON.stringify(reply)),
      };
      if (typeof reply === 'string') return { content: [{ type: 'text', text: reply }], stop: 'end', usage };
      const id = (index: number): string => `offline-${request.messages.length}-${index}`;
      const content = reply.map((call, index) => ({ type: 'tool_use' as const, id: id(index), ...call }));
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
  condense,
  extraction: extractItems,
  // What people agree on no rule can tell.
  'channel-notes': () => JSON.stringify({ notes: [] }),
  reflection: reflect,
  trim: trimProfile,
  'catch-up': (request) =>
    request.outputSchema === undefined ? `${offlineLabel}\n${catchUp(request)}` : catchUp(request),
};

function inPieces(text: string): readonly string[] {
  const words = text.split(/(?<=\s)(?=\S)/u);
  const size = Math.ceil(words.length / pieces);
  return Array.from({ length: pieces }, (_, at) => words.slice(at * size, (at + 1) * size).join(''));
}
