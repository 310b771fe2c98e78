import { estimateTokenCount } from 'tokenx';

import { ModelError } from '../../core/errors.ts';
import { noUsage, type ModelClient, type ModelPurpose, type ModelRequest } from '../../core/model.ts';
import { extractItems, reflect, summarize } from './background.ts';
import { catchUp } from './catch-up.ts';
import { offlineLabel } from './matching.ts';
import { readRequest, requestText } from './read-request.ts';
import { chatReply, type Knowledge, type Reply } from './reply.ts';

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
